import type { Document } from '../document.js';

/**
 * A change of a Z-set: a document that is added (weight above 0) or removed (below 0), with its multiplicity.
 */
export interface Delta {
  readonly document: Document;
  /** An integer, not 0. */
  readonly weight: number;
  /** The key of the document (`documentKey`), if already known; avoids computing it again. */
  readonly key?: string;
}

/** A node that turns changes of inputs into changes of an output, and keeps the state it needs. */
export interface IncrementalNode {
  /**
   * Processes changes of one input and returns the changes of the output. The output may add and remove the
   * same document; the receiver sums the weights. The cost is proportional to what the changes affect.
   * @param input - the number of the input, from 0
   */
  push(input: number, deltas: readonly Delta[]): readonly Delta[];
}
