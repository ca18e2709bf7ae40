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
