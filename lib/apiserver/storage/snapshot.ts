import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { MvccLog } from './mvcc-log.js';

/**
 * Everything that a server stored at a moment. Objects are shared with the server and with other
 * snapshots, and so are the indexes of collections that did not change in between.
 */
export interface StoreSnapshot {
  /** The objects of each collection, by their keys. */
  readonly collections: ReadonlyMap<string, ReadonlyMap<string, UnstructuredObject>>;
}

/**
 * Brings back what `snapshot` holds: as changes of the log, so that whatever follows the log follows
 * them, too. What did not change since is left alone; what is brought back gets a new version.
 */
export function restoreSnapshot(log: MvccLog, { collections }: StoreSnapshot): void {
  const names = new Set([...log.collections(), ...collections.keys()]);
  for (const name of names) remove(log, name, collections.get(name) ?? new Map());
  for (const name of names) put(log, name, collections.get(name) ?? new Map());
}

type Wanted = ReadonlyMap<string, UnstructuredObject>;

/** Removes what was not there, or is another object of the same name. */
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
