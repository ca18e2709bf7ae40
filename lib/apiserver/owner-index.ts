import type { UnstructuredObject } from '../object/kubernetes-object.js';
import type { LogEntry } from './storage/collection.js';
import type { MvccLog } from './storage/mvcc-log.js';

/** Location of a stored object. */
export interface StoredAt {
  readonly collection: string;
  readonly key: string;
}

/** Finds the dependents of an owner by its uid, of any kind. */
export class OwnerIndex {
  readonly #dependents = new Map<string, Map<string, StoredAt>>();

  constructor(log: MvccLog) {
    log.subscribe((entry) => this.#follow(entry));
  }

  /** Returns the locations of the objects with an owner reference to `uid`. */
  dependentsOf(uid: string): readonly StoredAt[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  #follow({ type, collection, key, object, previous }: LogEntry): void {
    const before = previous === undefined ? [] : ownersOf(previous);
    const after = type === 'DELETED' ? [] : ownersOf(object);
    if (before.length === 0 && after.length === 0) return;
    const id = `${collection} ${key}`;
    for (const uid of before) if (!after.includes(uid)) this.#remove(uid, id);
    for (const uid of after) {
      const dependents = this.#dependents.get(uid) ?? new Map<string, StoredAt>();
      this.#dependents.set(uid, dependents);
      dependents.set(id, { collection, key });
    }
  }

  #remove(uid: string, id: string): void {
    const dependents = this.#dependents.get(uid);
    dependents?.delete(id);
    if (dependents?.size === 0) this.#dependents.delete(uid);
  }
}

function ownersOf({ metadata }: UnstructuredObject): readonly string[] {
  return (metadata.ownerReferences ?? []).map(({ uid }) => uid);
}
