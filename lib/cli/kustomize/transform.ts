import { isJsonObject } from '../../object/json.js';
import { applyImage } from './images.js';
import type { ImageChange } from './images.js';
import type { Json } from './json-values.js';
import { objectAt, textAt, textsAt } from './json-values.js';
import { visitField } from './field-spec.js';
import type { FieldSpec } from './field-spec.js';
import type { KustomizationFile } from './kustomization-file.js';
import { kustomizationError } from './kustomization-error.js';
import { applyPairs } from './label-fields.js';
import { applyAffixes, applyNamespace } from './names-and-namespaces.js';
import { applyPatch } from './patches.js';
import type { Patch } from './patches.js';
import { applyReplacement } from './replacements.js';
import type { ResourceSet } from './resource-set.js';
import { isOfKind } from './resource-id.js';

/**
 * Transforms objects in kustomize's order: patches, namespace, names, labels, annotations, replicas, images,
 * replacements.
 * @param read - reads a file below the kustomization
 */
export async function transform(
  set: ResourceSet,
  file: KustomizationFile,
  read: (path: string) => Promise<Buffer>,
): Promise<void> {
  const { content, path } = file;
  for (const entry of listOf(content['patches'])) applyPatch(set, await patchOf(entry, file, read));
  const namespace = textAt(content, 'namespace');
  const { specs } = set;
  if (namespace !== '') {
    for (const resource of set.all) applyNamespace(resource, namespace, specs.namespace);
    set.checkIds(path);
  }
  for (const resource of set.all) {
    applyAffixes(resource, textAt(content, 'namePrefix'), textAt(content, 'nameSuffix'));
  }
  applyLabels(set, file);
  const annotations = pairsOf(content, 'commonAnnotations', path);
  for (const resource of set.all) applyPairs(resource, annotations, specs.commonAnnotations);
  for (const entry of listOf(content['replicas'])) applyReplicas(set, entry, path);
  for (const entry of listOf(content['images'])) {
    for (const resource of set.all) applyImage(resource, imageOf(entry), specs.images);
  }
  for (const entry of listOf(content['replacements'])) applyReplacement(set, entry, file);
}

function listOf(value: unknown): readonly Json[] {
  return (value ?? []) as readonly Json[];
}

async function patchOf(
  entry: Json,
  file: KustomizationFile,
  read: (path: string) => Promise<Buffer>,
): Promise<Patch> {
  const [inline, path] = [textAt(entry, 'patch').trim(), textAt(entry, 'path')];
  if ((inline === '') === (path === '')) {
    throw kustomizationError(file.path, 'patches: want either patch or path');
  }
  const text = inline === '' ? (await read(path)).toString('utf8') : inline;
  const options = objectAt(entry, 'options') ?? {};
  return {
    text,
    file: path === '' ? file.path : path,
    target: objectAt(entry, 'target'),
    allowNameChange: options['allowNameChange'] === true,
    allowKindChange: options['allowKindChange'] === true,
  };
}

function applyLabels(set: ResourceSet, { content, path }: KustomizationFile): void {
  const { commonLabels, templateLabels } = set.specs;
  for (const entry of listOf(content['labels'])) {
    const own = (entry['fields'] ?? []) as readonly FieldSpec[];
    const withTemplates = entry['includeTemplates'] === true ? templateLabels : [];
    const usual = [...withTemplates, { path: 'metadata/labels', create: true }];
    const specs = [...own, ...(entry['includeSelectors'] === true ? commonLabels : usual)];
    const pairs = pairsOf(entry, 'pairs', path);
    for (const resource of set.all) applyPairs(resource, pairs, specs);
  }
  const pairs = pairsOf(content, 'commonLabels', path);
  for (const resource of set.all) applyPairs(resource, pairs, commonLabels);
}

/** Returns labels or annotations; rejects numbers, which the API server would refuse. */
function pairsOf(object: Json, field: string, path: string): Readonly<Record<string, string>> {
  const found = object[field];
  if (found === undefined) return {};
  const isTexts =
    isJsonObject(found) && Object.values(found).every((value) => typeof value === 'string');
  if (!isTexts) throw kustomizationError(path, `${field}: want texts (put numbers in quotes)`);
  return textsAt(object, field);
}

function applyReplicas(set: ResourceSet, entry: Json, path: string): void {
  const [name, count] = [textAt(entry, 'name'), entry['count']];
  if (typeof count !== 'number') throw kustomizationError(path, `replicas: ${name}: want a count`);
  const found = set.specs.replicas.flatMap((spec) => {
    const fits = set.all.filter(({ ids }) =>
      ids.some((id) => id.name === name && isOfKind(id, spec)),
    );
    for (const { object } of fits) {
      visitField(object, spec, { made: () => count, visit: ({ set: put }) => put(count) });
    }
    return fits;
  });
  if (found.length === 0) {
    throw kustomizationError(path, `replicas: nothing that has any is called ${name}`);
  }
}

function imageOf(entry: Json): ImageChange {
  const text = (field: string): string => {
    const value = entry[field];
    return typeof value === 'number' ? String(value) : textAt(entry, field);
  };
  const names = ['name', 'newName', 'newTag', 'tagSuffix', 'digest'];
  return Object.fromEntries(names.map((name) => [name, text(name)])) as unknown as ImageChange;
}
