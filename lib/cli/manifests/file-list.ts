import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { isJsonObject } from '../../object/json.js';
import { checkYamlDepth } from '../../object/yaml-depth.js';
import { OperatorError } from '../../system/operator-error.js';
import { fileError } from '../file-error.js';
import { insert, missingMarkers } from '../scaffold/insertions.js';
import type { Insertion } from '../scaffold/insertions.js';
import { textIfExists } from '../scaffold/plan-files.js';
import type { WantedFile } from '../scaffold/plan-files.js';
import { isGenerated } from './generated-file.js';

/** The list of files in a kustomization. */
export interface FileList {
  /** Of the kustomization, below the project's folder. */
  readonly path: string;
  readonly field: 'resources' | 'patches';
  /** The line above which files are added. */
  readonly marker: string;
}

/** What is to be in a {@link FileList}, and what is not; by paths from the kustomization. */
export interface ListedFiles {
  readonly names: readonly string[];
  readonly gone: readonly string[];
}

/**
 * The kustomization with the files in its list, where there is one: others may list them elsewhere.
 * @param folder - the project's
 * @throws OperatorError `InvalidConfig`: it has lost the marker.
 */
export async function listedFiles(
  folder: string,
  { path, field, marker }: FileList,
  { names, gone }: ListedFiles,
): Promise<readonly WantedFile[]> {
  const before = await textIfExists(join(folder, path));
  if (before === undefined) return [];
  const listed = listedIn(before, field);
  const text = before
    .split('\n')
    .filter((line) => !gone.some((name) => isEntry(line, name)))
    .join('\n');
  const key = field === 'patches' ? 'path: ' : '';
  const insertions = names
    .filter((name) => !listed.includes(name))
    .map((name): Insertion => ({ marker, lines: [`  - ${key}${name}`], indentation: '  ' }));
  const inserted = insert(text, insertions);
  if (inserted.type === 'inserted') return [{ type: 'edited', path, text: inserted.text }];
  const remedy = 'add this where it belongs, or the marker alone, and run the command again';
  const diff = missingMarkers(path, inserted.missing);
  throw new OperatorError('InvalidConfig', `${path} has lost a marker: ${remedy}\n${diff}`);
}

function listedIn(text: string, field: FileList['field']): readonly string[] {
  const content: unknown = parseDocument(checkYamlDepth(text, 'kustomization.yaml')).toJS();
  const entries = isJsonObject(content) ? content[field] : undefined;
  if (!Array.isArray(entries)) return [];
  return entries.map((entry: unknown) => {
    const name = isJsonObject(entry) ? entry['path'] : entry;
    return String(name).replace(/^\.\//, '');
  });
}

/** `  - bases/a.yaml` or `  - path: a.yaml`, in whatever quotes. */
function isEntry(line: string, name: string): boolean {
  const [, entry] = /^\s*- +(?:path: +)?["']?(?:\.\/)?(.+?)["']?\s*$/.exec(line) ?? [];
  return entry === name;
}

/** Files of a folder that nobody wants. */
export interface OtherFiles {
  /** The names of those that were generated. */
  readonly gone: readonly string[];
  /** Those of somebody else. */
  readonly left: readonly string[];
}

/** The files of a folder whose names are as `pattern`, but for those in `wanted`. */
export async function otherFiles(
  folder: string,
  pattern: RegExp,
  wanted: readonly string[],
): Promise<OtherFiles> {
  const found = await namesIn(folder);
  const names = found.filter((name) => pattern.test(name) && !wanted.includes(name)).toSorted();
  const texts = await Promise.all(names.map((name) => textIfExists(join(folder, name))));
  const generated = names.filter((_, index) => isGenerated(texts[index] ?? ''));
  return { gone: generated, left: names.filter((name) => !generated.includes(name)) };
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw fileError(folder, 'read', error);
  }
}
