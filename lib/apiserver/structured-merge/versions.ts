import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { Schema } from '../../object/schema.js';
import { atomOf } from './atom.js';
import type { Atom } from './atom.js';

/** An object in another version of its kind's API, with that version's schema. */
export interface VersionedObject {
  readonly object: UnstructuredObject;
  /** Absent: no schema, types are deduced. */
  readonly schema: Schema | undefined;
}

/**
 * Converts `object`, of whatever version its `apiVersion` says, to `apiVersion`. Fields may be
 * missing from it that are required, for some have been pruned. `undefined` when that version is
 * not served any more: the managedFields entries in it are dropped then.
 */
export type VersionConverter = (
  object: UnstructuredObject,
  apiVersion: string,
) => VersionedObject | undefined;

/** A value and its type, in some version. */
export interface VersionedValue {
  readonly value: unknown;
  readonly atom: Atom;
}

/** The versions in which one request has to look at an object. */
export class Versions {
  /** The version of the request. */
  readonly own: { readonly apiVersion: string; readonly atom: Atom };
  readonly #convert: VersionConverter | undefined;

  constructor(apiVersion: string, schema: Schema | undefined, convert?: VersionConverter) {
    this.own = { apiVersion, atom: atomOf(schema) };
    this.#convert = convert;
  }

  /** `value` (of any version) in `apiVersion`, or `undefined` when that is not served any more. */
  at(value: unknown, apiVersion: string): VersionedValue | undefined {
    const object = value as UnstructuredObject;
    const { own } = this;
    const asIs = object.apiVersion === apiVersion && apiVersion === own.apiVersion;
    if (asIs || this.#convert === undefined) return { value, atom: own.atom };
    const converted = this.#convert(object, apiVersion);
    return converted && { value: converted.object, atom: atomOf(converted.schema) };
  }
}
