import { hash } from 'node:crypto';
import { deepFreeze } from '../../object/deep-freeze.js';
import { LazyList, plainBytes } from '../../object/known-list.js';
import { canonicalText } from './document-key.js';

/** Deeper items are not looked through. */
const deepest = 50;

/**
 * What is known of a sorted list, kept up as its items come and go: the order follows from what they are,
 * so that a sum of their digests stands for the list.
 */
export class ListSum {
  #digest = 0n;
  #bytes = 2;
  /** How many items are no plain JSON, or have nulls in maps. */
  #odd = 0;

  constructor(items: readonly unknown[]) {
    for (const item of items) this.count(item, 1);
  }

  /** @param weight - 1: it came, -1: it went */
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

  /** The list, as long as something is known of it. @param make - gives its items, which are frozen */
  list(length: number, make: () => readonly unknown[]): LazyList | undefined {
    const digest = `${length}/${this.#digest.toString(36)}`;
    return this.#odd > 0 ? undefined : new LazyList({ digest, bytes: this.#bytes }, make);
  }
}
