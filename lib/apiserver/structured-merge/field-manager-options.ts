import type { TypeMeta, UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Schema } from '../../object/schema.js';
import type { FieldFilter } from './field-filter.js';
import { timestamp } from './managers.js';
import type { Operation, Writer } from './managers.js';
import { Versions } from './versions.js';
import type { VersionConverter } from './versions.js';
import { zeroObject } from './zero-object.js';

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
   * What a create of a built-in kind starts from, where it is known better than from the schema's
   * `required` and `default`. @defaultValue worked out from `schema`
   */
  readonly emptyObject?: Readonly<Record<string, unknown>> | undefined;
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
  /** The kind of the request's path. @defaultValue that of `live`, else any */
  readonly kind?: string | undefined;
}

const everything: FieldFilter = (set) => set;

/** {@link FieldManagerOptions}, resolved. */
export interface FieldManagerRequest {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string;
  readonly filter: FieldFilter;
  readonly versions: Versions;
  /** What an object is before it is created. */
  readonly empty: Readonly<Record<string, unknown>>;
}

/** Fills in the defaults. */
export function resolveFieldManagerOptions(options: FieldManagerOptions): FieldManagerRequest {
  const { manager, apiVersion, schema, now, convert } = options;
  const { subresource = '', customResource = false, resetFields = everything } = options;
  const { emptyObject = customResource ? {} : zeroObject(schema) } = options;
  return {
    manager: manager === '' ? 'unknown' : manager,
    apiVersion,
    subresource,
    time: timestamp(now),
    filter: resetFields,
    versions: new Versions(apiVersion, schema, convert),
    empty: emptyObject,
  };
}

/** The writer of a request. */
export function writerOf(request: FieldManagerRequest, operation: Operation): Writer {
  const { manager, apiVersion, subresource } = request;
  return { manager, operation, apiVersion, subresource };
}

/** What an object of this kind is before it is created. */
export function emptyObject(
  { empty }: FieldManagerRequest,
  { apiVersion, kind }: TypeMeta,
): UnstructuredObject {
  return { ...empty, apiVersion, kind } as UnstructuredObject;
}
