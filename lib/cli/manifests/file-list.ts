import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { isJsonObject } from '../../object/json.js';
import { checkYamlDepth } from '../../object/yaml-documents.js';
import { OperatorError } from '../../system/operator-error.js';
import { fileError } from '../file-error.js';
import { insert, missingMarkers } from '../scaffold/insertions.js';
import type { Insertion } from '../scaffold/insertions.js';
import { textIfExists } from '../scaffold/plan-files.js';
import type { WantedFile } from '../scaffold/plan-files.js';
import { isGenerated } from './generated-file.js';

/** A list of files in a kustomization. */
export interface FileList {
  /** Path of the kustomization in the project's folder. */
  readonly path: string;
  readonly field: 'resources' | 'patches';
  /** The marker line; files are added above it. */
  readonly marker: string;
}

/** The files to add to a {@link FileList} and to remove; paths start at the kustomization. */
export interface ListedFiles {
  readonly names: readonly string[];
  readonly gone: readonly string[];
}

/**
 * Updates the list in a kustomization, if the kustomization exists: users may list the files elsewhere.
 * @param folder - the project's
 * @throws OperatorError `InvalidConfig`: the marker is missing
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

/** Matches `  - bases/a.yaml` or `  - path: a.yaml` with any quotes. */
function isEntry(line: string, name: string): boolean {
  const [, entry] = /^\s*- +(?:path: +)?["']?(?:\.\/)?(.+?)["']?\s*$/.exec(line) ?? [];
  return entry === name;
}

/** Files of a folder that are not wanted. */
export interface OtherFiles {
  /** Names of generated files. */
  readonly gone: readonly string[];
  /** Names of the user's files. */
  readonly left: readonly string[];
}

/** Returns the files of a folder that match `pattern` and are not in `wanted`. */
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
