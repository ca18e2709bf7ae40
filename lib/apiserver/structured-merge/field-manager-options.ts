import type { TypeMeta, UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Schema } from '../../object/schema.js';
import type { FieldFilter } from './field-filter.js';
import { timestamp } from './managers.js';
import type { Operation, Writer } from './managers.js';
import { Versions } from './versions.js';
import type { VersionConverter } from './versions.js';
import { zeroObject } from './zero-object.js';

/** Options of {@link fieldManagerApply} and {@link fieldManagerUpdate} for one write. */
export interface FieldManagerOptions {
  /**
   * The field manager of the request: its `fieldManager`, or for an update without one its
   * User-Agent up to the first `/`. An empty name is recorded as `unknown`.
   */
  readonly manager: string;
  /** The `apiVersion` in the request's path. Entries are recorded in it, and objects are passed in it. */
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
   * The zero value that a create of a built-in kind starts from, if it is known better than from
   * the schema's `required` and `default`.
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
   * @defaultValue the object is unchanged and has `schema`
   */
  readonly convert?: VersionConverter | undefined;
}

/** Options of {@link fieldManagerApply}. */
export interface ApplyOptions extends FieldManagerOptions {
  /**
   * Takes over fields that other managers own with another value.
   * @defaultValue false
   */
  readonly force?: boolean | undefined;
  /**
   * The kind in the request's path.
   * @defaultValue the kind of `live`; for a create, any kind
   */
  readonly kind?: string | undefined;
}

const everything: FieldFilter = (set) => set;

/** {@link FieldManagerOptions} with their defaults. */
export interface FieldManagerRequest {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string;
  readonly filter: FieldFilter;
  readonly versions: Versions;
  /** The fields of an object before it is created. */
  readonly empty: Readonly<Record<string, unknown>>;
}

/** Fills in the defaults of `options`. */
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

export function writerOf(request: FieldManagerRequest, operation: Operation): Writer {
  const { manager, apiVersion, subresource } = request;
  return { manager, operation, apiVersion, subresource };
}

/** Returns an object of this kind as it is before it is created. */
export function emptyObject(
  { empty }: FieldManagerRequest,
  { apiVersion, kind }: TypeMeta,
): UnstructuredObject {
  return { ...empty, apiVersion, kind } as UnstructuredObject;
}
