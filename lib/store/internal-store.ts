import type { ObjectReference } from '../object/index.js';
import { groupOf } from '../object/index.js';

/**
 * The fields that identify an object in {@link InternalStore}. All versions of one API identify the same
 * object.
 */
export type StoredReference = Pick<ObjectReference, 'apiVersion' | 'kind' | 'namespace' | 'name'>;

/**
 * The desired objects, by group, kind, namespace and name. Pruning deletes the owned objects that the store
 * does not contain.
 */
export class InternalStore {
  readonly #references = new Map<string, StoredReference>();

  /** Marks the object as desired. @returns false if it was already marked */
  put(reference: StoredReference): boolean {
    const key = storeKey(reference);
    if (this.#references.has(key)) return false;
    const { apiVersion, kind, namespace, name } = reference;
    this.#references.set(key, { apiVersion, kind, namespace, name });
    return true;
  }

  /** Returns true if the object is desired. */
  has(reference: StoredReference): boolean {
    return this.#references.has(storeKey(reference));
  }

  /** Returns every desired object, in order of insertion. */
  references(): readonly StoredReference[] {
    return [...this.#references.values()];
  }

  /** The desired kinds by object name: a Service and a ConfigMap may share a name. */
  get objectNameKind(): ReadonlyMap<string, readonly string[]> {
    const kinds = new Map<string, readonly string[]>();
    for (const { name, kind } of this.#references.values()) {
      kinds.set(name, [...(kinds.get(name) ?? []), kind]);
    }
    return kinds;
  }
}

function storeKey({ apiVersion, kind, namespace = '', name }: StoredReference): string {
  return [groupOf(apiVersion), kind, namespace, name].join('/');
}
