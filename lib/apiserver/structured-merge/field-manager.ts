import { formatTime, fieldPath, FieldSet } from '../../object/index.js';
import type {
  ManagedFieldsEntry,
  TypeMeta,
  UnstructuredObject,
  Schema,
} from '../../object/index.js';
import { isOperatorError } from '../../system/index.js';
import { zeroObject } from './atom.js';
import {
  ApplyConflictError,
  BadApplyError,
  TypedConversionError,
  checkType,
  kindText,
} from './validate-value.js';
import { fieldsOfLastApplied, withLastApplied } from './last-applied.js';
import {
  capUpdaters,
  encodeOwners,
  metadataOf,
  ownerId,
  ownersOfRequest,
  ownersOfStored,
  withManagedFields,
  withoutManagedFields,
} from './managers.js';
import type { Operation, Owner, Owners, Writer } from './managers.js';
import { Versions, applyUpdate, trackUpdate } from './updater.js';
import type { Applied, FieldFilter, VersionConverter } from './updater.js';

/** Options of {@link fieldManagerApply} and {@link fieldManagerUpdate} for one write. */
export interface FieldManagerOptions {
  /**
   * The field manager of the request: its `fieldManager`, or for an update without one its
   * User-Agent up to the first `/`. An empty name is recorded as `unknown`.
   */
  readonly manager: string;
  /**
   * The `apiVersion` in the request's path. Entries are recorded in this version, and callers pass objects in
   * it.
   */
  readonly apiVersion: string;
  /**
   * The schema of the kind in `apiVersion`, with `apiVersion`, `kind` and the full `metadata` in
   * its properties. Without a schema, types are deduced: maps granular, lists atomic.
   */
  readonly schema: Schema | undefined;
  /** The time of the write, in milliseconds since 1970. */
  readonly now: number;
  /**
   * The subresource of the request: `status`, `scale`, …. Each subresource has its own entries.
   * @defaultValue ''
   */
  readonly subresource?: string | undefined;
  /**
   * Set for a custom resource, which starts empty. A built-in kind starts from the zero value of
   * its Go struct, in which `spec: {}` exists and so has no owner.
   * @defaultValue false
   */
  readonly customResource?: boolean | undefined;
  /**
   * The zero value that a create of a built-in kind starts from, if the caller has a more exact one than the schema's
   * `required` and `default` give.
   * @defaultValue computed from `schema`
   */
  readonly emptyObject?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Drops the fields that this endpoint resets, so that no client owns fields that it cannot
   * change: `excludeFields('status')` for most kinds, `excludeFields('spec', 'metadata.labels')`
   * for a Deployment's status, `excludeFields('spec', 'metadata')` for a custom resource's.
   * @defaultValue no field is dropped
   */
  readonly resetFields?: FieldFilter | undefined;
  /**
   * Converts objects for entries in another `apiVersion`.
   * @defaultValue the object stays as it is, and `schema` applies to it
   */
  readonly convert?: VersionConverter | undefined;
}

/** Options of {@link fieldManagerApply}. */
export interface ApplyOptions extends FieldManagerOptions {
  /** Takes over fields that other managers own with another value. @defaultValue false */
  readonly force?: boolean | undefined;
  /** The kind in the request's path. @defaultValue the kind of `live`; for a create, any kind */
  readonly kind?: string | undefined;
}

const everything: FieldFilter = (set) => set;

/** {@link FieldManagerOptions} with their defaults. */
interface FieldManagerRequest {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string;
  readonly filter: FieldFilter;
  readonly versions: Versions;
  /** The fields of the object that a create starts from: empty, or a zero value. */
  readonly empty: Readonly<Record<string, unknown>>;
}

/** Fills in the defaults of `options`. */
function resolveFieldManagerOptions(options: FieldManagerOptions): FieldManagerRequest {
  const { manager, apiVersion, schema, now, convert } = options;
  const { subresource = '', customResource = false, resetFields = everything } = options;
  const { emptyObject = customResource ? {} : zeroObject(schema) } = options;
  return {
    manager: manager === '' ? 'unknown' : manager,
    apiVersion,
    subresource,
    time: formatTime(now),
    filter: resetFields,
    versions: new Versions(apiVersion, schema, convert),
    empty: emptyObject,
  };
}

function writerOf(request: FieldManagerRequest, operation: Operation): Writer {
  const { manager, apiVersion, subresource } = request;
  return { manager, operation, apiVersion, subresource };
}

/** Returns the object from which a create of the kind starts. */
function emptyObject(
  { empty }: FieldManagerRequest,
  { apiVersion, kind }: TypeMeta,
): UnstructuredObject {
  return Object.assign({}, empty, { apiVersion, kind }) as UnstructuredObject;
}

/**
 * Server-side apply: merges `applied` into `live` and records the owner of each field. It removes fields that
 * `manager` applied before and does not apply now, unless another manager owns them.
 *
 * The result shares unchanged parts with the arguments, which stay unchanged. The result has no defaults yet.
 * Call this function before defaulting, admission and validation. Then compare the final object with `live`
 * by {@link keepManagedFieldsTimes}, so that an apply without changes writes nothing.
 * @param live - The stored object, or `undefined` to create it.
 * @param applied - The body as the client sent it.
 * @returns `live` itself if nothing changes, managers included.
 * @throws ApplyConflictError other managers own fields that this would change, and `force` is not
 *   set.
 * @throws TypedConversionError `applied` (or `live`) does not fit `schema`.
 * @throws BadApplyError `applied` has `metadata.managedFields` or another `apiVersion` or `kind`.
 */
export function fieldManagerApply(
  live: UnstructuredObject | undefined,
  applied: UnstructuredObject,
  options: ApplyOptions,
): UnstructuredObject {
  const request = resolveFieldManagerOptions(options);
  const { force = false, kind = live?.kind } = options;
  checkKind(applied, request.apiVersion, kind);
  const { apiVersion } = request;
  const base = live ?? emptyObject(request, { apiVersion, kind: applied.kind });
  const stored = withoutManagedFields(base);
  let owners = ownersOfStored(metadataOf(base).managedFields);
  if (owners.size === 0) owners = ownersBeforeFirstApply(stored, request);
  checkTypes(stored, applied, request);
  const writer = writerOf(request, 'Apply');
  const result = applyAs(writer, { stored, applied, owners, force }, request);
  const time = result.object === stored ? undefined : request.time;
  const last = owners.get(ownerId(writer));
  const entries = encodeOwners(recordApply(result.owners, last, { writer, time }));
  const object = result.object as UnstructuredObject;
  const annotated = request.manager === 'kubectl' ? withLastApplied(object, applied) : object;
  if (annotated === stored && live !== undefined && sameEntries(live, entries)) return live;
  return withManagedFields(annotated, entries);
}

function sameEntries(
  live: UnstructuredObject,
  entries: readonly ManagedFieldsEntry[] | undefined,
): boolean {
  const stored = metadataOf(live).managedFields ?? [];
  return stored.length === entries?.length && stored.every((entry, at) => entry === entries[at]);
}

function checkKind(applied: UnstructuredObject, apiVersion: string, kind = applied.kind): void {
  if (applied.apiVersion !== apiVersion || applied.kind !== kind) {
    throw new BadApplyError(`invalid object type: ${kindText(applied)}`);
  }
}

function checkTypes(
  stored: UnstructuredObject,
  applied: UnstructuredObject,
  { versions }: FieldManagerRequest,
): void {
  const { managedFields } = metadataOf(applied);
  if (managedFields !== undefined && managedFields !== null) {
    throw new BadApplyError('metadata.managedFields must be nil');
  }
  const { atom } = versions.own;
  checkType(applied, atom, {
    allowDuplicates: false,
    doing: (object) => `failed to create typed patch object (${object})`,
  });
  checkType(stored, atom, {
    allowDuplicates: true,
    doing: (object) => `failed to create typed live object (${object})`,
  });
}

/** Assigns the fields of an object without recorded owners to `before-first-apply`. */
function ownersBeforeFirstApply(stored: UnstructuredObject, request: FieldManagerRequest): Owners {
  const { apiVersion, kind } = stored;
  const before = emptyObject(request, { apiVersion, kind });
  const tracker = { ...request, manager: 'before-first-apply' };
  try {
    return track({ live: before, next: stored, owners: new Map() }, tracker);
  } catch (error) {
    if (!(error instanceof TypedConversionError)) throw error;
    throw new TypedConversionError(
      `failed to create manager for existing fields: ${error.message}`,
    );
  }
}

interface ApplyInput {
  readonly stored: UnstructuredObject;
  readonly applied: UnstructuredObject;
  readonly owners: Owners;
  readonly force: boolean;
}

function applyAs(writer: Writer, input: ApplyInput, request: FieldManagerRequest): Applied {
  const { stored, applied, owners, force } = input;
  const { versions, filter } = request;
  const update = { live: stored, applied, owners, writer, versions, filter, force };
  try {
    return applyUpdate(update);
  } catch (error) {
    if (!(error instanceof ApplyConflictError) || writer.manager !== 'kubectl') throw error;
    const allowed = fieldsOfLastApplied(stored, versions.own.atom);
    if (allowed === undefined) throw error;
    const conflicts = error.conflicts.filter(({ path }) => !allowed.has(path));
    if (conflicts.length > 0) throw new ApplyConflictError(conflicts);
    return applyUpdate({ ...update, force: true });
  }
}

interface ApplyRecord {
  readonly writer: Writer;
  /**
   * The time of the apply. If undefined, nothing changed: the entry keeps its time (a new entry has
   * none).
   */
  readonly time: string | undefined;
}

function recordApply(owners: Owners, last: Owner | undefined, record: ApplyRecord): Owners {
  const id = ownerId(record.writer);
  const recorded = new Map(owners);
  const now = recorded.get(id);
  const set = now?.set.difference(neverOwned) ?? FieldSet.empty;
  const time = record.time ?? last?.time;
  if (set.isEmpty) recorded.delete(id);
  else recorded.set(id, sameOwner(last, { ...record.writer, set, time }));
  return recorded;
}

/**
 * Records the owners of fields after a create, an update or a patch other than apply. `manager`
 * becomes the only owner of the fields that `next` adds or changes; fields that `next` removes lose
 * all owners.
 *
 * Valid `managedFields` in `next` replace those of `live`, because a client may edit them. `[]` and `[{}]`
 * clear them and stop the tracking until the next apply. Writes through a subresource cannot change
 * `managedFields`. Call this function after defaulting and before mutating admission. This function never
 * throws: an object that does not fit `schema` loses its `managedFields`, as on the real server.
 * @param live - The stored object, or `undefined` for a create.
 * @param next - The whole object to store, with defaults.
 * @returns `next` with its `managedFields`; `next` itself does not change.
 */
export function fieldManagerUpdate(
  live: UnstructuredObject | undefined,
  next: UnstructuredObject,
  options: FieldManagerOptions,
): UnstructuredObject {
  const request = resolveFieldManagerOptions(options);
  const base = live ?? emptyObject(request, next);
  const bare = withoutManagedFields(next);
  const owners = ownersOf(base, next, request);
  // A client cleared `managedFields`: the server tracks nothing until the next apply.
  if (owners.size === 0 && live !== undefined) return bare;
  const before = withoutManagedFields(base);
  try {
    // The zero value of a kind always fits its schema.
    if (live !== undefined) checkTracked(before, 'live', request);
    const tracked = track({ live: before, next: bare, owners }, request);
    return withManagedFields(bare, encodeOwners(tracked));
  } catch (error) {
    if (!isOperatorError(error)) throw error;
    return bare;
  }
}

function ownersOf(
  live: UnstructuredObject,
  next: UnstructuredObject,
  request: FieldManagerRequest,
): Owners {
  const { managedFields: sent } = metadataOf(next);
  const { managedFields: stored } = metadataOf(live);
  if (request.subresource !== '' || sent === undefined || sent === null || sent === stored) {
    return ownersOfStored(stored);
  }
  if (isReset(sent)) return new Map();
  try {
    return ownersOfRequest(sent);
  } catch (error) {
    // An entry is invalid: ignore the `managedFields` of the client.
    if (!isOperatorError(error)) throw error;
    return ownersOfStored(stored);
  }
}

function isReset(sent: readonly ManagedFieldsEntry[]): boolean {
  const [first] = sent;
  return first === undefined || (sent.length === 1 && Object.keys(first).length === 0);
}

/** A change to track. The objects have no `managedFields`. */
interface Tracked {
  /** The object before the change, which fits its schema. */
  readonly live: UnstructuredObject;
  readonly next: UnstructuredObject;
  readonly owners: Owners;
}

/**
 * Returns the owners of fields after a change by `request.manager` other than apply.
 * @throws TypedConversionError the new object does not fit its schema.
 */
function track({ live, next, owners }: Tracked, request: FieldManagerRequest): Owners {
  const { versions, filter, time } = request;
  checkTracked(next, 'new', request);
  const writer = writerOf(request, 'Update');
  const found = trackUpdate({ live, next, owners, writer, versions, filter });
  const changed = found.changed.difference(neverOwned);
  if (changed.isEmpty) return capUpdaters(found.owners);
  const id = ownerId(writer);
  const set = changed.union(found.owners.get(id)?.set ?? FieldSet.empty);
  found.owners.set(id, sameOwner(owners.get(id), { set, time, ...writer }));
  return capUpdaters(found.owners);
}

function checkTracked(
  object: UnstructuredObject,
  which: 'new' | 'live',
  { versions }: FieldManagerRequest,
): void {
  checkType(object, versions.own.atom, {
    allowDuplicates: true,
    doing: (name) => `failed to convert ${which} object (${name}) to smd typed`,
  });
}

/** Returns `last` if it equals `now`, so that an unchanged entry keeps its encoding; else `now`. */
function sameOwner(last: Owner | undefined, now: Owner): Owner {
  const same =
    last?.apiVersion === now.apiVersion && last.time === now.time && last.set.equals(now.set);
  return same ? last : now;
}

/** Fields without an owner: those that identify an object, and those that only the server writes. */
const neverOwned = FieldSet.of(
  ...['apiVersion', 'kind', 'metadata'].map((name) => fieldPath(name)),
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => fieldPath('metadata', name)),
);
