import type { ApplyOptions } from '../client/client.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import type { RunContext } from './context.js';

/** How a chain's objects are applied: unknown fields are refused, and other managers' are taken. */
export function applyOptions({ settings }: Pick<RunContext, 'settings'>): ApplyOptions {
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
