import { applyJsonPatch } from '../../object/json-patch.js';
import type { JsonPatchOperation } from '../../object/json-patch.js';
import { isJsonObject } from '../../object/json.js';
import { asError } from '../../system/as-error.js';
import { definitionName } from '../../apiserver/kinds/definition-name.js';
import { definition, rawDefinition } from '../../apiserver/kinds/definitions.js';
import type { Schema } from '../../object/schema.js';
import type { Json } from './json-values.js';
import { kustomizationError } from './kustomization-error.js';
import { Resource } from './resource.js';
import type { ResourceSet } from './resource-set.js';
import { idText, isSameId } from './resource-id.js';
import type { ResourceId } from './resource-id.js';
import { compileSelector } from './selector.js';
import type { ResourceSelector } from './selector.js';
import { strategicMerge } from './strategic-merge.js';
import { parseDocuments, parseObjects } from './yaml-documents.js';

/** A parsed patch of a kustomization. */
export interface Patch {
  /** The text and its file. */
  readonly text: string;
  readonly file: string;
  /** Undefined: the patch itself names its objects. */
  readonly target: Json | undefined;
  readonly allowNameChange: boolean;
  readonly allowKindChange: boolean;
}

/**
 * Applies a patch, either a strategic merge or a JSON patch, to its objects.
 * @throws OperatorError `InvalidConfig`: invalid patch, a patch that does not fit, or no object matches
 */
export function applyPatch(set: ResourceSet, patch: Patch): void {
  const { text, file, target } = patch;
  const documents = text.startsWith('[') ? [parsedJson(text, file)] : parseDocuments(text, file);
  const [operations] = documents;
  if (Array.isArray(operations)) {
    applyOperations(set, operations as readonly JsonPatchOperation[], patch);
    return;
  }
  const bodies = target === undefined ? parseObjects(text, file) : documents;
  if (target === undefined) {
    for (const body of bodies as readonly Json[]) {
      merge(set, theOne(set, new Resource(structuredClone(body)).id, file), { body, patch });
    }
    return;
  }
  const [body, ...others] = bodies;
  if (others.length > 0 || !isJsonObject(body)) {
    throw kustomizationError(file, 'a patch with a target wants one object, or one JSON patch');
  }
  const selector = selectorOf(patch, target);
  for (const resource of set.all.filter((one) => selector.matches(one))) {
    merge(set, resource, { body: body, patch });
  }
}

/** A text that begins like a JSON list must be valid JSON. */
function parsedJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (thrown) {
    throw kustomizationError(file, `a JSON patch is no JSON: ${asError(thrown).message}`, thrown);
  }
}

function selectorOf({ file }: Patch, target: Json): ResourceSelector {
  try {
    return compileSelector(target);
  } catch (thrown) {
    throw kustomizationError(file, `the target of a patch: ${asError(thrown).message}`, thrown);
  }
}

function theOne(set: ResourceSet, id: ResourceId, file: string): Resource {
  const found = set.all.filter((one) => one.ids.some((each) => isSameId(each, id)));
  const [first] = found;
  if (found.length === 1 && first !== undefined) return first;
  const problem = found.length === 0 ? 'there is none' : 'there are several';
  throw kustomizationError(file, `a patch is for ${idText(id)}: ${problem}`);
}

interface Merging {
  readonly body: Json;
  readonly patch: Patch;
}

function merge(set: ResourceSet, resource: Resource, { body, patch }: Merging): void {
  const { file, allowNameChange, allowKindChange } = patch;
  const { object, id } = resource;
  if (allowNameChange || allowKindChange) resource.remember();
  const merged = mergedBody(object, body, { schema: schemaOf(id), file });
  if (merged === undefined) {
    set.remove(resource);
    return;
  }
  replaceMembers(object, merged);
  object['apiVersion'] = id.group === '' ? id.version : `${id.group}/${id.version}`;
  if (!allowKindChange) object['kind'] = id.kind;
  if (!allowNameChange) resource.name = id.name;
  if (id.namespace === '') Reflect.deleteProperty(resource.metadata, 'namespace');
  else resource.metadata['namespace'] = id.namespace;
}

function mergedBody(
  object: Json,
  body: Json,
  { schema, file }: { readonly schema: Schema | undefined; readonly file: string },
): Json | undefined {
  try {
    return strategicMerge(object, structuredClone(body), schema) as Json | undefined;
  } catch (thrown) {
    throw kustomizationError(file, asError(thrown).message, thrown);
  }
}

function applyOperations(
  set: ResourceSet,
  operations: readonly JsonPatchOperation[],
  patch: Patch,
): void {
  const { file, target } = patch;
  if (target === undefined) throw kustomizationError(file, 'a JSON patch wants a target');
  const selector = selectorOf(patch, target);
  for (const resource of set.all.filter((one) => selector.matches(one))) {
    const { object, id } = resource;
    resource.remember();
    try {
      const patched = applyJsonPatch(object, structuredClone(operations), {
        dialect: 'kubernetes',
      });
      replaceMembers(object, patched as Json);
    } catch (thrown) {
      const problem = `a JSON patch does not fit ${idText(id)}: ${asError(thrown).message}`;
      throw kustomizationError(file, problem, thrown);
    }
  }
}

/** Replaces the members in place, since other code holds the object. */
function replaceMembers(object: Json, by: Json): void {
  const members = Object.entries(structuredClone(by));
  for (const name of Object.keys(object)) Reflect.deleteProperty(object, name);
  for (const [name, value] of members) object[name] = value;
}

/** Custom resources have no known schema: their lists are replaced. */
function schemaOf({ group, version, kind }: ResourceId): Schema | undefined {
  const name = definitionName(group, version, kind);
  return rawDefinition(name) === undefined ? undefined : definition(name);
}
