import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';

/**
 * Removes the object stored under `key`.
 * @returns its last state, with the resource version of the deletion
 */
export function removeObject(
  core: ServerCore,
  kind: ServedKind,
  key: string,
): UnstructuredObject | undefined {
  const last = core.log.collection(kind.collection).get(key);
  if (last === undefined) return undefined;
  const object = { ...last, metadata: { ...last.metadata } };
  return core.log.commit({ collection: kind.collection, key, object, deleted: true }).object;
}
