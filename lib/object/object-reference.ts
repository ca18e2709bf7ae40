import { keyOf } from './object-key.js';
import type { KubernetesObject } from './kubernetes-object.js';

/** Names one object of any kind; with a `uid`, this very one and not a later one of its name. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string | undefined;
  readonly name: string;
  /** Absent as long as the object does not exist. */
  readonly uid?: string | undefined;
}

/**
 * The reference to `object`. It also fits where a kind of Kubernetes or a schema wants one, as
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
