import { hash } from 'node:crypto';
import { deepFreeze } from '../../object/deep-freeze.js';
import { LazyList, plainBytes } from '../../object/known-list.js';
import { canonicalText } from './document-key.js';

/** Deeper items are not examined. */
const deepest = 50;

/**
 * Digest and size of a sorted list, updated as items are added and removed. The items determine their order,
 * so the sum of their digests identifies the list.
 */
export class ListSum {
  #digest = 0n;
  #bytes = 2;
  /** Number of items that are not plain JSON, or have nulls in maps. */
  #odd = 0;

  constructor(items: readonly unknown[]) {
    for (const item of items) this.count(item, 1);
  }

  /** @param weight - 1: the item was added, -1: it was removed */
  count(item: unknown, weight: 1 | -1): void {
    const bytes = plainBytes(deepFreeze(item), deepest);
    if (Number.isNaN(bytes)) {
      this.#odd += weight;
      return;
    }
    this.#bytes += weight * (bytes + 1);
    const digest = BigInt(`0x${hash('sha256', canonicalText(item), 'hex')}`);
    this.#digest += weight > 0 ? digest : -digest;
  }

  /** Returns the list if its digest is known. @param make - returns its items, which are frozen */
  list(length: number, make: () => readonly unknown[]): LazyList | undefined {
    const digest = `${length}/${this.#digest.toString(36)}`;
    return this.#odd > 0 ? undefined : new LazyList({ digest, bytes: this.#bytes }, make);
  }
}
