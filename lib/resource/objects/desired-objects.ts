import {
  appliedHashAnnotation,
  completeObject,
  desiredObject,
  isAppliedBy,
  refId,
  validateObject,
  listOfKind,
} from '../../apply/index.js';
import type { ApplyContext, DesiredObject, WantedObject, Pair } from '../../apply/index.js';
import {
  describeObject,
  isJsonObject,
  withoutMember,
  jsonCopy,
  referenceTo,
  fieldPath,
  fieldManagersOf,
  ownerReferenceTo,
} from '../../object/index.js';
import type { KubernetesObject, UnstructuredObject, ResourceType } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { keptMarks } from './kept-objects.js';
import type { KeptTypes } from './kept-objects.js';

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
  // These labels come last, so that no other label replaces them: the resource finds its objects by these labels.
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
  // All objects are deleted with the owner, PersistentVolumeClaims too.
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
    return home === '' ? undefined : refuse('a namespaced owner cannot own cluster-scoped objects');
  }
  if (home !== '' && given !== '' && given !== home) {
    refuse(`objects of a namespaced owner must be in its namespace, ${home}`);
  }
  const place = given === '' ? home : given;
  return place === ''
    ? refuse('set metadata.namespace, because the owner is cluster-scoped')
    : place;
}

/**
 * Returns the labels of `allowed` that `desired` sets too. Another manager may have set them to other values.
 */
export function contestedLabels(
  desired: UnstructuredObject,
  allowed: readonly string[],
): readonly string[] {
  const { labels = {} } = desired.metadata;
  return allowed.filter((label) => Object.hasOwn(labels, label));
}

/**
 * Returns `desired` without the labels of `allowed` that another manager has set on the live object, so that
 * applying leaves them unchanged. The hash still covers the whole object, so that changes of these labels
 * cause no writes.
 */
export function withoutOthersLabels(
  { desired, live }: Pair,
  allowed: readonly string[],
  manager: string,
): DesiredObject {
  const { metadata } = desired.object;
  const kept = contestedLabels(desired.object, allowed).filter((label) =>
    isSetByOthers(live, label, { manager, wanted: metadata.labels?.[label] }),
  );
  if (kept.length === 0) return desired;
  const labels = kept.reduce((left, label) => withoutMember(left, label), metadata.labels ?? {});
  const object = { ...desired.object, metadata: { ...metadata, labels } };
  return { ...desired, object, creation: object };
}

function isSetByOthers(
  live: UnstructuredObject,
  label: string,
  { manager, wanted }: { readonly manager: string; readonly wanted: string | undefined },
): boolean {
  const { labels = {}, managedFields } = live.metadata;
  if (!Object.hasOwn(labels, label)) return false;
  // Without `managedFields`, only a different value shows that another manager has set the label.
  if (managedFields === undefined) return labels[label] !== wanted;
  const owners = fieldManagersOf(live, fieldPath('metadata', 'labels', label));
  return owners.some(({ name, operation }) => name !== manager || operation !== 'Apply');
}

/** The resource whose objects are listed. */
export interface Keeper {
  readonly name: string;
  readonly types: KeptTypes;
}

/**
 * Lists the existing objects that the resource made for its owner, by its labels and the controlling owner. A copy
 * with the same labels does not count. Another controller of the owner may have a resource of the same name: its
 * objects do not count either. Makes no request where the kinds are cached.
 * @throws OperatorError `InvalidOwner`: the owner was not read from a server.
 */
export async function currentObjects(
  { client, settings }: ApplyContext,
  { name, types }: Keeper,
): Promise<readonly KubernetesObject[]> {
  const { owner, signal } = settings;
  const { namespace } = owner.metadata;
  const { uid } = ownerReferenceTo(owner);
  const labelSelector = { matchLabels: keptMarks(owner, name) };
  const served = await types.served(client);
  // A namespaced owner has no cluster-scoped objects.
  const searched = served.filter((type) => type.namespaced || namespace === undefined);
  const lists = await Promise.all(
    searched.map((type) => {
      const within = type.namespaced ? namespace : undefined;
      return listOfKind(client, type, {
        ...{ namespace: within, labelSelector, controllerUid: uid, signal },
      });
    }),
  );
  return lists.flat().filter((object) => isAppliedBy(object, settings));
}
