import {
  assignMembers,
  formatTime,
  deepEqual,
  fieldPath,
  FieldSet,
  quoted,
  withoutMembers,
} from '../../object/index.js';
import type {
  FieldPath,
  FieldsV1,
  ManagedFieldsEntry,
  ObjectMeta,
  UnstructuredObject,
} from '../../object/index.js';
import { OperatorError, isOperatorError } from '../../system/index.js';

/** The operation of a `managedFields` entry. */
export type Operation = 'Apply' | 'Update';

/** The identity of a field manager: name, operation and endpoint, and for an update also the API version. */
export interface Writer {
  readonly manager: string;
  readonly operation: Operation;
  readonly apiVersion: string;
  readonly subresource: string;
}

/** One entry of `managedFields`. */
export interface Owner extends Writer {
  readonly set: FieldSet;
  /** RFC 3339, whole seconds, UTC. */
  readonly time: string | undefined;
  /** The entry as it was read, if nothing has changed since. */
  readonly wire?: ManagedFieldsEntry | undefined;
}

/** The owners of fields, by {@link ownerId}. */
export type Owners = ReadonlyMap<string, Owner>;

/** Returns the identity of a writer. Writers with the same identity share one entry. */
export function ownerId(writer: Writer): string {
  const { manager, operation, subresource } = writer;
  // The text is JSON as on the real server, because it also decides the order of conflicts. Only the values are
  // stringified: an object for each write would cost several times as much.
  const name = manager === '' ? '' : `"manager":${JSON.stringify(manager)},`;
  const version = operation === 'Apply' ? '' : `,"apiVersion":${JSON.stringify(writer.apiVersion)}`;
  const part = subresource === '' ? '' : `,"subresource":${JSON.stringify(subresource)}`;
  return `{${name}"operation":"${operation}"${version}${part}}`;
}

/** Returns a writer as the server writes it in messages. */
export function ownerText(writer: Writer): string {
  const { manager, operation, subresource, apiVersion } = writer;
  const through = subresource === '' ? '' : ` with subresource ${quoted(subresource)}`;
  const using = operation === 'Update' ? ` using ${apiVersion}` : '';
  return `${quoted(manager)}${through}${using}`;
}

/** Reads entries that this server wrote, without checks. */
export function ownersOfStored(entries: readonly ManagedFieldsEntry[] | null | undefined): Owners {
  const owners = new Map<string, Owner>();
  for (const wire of entries ?? []) {
    const owner = ownerOf(wire, FieldSet.ofRoot(wire.fieldsV1 ?? {}));
    owners.set(ownerId(owner), { wire, ...owner });
  }
  return owners;
}

/**
 * Reads entries that a client sent.
 * @throws OperatorError `InvalidObject` or `InvalidValue`, with the server's message: an entry is
 *   invalid.
 */
export function ownersOfRequest(entries: readonly ManagedFieldsEntry[]): Owners {
  const owners = new Map<string, Owner>();
  for (const [index, entry] of entries.entries()) {
    checkEntry(entry, index);
    const owner = ownerOf(entry, FieldSet.fromFieldsV1(asFields(entry.fieldsV1)));
    owners.set(ownerId(owner), owner);
  }
  return owners;
}

/**
 * Checks the `managedFields` that a mutating webhook returned. The caller replaces invalid `managedFields` by
 * the previous ones, with a warning.
 * @returns the problem with the server's message, or `undefined` if they are valid
 */
export function managedFieldsProblem(
  entries: readonly ManagedFieldsEntry[] | null | undefined,
): string | undefined {
  try {
    ownersOfRequest(entries ?? []);
    return undefined;
  } catch (error) {
    if (!isOperatorError(error)) throw error;
    return error.message;
  }
}

function ownerOf(entry: ManagedFieldsEntry, set: FieldSet): Owner {
  const { manager = '', operation = 'Update', apiVersion = '', subresource = '', time } = entry;
  return { manager, operation, apiVersion, subresource, set, time: wholeSeconds(time) };
}

function checkEntry(entry: ManagedFieldsEntry, index: number): void {
  const { operation, apiVersion, fieldsType } = entry;
  if (operation !== 'Apply' && operation !== 'Update') {
    throw invalid('operation must be `Apply` or `Update`');
  }
  if (apiVersion === undefined || apiVersion === '') throw invalid('apiVersion must not be empty');
  // A client may send any value, not only a value of the TypeScript type.
  const type: string = fieldsType ?? '';
  if (type === '') throw invalid(`missing fieldsType in managed fields entry ${index}`);
  if (type !== 'FieldsV1') {
    throw invalid(`invalid fieldsType ${JSON.stringify(type)} in managed fields entry ${index}`);
  }
}

function asFields(fields: unknown): FieldsV1 {
  if (fields === undefined || fields === null) return {};
  if (typeof fields === 'object' && !Array.isArray(fields)) return fields as FieldsV1;
  throw invalid('fieldsV1 must be an object');
}

function invalid(message: string): OperatorError {
  return new OperatorError('InvalidObject', message);
}

function wholeSeconds(time: string | null | undefined): string | undefined {
  if (time === undefined || time === null) return undefined;
  if (time.length === 20 && time.endsWith('Z')) return time;
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? undefined : formatTime(ms);
}

/** Returns the entries as they are sent, in the server's order; `undefined` without owners. */
export function encodeOwners(owners: Owners): ManagedFieldsEntry[] | undefined {
  if (owners.size === 0) return undefined;
  return [...owners.values()].sort(compareOwners).map((owner) => owner.wire ?? encodeOwner(owner));
}

function encodeOwner(owner: Owner): ManagedFieldsEntry {
  const { manager, operation, apiVersion, time, set, subresource } = owner;
  const entry: ManagedFieldsEntry = {};
  if (manager !== '') entry.manager = manager;
  entry.operation = operation;
  entry.apiVersion = apiVersion;
  if (time !== undefined) entry.time = time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = set.toFieldsV1();
  if (subresource !== '') entry.subresource = subresource;
  return entry;
}

function compareOwners(a: Owner, b: Owner): number {
  return (
    compareTexts(a.operation, b.operation) ||
    compareTexts(a.time ?? epoch, b.time ?? epoch) ||
    compareTexts(a.manager, b.manager) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource, b.subresource)
  );
}

const epoch = '1970-01-01T00:00:00Z';

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

const maxUpdaters = 10;

/**
 * Limits the number of Update entries to 10. The oldest entries of each version are merged into one
 * entry, `ancient-changes`.
 */
export function capUpdaters(owners: Owners): Owners {
  const updaters = [...owners].filter(([, owner]) => owner.operation === 'Update');
  let count = updaters.length;
  if (count <= maxUpdaters) return owners;
  const capped = new Map(owners);
  const firstOfVersion = new Map<string, string>();
  for (const [id, owner] of updaters.toSorted(byAge)) {
    if (count <= maxUpdaters) break;
    const { apiVersion } = owner;
    const first = firstOfVersion.get(apiVersion);
    if (first === undefined) {
      firstOfVersion.set(apiVersion, id);
    } else {
      intoBucket(capped, { id, owner, first });
      count--;
    }
  }
  return capped;
}

function byAge([idA, a]: [string, Owner], [idB, b]: [string, Owner]): number {
  return compareTexts(a.time ?? epoch, b.time ?? epoch) || compareTexts(idA, idB);
}

interface Ancient {
  readonly id: string;
  readonly owner: Owner;
  /** The id of the oldest entry with the same `apiVersion`. This entry becomes `ancient-changes`. */
  readonly first: string;
}

function intoBucket(owners: Map<string, Owner>, { id, owner, first }: Ancient): void {
  const { apiVersion } = owner;
  const operation = 'Update' as const;
  const bucket = { manager: 'ancient-changes', operation, apiVersion, subresource: '' };
  const bucketId = ownerId(bucket);
  if (!owners.has(bucketId)) {
    const { set } = owners.get(first) ?? owner;
    owners.delete(first);
    owners.set(bucketId, { ...bucket, set, time: undefined });
  }
  const { set } = owners.get(bucketId) ?? owner;
  owners.delete(id);
  owners.set(bucketId, { ...bucket, set: owner.set.union(set), time: owner.time });
}

// The metadata that clients send and the metadata of a zero value may violate the TypeScript type.
interface Metadata extends Omit<ObjectMeta, 'managedFields'> {
  managedFields?: ManagedFieldsEntry[] | null;
}

/** Returns the metadata of an object. The body of an apply and a zero value may lack it. */
export function metadataOf(object: UnstructuredObject): Metadata {
  return (object as { metadata?: Metadata | null }).metadata ?? {};
}

/** Returns `object` without its `managedFields`, or the object itself if it has none. */
export function withoutManagedFields(object: UnstructuredObject): UnstructuredObject {
  const metadata = metadataOf(object);
  if (metadata.managedFields === undefined) return object;
  return { ...object, metadata: withoutMembers(metadata, 'managedFields') };
}

/** Returns `object` with `managedFields`. `object` must not have any. */
export function withManagedFields(
  object: UnstructuredObject,
  managedFields: ManagedFieldsEntry[] | undefined,
): UnstructuredObject {
  if (managedFields === undefined) return object;
  // A spread with a further member creates a hidden class for each object: later reads would be slow.
  const metadata = assignMembers<Metadata>({}, metadataOf(object), []);
  metadata.managedFields = managedFields;
  const copy = assignMembers<Record<string, unknown>>({}, object, []);
  copy['metadata'] = metadata;
  return copy as unknown as UnstructuredObject;
}

/**
 * Returns `next` with the `managedFields` of `live` if the two objects differ only in the times of their
 * `managedFields`, else `next` itself. A write without changes must not bump the `resourceVersion`. Set the
 * `resourceVersion` of `next` to that of `live` first. Call this function immediately before the write.
 */
export function keepManagedFieldsTimes(
  live: UnstructuredObject,
  next: UnstructuredObject,
): UnstructuredObject {
  const [old, now] = [metadataOf(live).managedFields, metadataOf(next).managedFields];
  if (!old || !now || old === now) return next;
  if (!sameButForTimes(old, now)) return next;
  if (old.every((entry, at) => entry.time === now[at]?.time)) return next;
  const bare = withoutManagedFields(next);
  return deepEqual(withoutManagedFields(live), bare) ? withManagedFields(bare, old) : next;
}

function sameButForTimes(old: readonly ManagedFieldsEntry[], now: readonly ManagedFieldsEntry[]) {
  if (old.length !== now.length) return false;
  return old.every((entry, at) =>
    deepEqual({ ...entry, time: undefined }, { ...now[at], time: undefined }),
  );
}

/**
 * Paths of the number of replicas, by `apiVersion`. An `undefined` path means that the version has
 * no such field. Entries of versions that are not in the map are dropped.
 */
export type ReplicasPaths = ReadonlyMap<string, FieldPath | undefined>;

const scaleVersion = 'autoscaling/v1';
const replicasInScale = FieldSet.of(fieldPath('spec', 'replicas'));

/**
 * Returns the `managedFields` of an object's Scale: the entries that own the number of replicas, as
 * owners of the Scale's `spec.replicas`.
 */
export function scaleManagedFields(
  entries: readonly ManagedFieldsEntry[] | undefined,
  paths: ReplicasPaths,
): ManagedFieldsEntry[] | undefined {
  const owners = new Map<string, Owner>();
  for (const [id, owner] of ownersOfStored(entries)) {
    const path = paths.get(owner.apiVersion);
    if (path === undefined || !owner.set.has(path)) continue;
    const set = replicasInScale;
    owners.set(id, { ...owner, apiVersion: scaleVersion, set, wire: undefined });
  }
  return encodeOwners(owners);
}

/** The scaled object, for {@link parentManagedFields}. */
export interface ScaledObject {
  /** The `managedFields` of the object before the write to its Scale. */
  readonly entries: readonly ManagedFieldsEntry[] | undefined;
  readonly paths: ReplicasPaths;
  /** The object's own API version. */
  readonly apiVersion: string;
}

/**
 * Returns the `managedFields` of an object after a write to its Scale. Managers that lost the replicas of the Scale
 * lose those of the object; managers that gained them gain those.
 * @param scaleEntries - `managedFields` of the written Scale.
 */
export function parentManagedFields(
  scaleEntries: readonly ManagedFieldsEntry[] | undefined,
  { entries, paths, apiVersion }: ScaledObject,
): ManagedFieldsEntry[] | undefined {
  const scalers = new Map(ownersOfStored(scaleEntries));
  const owners = new Map<string, Owner>();
  const parents = ownersOfStored(entries);
  for (const [id, owner] of parents) {
    if (!paths.has(owner.apiVersion)) continue;
    const path = paths.get(owner.apiVersion);
    const shown = path !== undefined && owner.set.has(path);
    // A Scale's Update entry is identified by the Scale's version.
    const kept = shown ? keptOwner({ id, owner, path }, scalers) : owner;
    if (kept !== undefined) owners.set(id, kept);
  }
  for (const [id, owner] of scalers) {
    const path = paths.get(apiVersion);
    if (path === undefined || !owner.set.has(fieldPath('spec', 'replicas'))) continue;
    // The real server looks up the time among the object's own entries, where it is usually
    // missing.
    const time = parents.get(id)?.time;
    owners.set(id, { ...owner, apiVersion, time, set: FieldSet.of(path), wire: undefined });
  }
  return encodeOwners(owners);
}

interface ReplicasOwner {
  readonly id: string;
  readonly owner: Owner;
  readonly path: FieldPath;
}

function keptOwner(
  { id, owner, path }: ReplicasOwner,
  scalers: Map<string, Owner>,
): Owner | undefined {
  if (scalers.delete(id)) return owner;
  const set = owner.set.difference(FieldSet.of(path));
  return set.isEmpty ? undefined : { ...owner, set, wire: undefined };
}
