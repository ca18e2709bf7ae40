import { join } from 'node:path';
import { isJsonObject } from '../../object/json.js';
import type { Json } from './json-values.js';
import { exists } from '../project/find-project.js';
import { readText } from '../read-text.js';
import { kustomizationError, unsupportedField } from './kustomization-error.js';
import { parseDocuments } from './yaml-documents.js';

/** A parsed `kustomization.yaml`. */
export interface KustomizationFile {
  readonly path: string;
  /** Its folder, absolute and without symbolic links. */
  readonly folder: string;
  /** Whether it is a Component, which changes the objects of the kustomization that uses it. */
  readonly isComponent: boolean;
  readonly content: Json;
}

const fileNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];

/** The types of the supported fields. */
const fieldTypes: Readonly<Record<string, 'text' | 'list' | 'texts' | 'object'>> = {
  apiVersion: 'text',
  kind: 'text',
  metadata: 'object',
  resources: 'texts',
  components: 'texts',
  configurations: 'texts',
  namespace: 'text',
  namePrefix: 'text',
  nameSuffix: 'text',
  commonLabels: 'object',
  commonAnnotations: 'object',
  labels: 'list',
  patches: 'list',
  images: 'list',
  replicas: 'list',
  replacements: 'list',
  configMapGenerator: 'list',
  secretGenerator: 'list',
  generatorOptions: 'object',
  sortOptions: 'object',
};

/** The supported fields of list entries. */
const entryFields: Readonly<Record<string, readonly string[]>> = {
  labels: ['pairs', 'includeSelectors', 'includeTemplates', 'fields'],
  patches: ['path', 'patch', 'target', 'options'],
  images: ['name', 'newName', 'newTag', 'tagSuffix', 'digest'],
  replicas: ['name', 'count'],
  replacements: ['source', 'sourceValue', 'targets'],
  configMapGenerator: generatorFields(),
  secretGenerator: [...generatorFields(), 'type'],
};

function generatorFields(): readonly string[] {
  return ['name', 'namespace', 'behavior', 'literals', 'files', 'envs', 'env', 'options'];
}

/**
 * Reads the kustomization of a folder.
 * @param folder - absolute, without symbolic links
 * @throws OperatorError `InvalidConfig`: it is missing, or a field is unsupported or invalid
 */
export async function readKustomization(folder: string): Promise<KustomizationFile> {
  const path = await kustomizationPath(folder);
  const documents = parseDocuments(await readText(path), path);
  const [content = {}] = documents;
  if (documents.length > 1 || !isJsonObject(content)) {
    throw kustomizationError(path, 'want one kustomization');
  }
  const said = Object.entries(content).filter(([, value]) => value !== null);
  const { kind = 'Kustomization' } = content;
  if (kind !== 'Kustomization' && kind !== 'Component') {
    throw kustomizationError(path, `kind: want Kustomization or Component, got ${String(kind)}`);
  }
  for (const [field, value] of said) checkField(folder, path, [field, value]);
  const types = ['apiVersion', 'kind', 'metadata'];
  if (!said.some(([field]) => !types.includes(field))) {
    throw kustomizationError(path, 'the kustomization is empty');
  }
  const isComponent = kind === 'Component';
  return { path, folder, isComponent, content: Object.fromEntries(said) };
}

async function kustomizationPath(folder: string): Promise<string> {
  const found: string[] = [];
  for (const name of fileNames) {
    if (await exists(join(folder, name))) found.push(join(folder, name));
  }
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const problem = first === undefined ? 'there is no kustomization.yaml' : 'there are several of:';
  throw kustomizationError(
    folder,
    first === undefined ? problem : `${problem} ${fileNames.join()}`,
  );
}

function checkField(
  folder: string,
  path: string,
  [field, value]: readonly [string, unknown],
): void {
  const type = fieldTypes[field];
  if (type === undefined) throw unsupportedField(folder, path, field);
  const wrong = (want: string) => kustomizationError(path, `${field}: want ${want}`);
  if (type === 'text' && typeof value !== 'string') throw wrong('a text');
  if (type === 'object' && !isJsonObject(value)) throw wrong('an object');
  if (type === 'text' || type === 'object') return;
  if (!Array.isArray(value)) throw wrong('a list');
  for (const entry of value as readonly unknown[]) {
    if (type === 'texts') {
      if (typeof entry !== 'string') throw wrong('a list of texts');
      continue;
    }
    if (!isJsonObject(entry)) throw wrong('a list of objects');
    const unknown = Object.keys(entry).find((name) => !entryFields[field]?.includes(name));
    if (unknown !== undefined) throw unsupportedField(folder, path, `${field}: ${unknown}`);
  }
}
