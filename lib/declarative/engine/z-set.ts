import type { Document } from '../document.js';
import type { Delta } from './delta.js';
import { documentKey } from './document-key.js';

/** A document of a Z-set. */
export interface ZSetEntry {
  readonly key: string;
  readonly document: Document;
  /** Multiplicity of the document; a negative weight is a missing document. Never 0. */
  readonly weight: number;
}

/**
 * A set of documents with weights. Changes are Z-sets too; their sum is the current set. Equal documents
 * share one entry (see `documentKey`); entries of weight 0 are removed.
 */
export class ZSet {
  readonly #entries = new Map<string, ZSetEntry>();

  constructor(deltas: Iterable<Delta> = []) {
    this.integrate(deltas);
  }

  /** Number of different documents. */
  get size(): number {
    return this.#entries.size;
  }

  /** Returns the weight of a document, 0 if it is absent. */
  weightOf(document: Document): number {
    return this.#entries.get(documentKey(document))?.weight ?? 0;
  }

  /** Returns the entry of a key, if present. */
  get(key: string): ZSetEntry | undefined {
    return this.#entries.get(key);
  }

  /** Returns the entries in order of insertion. */
  entries(): IterableIterator<ZSetEntry> {
    return this.#entries.values();
  }

  /** Adds a change to this set. Returns the new entry, undefined if its weight is 0. */
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

  /** Returns the sum of both as a new set. */
  plus(other: ZSet): ZSet {
    const sum = new ZSet(this.entries());
    sum.integrate(other.entries());
    return sum;
  }

  /** Returns the difference to `other` as a new set. */
  minus(other: ZSet): ZSet {
    return this.plus(other.negated());
  }

  /** Returns a new set with all weights negated. */
  negated(): ZSet {
    return this.#mapped((weight) => -weight);
  }

  /** Returns a new set with weight 1 for each document of positive weight. */
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

/** Returns the sum of changes: one per changed document, deletes before upserts. */
export function netDeltas(deltas: Iterable<Delta>): readonly ZSetEntry[] {
  const sum = [...new ZSet(deltas).entries()];
  return [...sum.filter(({ weight }) => weight < 0), ...sum.filter(({ weight }) => weight > 0)];
}
