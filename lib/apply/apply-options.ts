import type { ApplyOptions } from '../client/client.js';
import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import type { ApplyContext } from './context.js';

/** How a chain's objects are applied: unknown fields are refused, and other managers' are taken. */
export function applyOptions({ settings }: Pick<ApplyContext, 'settings'>): ApplyOptions {
  const { controllerName: fieldManager, signal } = settings;
  return { force: true, fieldManager, signal, fieldValidation: 'Strict' };
}

/** `object` for an apply that must meet `live` and no other of its name. */
export function withUid(object: UnstructuredObject, live: UnstructuredObject): UnstructuredObject {
  const { uid } = live.metadata;
  return { ...object, metadata: { ...object.metadata, ...(uid !== undefined && { uid }) } };
}

/**
 * `object` for an apply that makes it: a 409 where an object of its name exists by then. Apply has no
 * "must not exist", but it compares the version that it names, which no stored object has: a store
 * without objects is of version 1, and each write to it makes the next one.
 */
export function asNew(object: UnstructuredObject): UnstructuredObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: '1' } };
}

/** The preconditions of a write that was decided on `live`: this very object, in this very version. */
export function asRead({ metadata: { uid, resourceVersion } }: KubernetesObject): {
  readonly uid?: string;
  readonly resourceVersion?: string;
} {
  return {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
}

/**
 * `object` for an apply that was decided on `live`. A late one, whose process was stopped or has lost its
 * Lease, is a 409 where another process has written the object meanwhile.
 */
export function withVersion(
  object: UnstructuredObject,
  live: KubernetesObject,
): UnstructuredObject {
  return { ...object, metadata: { ...object.metadata, ...asRead(live) } };
}
