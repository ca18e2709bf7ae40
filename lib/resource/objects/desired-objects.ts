import {
  appliedHashAnnotation,
  completeObject,
  desiredObject,
  refId,
  validateObject,
} from '../../apply/index.js';
import type { ApplyContext, DesiredObject, WantedObject } from '../../apply/index.js';
import { describeObject } from '../../object/describe-object.js';
import { isJsonObject } from '../../object/json.js';
import { jsonCopy } from '../../object/json-copy.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { referenceTo } from '../../object/object-reference.js';
import type { ResourceType } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';
import type { Keeper } from './current-objects.js';
import { keptMarks } from './kept-marks.js';

/**
 * Completes and checks the desired objects of a resource: owner, labels, and the hash of the whole object.
 * When it throws, nothing has been written yet.
 * @throws OperatorError `InvalidObject`: unknown kind, a namespace where the owner cannot have objects, or a
 * wrong shape; the error names the object.
 * @throws OperatorError `InvalidValue`: an object contains a value without a JSON form, such as NaN or a Map.
 * @throws OperatorError `DuplicateObject`: two entries are the same object.
 */
export async function desiredObjects(
  run: ApplyContext,
  keeper: Keeper,
  wanted: readonly KubernetesObject[],
): Promise<readonly DesiredObject[]> {
  checkList(keeper.name, wanted);
  const copies = wanted.map((object) => jsonCopy(object, describeObject(object)));
  const desired = await Promise.all(copies.map((object) => completed(run, keeper, object)));
  const seen = new Set<string>();
  for (const { ref } of desired) {
    const id = refId(ref);
    if (seen.has(id)) {
      const message = `resource ${keeper.name} desires ${describeObject(ref)} twice: return it once, or give one another name`;
      throw new OperatorError('DuplicateObject', message);
    }
    seen.add(id);
  }
  return desired;
}

/** Converts an object that {@link desiredObjects} completed to the input of `applyObject`. */
export async function asDesired(
  { client }: Pick<ApplyContext, 'client'>,
  { types }: Keeper,
  object: UnstructuredObject,
): Promise<DesiredObject> {
  const wanted = wantedObject(await types.typeOf(client, object), object);
  const hash = object.metadata.annotations?.[appliedHashAnnotation] ?? '';
  return { ...wanted, object, creation: object, hash, replicasExternal: false };
}

function checkList(resource: string, wanted: readonly unknown[]): void {
  const refuse = (what: string): never => {
    const message = `resource ${resource}: getDesiredState returned ${what}; return a list of objects with apiVersion, kind and metadata.name`;
    throw new OperatorError('InvalidObject', message);
  };
  // Callers in plain JavaScript may return anything.
  if (!Array.isArray(wanted)) refuse(`${typeName(wanted)} instead of a list`);
  wanted.forEach((object, index) => {
    if (!isJsonObject(object)) return refuse(`${typeName(object)} as entry ${index}`);
    const { apiVersion, kind, metadata } = object;
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
      return refuse(`an object without apiVersion or kind as entry ${index}`);
    }
    const name = isJsonObject(metadata) ? metadata['name'] : undefined;
    if (typeof name !== 'string' || name === '') refuse(`a ${kind} without a name`);
  });
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value;
}

async function completed(
  { client, settings }: ApplyContext,
  { name, types }: Keeper,
  wanted: KubernetesObject,
): Promise<DesiredObject> {
  const type = await types.typeOf(client, wanted);
  const { owner } = settings;
  const namespace = placeOf(owner, wanted, type);
  // These labels come last: the object would not be found again without them.
  const labels = { ...wanted.metadata.labels, ...keptMarks(owner, name) };
  const marked = { ...wanted, metadata: { ...wanted.metadata, labels } };
  const { apiVersion, kind } = wanted;
  const ref = { apiVersion, kind, name: wanted.metadata.name ?? '' };
  const placed = {
    ...wantedObject(type, marked),
    ref: namespace === undefined ? ref : { ...ref, namespace },
  };
  const object = completeObject(settings, placed);
  validateObject(object);
  return desiredObject({ ...placed, object, replicasExternal: false });
}

function wantedObject(
  type: ResourceType<KubernetesObject>,
  object: KubernetesObject,
): WantedObject {
  // Everything is deleted with the owner, PersistentVolumeClaims included.
  const options = { whenOwnerDeleted: 'delete' } as const;
  return { type, ref: referenceTo(object), object: object as UnstructuredObject, options };
}

/** Returns the namespace for `object`; undefined if it is cluster-scoped. */
function placeOf(
  owner: KubernetesObject,
  object: KubernetesObject,
  { namespaced }: ResourceType<KubernetesObject>,
): string | undefined {
  const { namespace: home = '' } = owner.metadata;
  const { namespace: given = '' } = object.metadata;
  const refuse = (why: string): never => {
    const message = `${describeObject(object)} can't be kept for ${describeObject(owner)}: ${why}`;
    throw new OperatorError('InvalidObject', message);
  };
  if (!namespaced) {
    return home === '' ? undefined : refuse('a namespaced object has none of the cluster');
  }
  if (home !== '' && given !== '' && given !== home) {
    refuse(`objects of a namespaced object are in its own namespace, ${home}`);
  }
  const place = given === '' ? home : given;
  return place === '' ? refuse('set metadata.namespace, its owner is in none') : place;
}
