import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { MvccLog } from './mvcc-log.js';

/**
 * The state of a server's storage at one moment. Its objects are shared with the server and with
 * other snapshots; so are the indexes of collections without changes in between.
 */
export interface StoreSnapshot {
  /** The objects of each collection, by key. */
  readonly collections: ReadonlyMap<string, ReadonlyMap<string, UnstructuredObject>>;
}

/**
 * Restores `snapshot`. It commits the differences as changes, so that watches receive them, too.
 * Unchanged objects stay as they are; restored ones get a new version.
 */
export function restoreSnapshot(log: MvccLog, { collections }: StoreSnapshot): void {
  const names = new Set([...log.collections(), ...collections.keys()]);
  for (const name of names) remove(log, name, collections.get(name) ?? new Map());
  for (const name of names) put(log, name, collections.get(name) ?? new Map());
}

type Wanted = ReadonlyMap<string, UnstructuredObject>;

/** Removes objects that the snapshot does not have, or has with another uid. */
function remove(log: MvccLog, name: string, wanted: Wanted): void {
  const collection = log.collection(name);
  for (const key of collection.keys('')) {
    const live = collection.get(key);
    if (live === undefined || live.metadata.uid === wanted.get(key)?.metadata.uid) continue;
    log.commit({ collection: name, key, object: copyOf(live), deleted: true });
  }
}

function put(log: MvccLog, name: string, wanted: Wanted): void {
  const collection = log.collection(name);
  for (const [key, object] of wanted) {
    if (collection.get(key) === object) continue;
    log.commit({ collection: name, key, object: copyOf(object) });
  }
}

function copyOf(object: UnstructuredObject): UnstructuredObject {
  return { ...object, metadata: { ...object.metadata } };
}
