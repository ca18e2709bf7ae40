import type { UnstructuredObject } from '../object/kubernetes-object.js';

/**
 * A custom resource whose objects are converted between its versions: what a webhook server needs
 * to serve the conversion webhook of a CRD. Every resource of `defineResource` is one.
 */
export interface Convertible {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** The names of all its versions. */
  readonly versions: readonly string[];
  /**
   * The object in another version: by way of the hub. The result is a new object with the same
   * `metadata`, but for labels and annotations, which converters may change.
   * @param desiredApiVersion - group and version, for example `example.com/v1`
   * @throws OperatorError `InvalidObject`: the object is of another kind or of an unknown version,
   * or a converter threw (`cause`) or changed what it may not.
   */
  convert(object: UnstructuredObject, desiredApiVersion: string): UnstructuredObject;
}
