import type { ObjectReference } from '../object/object-reference.js';
import { groupOf } from '../object/resource-type.js';

/** What the {@link InternalStore} tells objects apart by. Versions of one API name one object. */
export type StoredReference = Pick<ObjectReference, 'apiVersion' | 'kind' | 'namespace' | 'name'>;

/**
 * The desired state in the abstract: which objects there should be, by group, kind, namespace and
 * name. Pruning deletes what an owner has and its store does not name.
 */
export class InternalStore {
  readonly #references = new Map<string, StoredReference>();

  /** Notes that the object is desired. @returns false where it was noted before. */
  put(reference: StoredReference): boolean {
    const key = storeKey(reference);
    if (this.#references.has(key)) return false;
    const { apiVersion, kind, namespace, name } = reference;
    this.#references.set(key, { apiVersion, kind, namespace, name });
    return true;
  }

  /** Whether the object is desired. */
  has(reference: StoredReference): boolean {
    return this.#references.has(storeKey(reference));
  }

  /** Every desired object, in the order in which they were put. */
  references(): readonly StoredReference[] {
    return [...this.#references.values()];
  }

  /** The kinds that are desired under each name: a Service and a ConfigMap may share one. */
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
