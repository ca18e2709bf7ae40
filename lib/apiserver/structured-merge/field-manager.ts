import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Schema } from '../../object/schema.js';
import type { FieldFilter } from './field-filter.js';

/** An object in another version of its kind's API, with that version's schema. */
export interface VersionedObject {
  readonly object: UnstructuredObject;
  /** Absent: no schema, types are deduced. */
  readonly schema: Schema | undefined;
}

/**
 * Converts `object` to `apiVersion`. `undefined` when that version is not served any more: the
 * managedFields entries in it are dropped then.
 */
export type VersionConverter = (
  object: UnstructuredObject,
  apiVersion: string,
) => VersionedObject | undefined;

/** What one write is, for {@link fieldManagerApply} and {@link fieldManagerUpdate}. */
export interface FieldManagerOptions {
  /**
   * Who writes: `fieldManager` of the request; for an update without one the User-Agent up to its
   * first `/`. An empty one is recorded as `unknown`.
   */
  readonly manager: string;
  /** `apiVersion` of the request's path: entries are recorded in it. Objects come in it too. */
  readonly apiVersion: string;
  /**
   * Of the object's kind in `apiVersion`, with `apiVersion`, `kind` and the full `metadata` in its
   * properties. Without one, types are deduced: maps granular, lists atomic.
   */
  readonly schema: Schema | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** `status`, `scale`, …: entries of a subresource are kept apart. @defaultValue '' */
  readonly subresource?: string | undefined;
  /**
   * A custom resource starts from nothing; a built-in kind starts from its Go struct's zero value,
   * where `spec: {}` exists and so is owned by nobody. @defaultValue false
   */
  readonly customResource?: boolean | undefined;
  /**
   * Leaves out the fields that this endpoint resets, so that nobody owns what he can't change:
   * `excludeFields('status')` for most kinds, `excludeFields('spec', 'metadata.labels')` for a
   * Deployment's status, `excludeFields('spec', 'metadata')` for a custom resource's.
   * @defaultValue nothing is left out
   */
  readonly resetFields?: FieldFilter | undefined;
  /** For entries in another `apiVersion`. @defaultValue the object as it is, with `schema` */
  readonly convert?: VersionConverter | undefined;
}

/** Options of {@link fieldManagerApply}. */
export interface ApplyOptions extends FieldManagerOptions {
  /** Take the fields that others own with another value. @defaultValue false */
  readonly force?: boolean | undefined;
}

/**
 * Server-side apply: merges `applied` into `live`, removes what `manager` applied before and does
 * not apply now (unless somebody else owns it), and records who owns what.
 *
 * The result shares unchanged parts with its arguments, which are not changed; it has no defaults
 * yet. Call it before defaulting, admission and validation; compare what comes out of those with
 * `live` by {@link keepManagedFieldsTimes}, so that an apply that changes nothing writes nothing.
 * @param live - The stored object, or `undefined` to create it.
 * @param applied - The body as it was sent.
 * @throws ApplyConflictError others own fields that this would change, and `force` is not set.
 * @throws TypedConversionError `applied` (or `live`) does not fit `schema`.
 * @throws BadApplyError `applied` has `metadata.managedFields` or another `apiVersion` or `kind`.
 */
export function fieldManagerApply(
  live: UnstructuredObject | undefined,
  applied: UnstructuredObject,
  options: ApplyOptions,
): UnstructuredObject {
  throw new Error(`not yet: ${String(live)} ${String(applied)} ${options.manager}`);
}

/**
 * Records who owns what after a create, an update or a patch other than apply: what `next` adds or
 * changes belongs to `manager` and to nobody else, what it removes to nobody.
 *
 * `managedFields` in `next` replace the live ones where they are valid (a client may edit them);
 * `[]` and `[{}]` clear them, and then nothing is tracked any more until an apply. Through a
 * subresource they are ignored. Call it after defaulting and before mutating admission. It never
 * fails: an object that does not fit `schema` loses its `managedFields`, as in the real server.
 * @param live - The stored object, or `undefined` for a create.
 * @param next - The whole object as it is to be stored, with defaults.
 * @returns `next` with its `managedFields`; `next` itself is not changed.
 */
export function fieldManagerUpdate(
  live: UnstructuredObject | undefined,
  next: UnstructuredObject,
  options: FieldManagerOptions,
): UnstructuredObject {
  throw new Error(`not yet: ${String(live)} ${String(next)} ${options.manager}`);
}

/**
 * `next`, or, where it differs from `live` only by the times in its `managedFields`, `next` with
 * the times of `live`: a write that changes nothing must not bump the `resourceVersion`. The
 * `resourceVersion` must have been set to the live one. Call it right before the write.
 */
export function keepManagedFieldsTimes(
  live: UnstructuredObject,
  next: UnstructuredObject,
): UnstructuredObject {
  throw new Error(`not yet: ${String(live)} ${String(next)}`);
}
