import type { Document } from '../document.js';
import type { Delta } from './delta.js';
import { documentKey } from './document-key.js';

/** A document of a Z-set. */
export interface ZSetEntry {
  readonly key: string;
  readonly document: Document;
  /** How many times it is there; below 0: how many times it is missing. Never 0. */
  readonly weight: number;
}

/**
 * A set of documents with weights: changes are Z-sets too, and adding them up gives what is there.
 * Equal documents are one entry (see `documentKey`); an entry of weight 0 is none.
 */
export class ZSet {
  readonly #entries = new Map<string, ZSetEntry>();

  constructor(deltas: Iterable<Delta> = []) {
    this.integrate(deltas);
  }

  /** How many different documents have a weight. */
  get size(): number {
    return this.#entries.size;
  }

  /** The weight of a document, 0 if it is not there. */
  weightOf(document: Document): number {
    return this.#entries.get(documentKey(document))?.weight ?? 0;
  }

  /** The entry of a key, if there is one. */
  get(key: string): ZSetEntry | undefined {
    return this.#entries.get(key);
  }

  /** In the order in which they came. */
  entries(): IterableIterator<ZSetEntry> {
    return this.#entries.values();
  }

  /** Adds a change to this set. Returns the new entry, undefined where nothing is left. */
  add({ document, weight, key = documentKey(document) }: Delta): ZSetEntry | undefined {
    const known = this.#entries.get(key);
    const sum = (known?.weight ?? 0) + weight;
    if (sum === 0) {
      this.#entries.delete(key);
      return undefined;
    }
    const entry = { key, document: known?.document ?? document, weight: sum };
    this.#entries.set(key, entry);
    return entry;
  }

  /** Adds changes to this set. */
  integrate(deltas: Iterable<Delta>): void {
    for (const delta of deltas) this.add(delta);
  }

  /** The sum of both, as a new set. */
  plus(other: ZSet): ZSet {
    const sum = new ZSet(this.entries());
    sum.integrate(other.entries());
    return sum;
  }

  /** What must be added to `other` to get this one, as a new set. */
  minus(other: ZSet): ZSet {
    return this.plus(other.negated());
  }

  /** Every weight the other way round, as a new set. */
  negated(): ZSet {
    return this.#mapped((weight) => -weight);
  }

  /** Once what is there at all; without what is missing. A new set. */
  distinct(): ZSet {
    return this.#mapped((weight) => (weight > 0 ? 1 : 0));
  }

  #mapped(weightFor: (weight: number) => number): ZSet {
    const mapped = new ZSet();
    for (const entry of this.entries()) {
      const weight = weightFor(entry.weight);
      if (weight !== 0) mapped.add({ ...entry, weight });
    }
    return mapped;
  }
}

/** The sum of changes: one for each document that does change; deletes before upserts. */
export function netDeltas(deltas: Iterable<Delta>): readonly ZSetEntry[] {
  const sum = [...new ZSet(deltas).entries()];
  return [...sum.filter(({ weight }) => weight < 0), ...sum.filter(({ weight }) => weight > 0)];
}
