import { defaultFields, dropNulls, prune } from '../../crd/validation/prune.js';
import { deepEqual } from '../../object/deep-equal.js';
import { deepFreeze } from '../../object/deep-freeze.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { versionOf } from '../../object/resource-type.js';
import type { Schema } from '../../object/schema.js';
import { withoutMembers } from '../without-members.js';
import type { Crd } from './crd.js';

/**
 * Adapts stored custom resources to their current CRD: an object may be older than the schema, or
 * come from another version.
 */
export class StoredObjects {
  readonly #schemas: ReadonlyMap<string, Schema | undefined>;
  /** Objects with a later resourceVersion were written with these schemas. */
  readonly #since: number;
  readonly #read = new WeakMap<UnstructuredObject, UnstructuredObject>();

  constructor({ metadata, spec }: Crd) {
    this.#schemas = new Map(
      spec.versions.map(({ name, schema }) => [name, schema?.openAPIV3Schema]),
    );
    this.#since = Number(metadata.resourceVersion ?? '0');
  }

  /**
   * Returns a stored object as clients read it: pruned and with the defaults of its stored version.
   * @returns `stored` itself if nothing changes
   */
  read(stored: UnstructuredObject): UnstructuredObject {
    if (this.#isCurrent(stored)) return stored;
    return keptFor(this.#read, stored, () => this.#fitted(stored, defaultFields));
  }

  /** Adapts an object after its conversion: it is pruned by its new version, without defaults. */
  converted(object: UnstructuredObject): UnstructuredObject {
    return this.#fitted(object, dropNulls);
  }

  /**
   * Returns whether an object was written with the current schema. It needs a single version, so
   * that the write used the same schema as the read.
   */
  #isCurrent({ metadata }: UnstructuredObject): boolean {
    return this.#schemas.size === 1 && Number(metadata.resourceVersion ?? '0') > this.#since;
  }

  #fitted(
    object: UnstructuredObject,
    fit: (value: unknown, schema: Schema) => void,
  ): UnstructuredObject {
    const schema = this.#schemas.get(versionOf(object.apiVersion));
    if (schema === undefined) return object;
    const rest = withoutMembers(object, 'apiVersion', 'kind', 'metadata');
    const { value } = prune(rest, schema);
    fit(value, schema);
    if (deepEqual(value, rest)) return object;
    const { apiVersion, kind, metadata } = object;
    return { apiVersion, kind, metadata, ...(value as object) };
  }
}

/**
 * Returns the result of `make` for `object`, and caches it if `object` is frozen. An object that is
 * not frozen may still change.
 */
export function keptFor(
  known: WeakMap<UnstructuredObject, UnstructuredObject>,
  object: UnstructuredObject,
  make: () => UnstructuredObject,
): UnstructuredObject {
  const before = known.get(object);
  if (before !== undefined) return before;
  const made = make();
  if (Object.isFrozen(object)) known.set(object, deepFreeze(made));
  return made;
}
