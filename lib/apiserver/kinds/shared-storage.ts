import type { UnstructuredObject } from '../../object/kubernetes-object.js';

/** A version of a kind whose objects are stored in another version. */
export interface SharedStorage {
  readonly collection: string;
  toStorage(object: UnstructuredObject): UnstructuredObject;
  fromStorage(object: UnstructuredObject): UnstructuredObject;
}

/** Where the objects of this version are stored, if not in this version itself. */
export function sharedStorage(
  group: string,
  version: string,
  plural: string,
): SharedStorage | undefined {
  return shared[`${group}/${version}/${plural}`];
}

const shared: Readonly<Partial<Record<string, SharedStorage>>> = {};
