import { FieldSet } from '../../object/field-set.js';
import type { ManagedFieldsEntry, UnstructuredObject } from '../../object/kubernetes-object.js';
import { checkType, kindText } from './check-type.js';
import { ApplyConflictError, BadApplyError, TypedConversionError } from './errors.js';
import { emptyObject, resolveFieldManagerOptions, writerOf } from './field-manager-options.js';
import type { ApplyOptions, FieldManagerRequest } from './field-manager-options.js';
import { fieldsOfLastApplied, withLastApplied } from './last-applied.js';
import { metadataOf, withManagedFields, withoutManagedFields } from './managed-fields-list.js';
import { encodeOwners, ownerId, ownersOfStored } from './managers.js';
import type { Owner, Owners, Writer } from './managers.js';
import { neverOwned } from './never-owned.js';
import { sameOwner, track } from './track.js';
import { applyUpdate } from './updater.js';
import type { Applied } from './updater.js';

/**
 * Server-side apply: merges `applied` into `live`, removes fields that `manager` applied before and
 * does not apply now (unless another manager owns them), and records the owner of each field.
 *
 * The result shares unchanged parts with the arguments, which stay unchanged. It has no defaults
 * yet. Call this function before defaulting, admission and validation. Compare their result with
 * `live` by {@link keepManagedFieldsTimes}, so that an apply without changes writes nothing.
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
