import { keyOf } from './object-key.js';
import type { KubernetesObject } from './kubernetes-object.js';

/** A reference to one object of any kind. With a `uid` it excludes a later object of the same name. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string | undefined;
  readonly name: string;
  /** Absent until the object exists. */
  readonly uid?: string | undefined;
}

/**
 * Returns a reference to `object`, which also fits fields of Kubernetes kinds and schemas, such as
 * `s.builtIn('ObjectReference')`.
 * @throws OperatorError `InvalidObject`: it has no name (yet).
 */
export function referenceTo(object: KubernetesObject): {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
} {
  const { apiVersion, kind, metadata } = object;
  const key = keyOf(object);
  return metadata.uid === undefined
    ? { apiVersion, kind, ...key }
    : { apiVersion, kind, ...key, uid: metadata.uid };
}
