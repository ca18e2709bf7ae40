import type { Client } from '../client/index.js';
import { hashObject } from '../hash/index.js';
import { fieldElement, appliedFields, keyOf, keyStringOf } from '../object/index.js';
import type { FieldSet, UnstructuredObject } from '../object/index.js';
import { appliedDifferences } from './applied-differences.js';
import type { AppliedDifference, ManagedPart } from './applied-differences.js';
import { asNew, withVersion } from './context.js';
import { emptiedFields, emptyingPatch } from './removed-fields.js';

/** A live object, undefined if it does not exist, and its desired state. */
export interface LiveAndDesired {
  readonly live: UnstructuredObject | undefined;
  readonly desired: UnstructuredObject;
}

/**
 * Applies one part of objects under one field manager, if the apply would change it. The desired object has
 * exactly the fields that the manager is to own: the builder's labels, owner reference and hash are not
 * added.
 */
export class AppliedPart {
  readonly #part: ManagedPart;
  /**
   * Hashes, by object, of the differences that remain after an apply, because the server spells values
   * differently.
   */
  readonly #left = new Map<string, string>();

  constructor(part: ManagedPart) {
    this.#part = part;
  }

  /** Whether the manager has applied any field of `live`. */
  isIn(live: UnstructuredObject): boolean {
    return this.#appliedTo(live) !== undefined;
  }

  /** Whether the manager has applied the member `name` of `live` or a part of it. */
  has(live: UnstructuredObject, name: string): boolean {
    return this.#appliedTo(live)?.root[fieldElement(name)] !== undefined;
  }

  #appliedTo(live: UnstructuredObject): FieldSet | undefined {
    const { manager, subresource } = this.#part;
    return appliedFields(live, manager, { subresource });
  }

  /** Whether an apply of `desired` would change nothing, as far as is known. */
  isCurrent(live: UnstructuredObject, desired: UnstructuredObject): boolean {
    const differences = appliedDifferences(live, desired, this.#part);
    if (differences.length === 0) return true;
    return hashOf(live, desired, differences) === this.#left.get(keyStringOf(desired));
  }

  /**
   * Applies `desired`. Fields that were applied before and are not in it are removed. If the object was
   * written or created since it was read, the apply is a conflict. This also stops the late write of a former
   * leader.
   * @returns the resulting object: `live` itself if it is up to date
   * @throws ApiError `isStaleWrite`: the object was changed, created, or deleted since it was read
   */
  async apply(
    { live, desired }: LiveAndDesired,
    { client, signal }: { readonly client: Client; readonly signal: AbortSignal },
  ): Promise<UnstructuredObject> {
    if (live !== undefined && this.isCurrent(live, desired)) return live;
    const { manager, subresource } = this.#part;
    const part = subresource === '' ? {} : { subresource };
    const options = { fieldManager: manager, signal, ...part };
    const emptied = live === undefined ? [] : emptiedFields(live, desired, this.#part);
    const ready =
      live === undefined || emptied.length === 0
        ? live
        : await client.patch(desired, keyOf(live), emptyingPatch(live, emptied), options);
    const guarded = ready === undefined ? asNew(desired) : withVersion(desired, ready);
    const { object } = await client.apply(guarded, { ...options, force: true });
    const left = appliedDifferences(object, desired, this.#part);
    if (left.length === 0) this.forget(desired);
    else this.#left.set(keyStringOf(desired), hashOf(object, desired, left));
    return object;
  }

  /** Discards the state of an object that is no longer desired. */
  forget(desired: UnstructuredObject): void {
    this.#left.delete(keyStringOf(desired));
  }
}

function hashOf(
  live: UnstructuredObject,
  desired: UnstructuredObject,
  differences: readonly AppliedDifference[],
): string {
  return hashObject([live.metadata.uid, desired, differences]);
}
