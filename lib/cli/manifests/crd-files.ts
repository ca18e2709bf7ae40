import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import type { OperatorResource } from '../../manager/index.js';
import { isJsonObject } from '../../object/json.js';
import { OperatorError } from '../../system/operator-error.js';
import { fileError } from '../file-error.js';
import { insert, missingMarkers } from '../scaffold/insertions.js';
import type { Insertion } from '../scaffold/insertions.js';
import { textIfExists } from '../scaffold/plan-files.js';
import type { WantedFile } from '../scaffold/plan-files.js';
import { areSameObjects, generatedText, isGenerated } from './generated-file.js';

const crdFolder = 'config/crd';
const kustomization = `${crdFolder}/kustomization.yaml`;
const marker = '# +operator-builder:scaffold:crds';

/** What is wanted of files, and what is to be said of others. */
export interface WantedManifests {
  readonly wanted: readonly WantedFile[];
  /** What was found, and is left to the user. */
  readonly notes: readonly string[];
}

/**
 * The CustomResourceDefinitions of a project: a file for each resource, listed for kustomize. Files
 * that were generated of resources that are gone, go; others are told of.
 * @param folder - the project's
 * @throws OperatorError `InvalidConfig`: two resources are of one file, or the list can't be changed.
 */
export async function crdFiles(
  folder: string,
  resources: readonly OperatorResource[],
): Promise<WantedManifests> {
  const bases = resources.map((resource) => ({ resource, name: baseOf(resource) }));
  const names = bases.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    const message = `two resources of the operator are of config/crd/${twice}: give it one only`;
    throw new OperatorError('InvalidConfig', message);
  }
  const files = bases.map(({ resource: { crd }, name }) =>
    generatedFile(folder, {
      ...{ path: `${crdFolder}/${name}`, from: 'the schemas in src/api' },
      objects: [crd],
    }),
  );
  const { gone, notes } = await othersIn(folder, names);
  const wanted: WantedFile[] = await Promise.all(files);
  for (const name of gone) wanted.push({ type: 'delete', path: `${crdFolder}/${name}` });
  return { wanted: [...wanted, ...(await listFile(folder, { names, gone }))], notes };
}

/** A file that is generated as a whole. */
export interface GeneratedFile {
  readonly path: string;
  readonly from: string;
  readonly objects: readonly object[];
}

/** What is wanted of it; where it is there and not generated, it is not to be overwritten. */
export async function generatedFile(
  folder: string,
  { path, from, objects }: GeneratedFile,
): Promise<WantedFile> {
  const before = await textIfExists(join(folder, path));
  const text = generatedText(objects, from);
  if (before === undefined) return { type: 'whole', path, text };
  // However somebody's formatter wrote it.
  if (areSameObjects(before, text)) return { type: 'edited', path, text: before };
  return { type: isGenerated(before) ? 'edited' : 'whole', path, text };
}

function baseOf({ group, plural }: OperatorResource): string {
  return `bases/${group}_${plural}.yaml`;
}

/** Definitions that no resource has. */
async function othersIn(
  folder: string,
  names: readonly string[],
): Promise<{ readonly gone: readonly string[]; readonly notes: readonly string[] }> {
  const found = await namesIn(join(folder, crdFolder, 'bases'));
  const others = found
    .filter((name) => /\.ya?ml$/.test(name))
    .map((name) => `bases/${name}`)
    .filter((name) => !names.includes(name));
  const gone: string[] = [];
  const notes: string[] = [];
  for (const name of others.toSorted()) {
    const path = `${crdFolder}/${name}`;
    if (isGenerated((await textIfExists(join(folder, path))) ?? '')) gone.push(name);
    else notes.push(`${path} is of no resource of the operator, and was not generated: it is left`);
  }
  return { gone, notes };
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw fileError(folder, 'read', error);
  }
}

/** The list for kustomize, where there is one: others may list the files elsewhere. */
async function listFile(
  folder: string,
  { names, gone }: { readonly names: readonly string[]; readonly gone: readonly string[] },
): Promise<readonly WantedFile[]> {
  const before = await textIfExists(join(folder, kustomization));
  if (before === undefined) return [];
  const listed = listedIn(before);
  const text = before
    .split('\n')
    .filter((line) => !gone.some((name) => isEntry(line, name)))
    .join('\n');
  const insertions = names
    .filter((name) => !listed.includes(name))
    .map((name): Insertion => ({ marker, lines: [`  - ${name}`], indentation: '  ' }));
  const inserted = insert(text, insertions);
  if (inserted.type === 'inserted') {
    return [{ type: 'edited', path: kustomization, text: inserted.text }];
  }
  const remedy = 'add this where it belongs, or the marker alone, and run the command again';
  const diff = missingMarkers(kustomization, inserted.missing);
  throw new OperatorError(
    'InvalidConfig',
    `${kustomization} has lost a marker: ${remedy}\n${diff}`,
  );
}

function listedIn(text: string): readonly string[] {
  const content: unknown = parseDocument(text).toJS();
  const resources = isJsonObject(content) ? content['resources'] : undefined;
  if (!Array.isArray(resources)) return [];
  return resources.map((entry: unknown) => String(entry).replace(/^\.\//, ''));
}

/** `  - bases/a.yaml`, in whatever quotes. */
function isEntry(line: string, name: string): boolean {
  const [, entry] = /^\s*- +["']?(?:\.\/)?(.+?)["']?\s*$/.exec(line) ?? [];
  return entry === name;
}
