import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { CacheEvent } from './informer.js';
import type { ObjectStore } from './object-store.js';

/** Options of {@link replaceAll}. */
export interface ReplaceOptions<T extends KubernetesObject> {
  readonly isInInitialList: boolean;
  /** Whether the list would have shown an object of the store, if it still existed. */
  readonly isCovered: (object: T) => boolean;
}

/** What {@link put} stores. */
export interface PutOptions<T extends KubernetesObject> {
  readonly key: string;
  readonly object: T;
  /** @defaultValue false */
  readonly isInInitialList?: boolean;
}

/** Stores a whole list, by key; what is covered by it and not in it is gone. @returns what changed */
export function replaceAll<T extends KubernetesObject>(
  store: ObjectStore<T>,
  objects: ReadonlyMap<string, T>,
  { isInInitialList, isCovered }: ReplaceOptions<T>,
): readonly CacheEvent<T>[] {
  const events: CacheEvent<T>[] = [];
  for (const [key, object] of objects) {
    for (const event of put(store, { key, object, isInInitialList })) events.push(event);
  }
  // What was listed is there: where there is no more, nothing is gone.
  if (store.size === objects.size) return events;
  for (const [key, object] of [...store.entries()]) {
    if (objects.has(key) || !isCovered(object)) continue;
    store.delete(key);
    events.push({ type: 'deleted', object, finalStateUnknown: true });
  }
  return events;
}

/** Stores an object under its key. @returns what changed */
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

/** Removes an object, of which `object` is the last state. @returns what changed */
export function take<T extends KubernetesObject>(
  store: ObjectStore<T>,
  { key, object }: Pick<PutOptions<T>, 'key' | 'object'>,
): readonly CacheEvent<T>[] {
  const old = store.get(key);
  if (old === undefined) return [];
  store.delete(key);
  // An earlier deletion was missed, should the UID be another.
  const finalStateUnknown = old.metadata.uid !== object.metadata.uid;
  return [{ type: 'deleted', object: finalStateUnknown ? old : object, finalStateUnknown }];
}
