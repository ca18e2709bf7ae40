import {
  deepEqual,
  sameMembers,
  assignMembers,
  isJsonObject,
  heldBy,
  formatTime,
} from '../../object/index.js';
import type { ManagedFieldsEntry, ObjectMeta, UnstructuredObject } from '../../object/index.js';
import type { PutObject } from '../loopback.js';
import type { ServerCore } from '../server-core.js';
import { isLoose, storageKey } from '../server-core.js';
import { FieldErrors } from '../../crd/internal.js';
import { validateLooseMeta } from '../rules/metadata.js';
import { applyFields } from './managed-fields.js';
import type { WriteRequest } from './write-request.js';

/**
 * Stores an object that only its manager writes. Skips the steps of a write that cannot change such an
 * object; see `Loopback.put`.
 * @returns undefined if nothing was done, because those steps could change or refuse the object
 */
export function putObject(
  core: ServerCore,
  request: WriteRequest,
  object: UnstructuredObject,
  { bytes, dryRun = false }: { readonly bytes: number; readonly dryRun?: boolean | undefined },
): PutObject | undefined {
  const { kind, namespace, name } = request;
  const { collection, custom } = kind;
  const isPlain = isLoose(core, kind) && kind.isStorageVersion && kind.conversions === undefined;
  if (!isPlain || custom?.terminating !== false) return undefined;
  const key = storageKey(namespace, name);
  const live = core.log.collection(collection).get(key);
  const next = live === undefined ? created(core, request, object) : changed(live, object, request);
  if (next === undefined) return undefined;
  if (next === live || dryRun) return { live, stored: next };
  const managedFields = managedFieldsOf(core, request, { live, next: object });
  const metadata = { ...next.metadata, ...(managedFields !== undefined && { managedFields }) };
  const change = { collection, key, object: withMetadata(next, metadata), bytes };
  return { live, stored: core.log.commit(change).object };
}

function created(
  core: ServerCore,
  { manager }: WriteRequest,
  object: UnstructuredObject,
): UnstructuredObject | undefined {
  const errors = new FieldErrors();
  validateLooseMeta(object.metadata, errors);
  if (!errors.empty || manager === '') return undefined;
  const creationTimestamp = formatTime(core.clock.now());
  const own = { uid: core.random.uuid(), creationTimestamp, generation: 1 };
  return withMetadata(object, { ...object.metadata, ...own });
}

/**
 * Returns the object to store in place of `live`, or `live` itself if nothing changes.
 * @returns undefined if other managers wrote to the object
 */
function changed(
  live: UnstructuredObject,
  object: UnstructuredObject,
  { manager }: WriteRequest,
): UnstructuredObject | undefined {
  if (!isOnlyBy(live, manager)) return undefined;
  const { labels: oldLabels, annotations: oldAnnotations, ...rest } = live.metadata;
  const { labels, annotations } = object.metadata;
  // The fields whose changes increase the generation.
  const isSpecSame = sameMembers(live, object, ['metadata', 'status']);
  const isSame =
    isSpecSame &&
    deepEqual(live['status'], object['status']) &&
    deepEqual(oldLabels, labels) &&
    deepEqual(oldAnnotations, annotations);
  if (isSame) return live;
  const { generation = 0 } = rest;
  const metadata = {
    ...rest,
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
    generation: isSpecSame ? generation : generation + 1,
  };
  return withMetadata(object, metadata);
}

function withMetadata(object: UnstructuredObject, metadata: ObjectMeta): UnstructuredObject {
  const { apiVersion, kind } = object;
  return assignMembers({ apiVersion, kind, metadata }, object, ['apiVersion', 'kind', 'metadata']);
}

/** Returns whether `manager` applied all fields, and the object has no finalizers, owners or deletion timestamp. */
function isOnlyBy({ apiVersion, metadata }: UnstructuredObject, manager: string): boolean {
  const { managedFields = [], finalizers, ownerReferences, deletionTimestamp } = metadata;
  const [entry, ...others] = managedFields;
  if (entry === undefined || others.length > 0 || entry.manager !== manager) return false;
  if (entry.operation !== 'Apply' || (entry.subresource ?? '') !== '') return false;
  const isHeld = [finalizers, ownerReferences, deletionTimestamp].some((one) => one !== undefined);
  return entry.apiVersion === apiVersion && !isHeld;
}

function managedFieldsOf(
  core: ServerCore,
  write: WriteRequest,
  {
    live,
    next,
  }: { readonly live: UnstructuredObject | undefined; readonly next: UnstructuredObject },
): ManagedFieldsEntry[] | undefined {
  const [entry] = live?.metadata.managedFields ?? [];
  if (live !== undefined && entry !== undefined && haveSameFields(live, next)) {
    return [{ ...entry, time: formatTime(core.clock.now()) }];
  }
  return applyFields(core, { write, applied: next, force: true }, undefined).metadata.managedFields;
}

/**
 * Returns whether all maps have the same members, so that both objects have the same field set. A
 * list counts as one field.
 */
function haveSameFields(live: UnstructuredObject, next: UnstructuredObject): boolean {
  const { labels, annotations } = next.metadata;
  return (
    haveSameNames(live.metadata.labels, labels) &&
    haveSameNames(live.metadata.annotations, annotations) &&
    haveSameNames(live, next, 'metadata')
  );
}

function haveSameNames(one: unknown, other: unknown, except?: string): boolean {
  if (!isJsonObject(one) || !isJsonObject(other)) return isJsonObject(one) === isJsonObject(other);
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  const [list, otherList] = [heldBy(one)?.name, heldBy(other)?.name];
  return names.every((name) => {
    if (!Object.hasOwn(other, name)) return false;
    const isList = name === list && name === otherList;
    return isList || name === except || haveSameNames(one[name], other[name]);
  });
}
