import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Schema } from '../../object/schema.js';
import { atomOf } from './atom.js';
import type { Atom } from './atom.js';

/** An object in another version of its kind's API, with that version's schema. */
export interface VersionedObject {
  readonly object: UnstructuredObject;
  /** The schema of that version. If undefined, types are deduced. */
  readonly schema: Schema | undefined;
}

/**
 * Converts `object` from the version in its `apiVersion` to `apiVersion`. Required fields may be
 * missing from `object`, because some are already pruned. Returns `undefined` if `apiVersion` is no
 * longer served; the managedFields entries in it are dropped then.
 */
export type VersionConverter = (
  object: UnstructuredObject,
  apiVersion: string,
) => VersionedObject | undefined;

/** A value and its type in one version. */
export interface VersionedValue {
  readonly value: unknown;
  readonly atom: Atom;
}

/** Converts values between the versions that one request needs. */
export class Versions {
  /** The version of the request. */
  readonly own: { readonly apiVersion: string; readonly atom: Atom };
  readonly #convert: VersionConverter | undefined;

  constructor(apiVersion: string, schema: Schema | undefined, convert?: VersionConverter) {
    this.own = { apiVersion, atom: atomOf(schema) };
    this.#convert = convert;
  }

  /**
   * Returns `value` (of any version) in `apiVersion`, or `undefined` if that version is no longer
   * served.
   */
  at(value: unknown, apiVersion: string): VersionedValue | undefined {
    const object = value as UnstructuredObject;
    const { own } = this;
    const asIs = object.apiVersion === apiVersion && apiVersion === own.apiVersion;
    if (asIs || this.#convert === undefined) return { value, atom: own.atom };
    const converted = this.#convert(object, apiVersion);
    return converted && { value: converted.object, atom: atomOf(converted.schema) };
  }
}
