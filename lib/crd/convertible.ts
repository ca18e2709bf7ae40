import type { UnstructuredObject } from '../object/kubernetes-object.js';

/**
 * A custom resource that converts objects between its versions, as the conversion webhook of a CRD needs.
 * `defineResource` returns one.
 */
export interface Convertible {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** The names of all versions. */
  readonly versions: readonly string[];
  /**
   * Converts an object to another version through the hub. Returns a new object with the same `metadata`,
   * except labels and annotations, which converters may change.
   * @param desiredApiVersion - group and version, for example `example.com/v1`
   * @throws OperatorError `InvalidObject`: the object has another kind or an unknown version, or a converter
   * threw (`cause`) or changed forbidden metadata
   */
  convert(object: UnstructuredObject, desiredApiVersion: string): UnstructuredObject;
}
