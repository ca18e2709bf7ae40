import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { CacheEvent } from './informer.js';
import type { ObjectStore } from './object-store.js';

/** Parameters of {@link put}. */
export interface PutOptions<T extends KubernetesObject> {
  readonly key: string;
  readonly object: T;
  /** @defaultValue false */
  readonly isInInitialList?: boolean;
}

/**
 * Removes all objects for which `isKept` returns false.
 * @returns the resulting events
 */
export function removeMissing<T extends KubernetesObject>(
  store: ObjectStore<T>,
  isKept: (key: string, object: T) => boolean,
): readonly CacheEvent<T>[] {
  const gone: string[] = [];
  for (const [key, object] of store.entries()) if (!isKept(key, object)) gone.push(key);
  return gone.flatMap((key) => take(store, key, undefined));
}

/**
 * Stores an object under its key.
 * @returns the resulting events
 * @throws OperatorError `InvalidObject`: an index throws for it; the store is unchanged.
 */
export function put<T extends KubernetesObject>(
  store: ObjectStore<T>,
  { key, object, isInInitialList = false }: PutOptions<T>,
): readonly CacheEvent<T>[] {
  const old = store.get(key);
  store.set(key, object);
  if (old === undefined) return [{ type: 'added', object, isInInitialList }];
  const [now, before] = [object.metadata, old.metadata];
  if (now.uid !== before.uid) {
    return [
      { type: 'deleted', object: old, finalStateUnknown: true },
      { type: 'added', object, isInInitialList },
    ];
  }
  return now.resourceVersion === before.resourceVersion ? [] : [{ type: 'updated', object, old }];
}

/**
 * Removes an object.
 * @param last - its last state; undefined if the watch did not show it
 * @returns the resulting events
 */
export function take<T extends KubernetesObject>(
  store: ObjectStore<T>,
  key: string,
  last: T | undefined,
): readonly CacheEvent<T>[] {
  const old = store.get(key);
  if (old === undefined) return [];
  store.delete(key);
  // A different UID means that an earlier deletion was missed.
  const isLast = last !== undefined && old.metadata.uid === last.metadata.uid;
  return [{ type: 'deleted', object: isLast ? last : old, finalStateUnknown: !isLast }];
}
