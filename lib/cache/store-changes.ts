import type { KubernetesObject } from '../object/kubernetes-object.js';
import { keyOf, keyString } from '../object/object-key.js';
import type { CacheEvent } from './informer.js';
import type { ObjectStore } from './object-store.js';

/** Options of {@link replaceAll}. */
export interface ReplaceOptions<T extends KubernetesObject> {
  readonly isInInitialList: boolean;
  /** Whether the list would have shown an object of the store, if it still existed. */
  readonly isCovered: (object: T) => boolean;
}

/** Stores a whole list; what is covered by it and not in it is gone. @returns what changed */
export function replaceAll<T extends KubernetesObject>(
  store: ObjectStore<T>,
  objects: readonly T[],
  { isInInitialList, isCovered }: ReplaceOptions<T>,
): readonly CacheEvent<T>[] {
  const events: CacheEvent<T>[] = [];
  const listed = new Set<string>();
  for (const object of objects) {
    const key = keyString(keyOf(object));
    listed.add(key);
    for (const event of put(store, object, isInInitialList)) events.push(event);
  }
  for (const [key, object] of [...store.entries()]) {
    if (listed.has(key) || !isCovered(object)) continue;
    store.delete(key);
    events.push({ type: 'deleted', object, finalStateUnknown: true });
  }
  return events;
}

/** Stores an object. @returns what changed */
export function put<T extends KubernetesObject>(
  store: ObjectStore<T>,
  object: T,
  isInInitialList = false,
): readonly CacheEvent<T>[] {
  const key = keyString(keyOf(object));
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

/** Removes an object, of which `object` is the last state. @returns what changed */
export function take<T extends KubernetesObject>(
  store: ObjectStore<T>,
  object: T,
): readonly CacheEvent<T>[] {
  const key = keyString(keyOf(object));
  const old = store.get(key);
  if (old === undefined) return [];
  store.delete(key);
  // An earlier deletion was missed, should the UID be another.
  const finalStateUnknown = old.metadata.uid !== object.metadata.uid;
  return [{ type: 'deleted', object: finalStateUnknown ? old : object, finalStateUnknown }];
}
