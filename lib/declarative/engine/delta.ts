import type { Document } from '../document.js';

/** A change of a Z-set: a document that comes (above 0) or goes (below 0), so many times. */
export interface Delta {
  readonly document: Document;
  /** A whole number, not 0. */
  readonly weight: number;
}

/** What turns changes of inputs into changes of an output; it keeps what it needs to know. */
export interface IncrementalNode {
  /**
   * Takes in changes of one input, and returns how the output changes; those that cancel each other
   * out are not in it. Its cost is that of what the changes touch.
   * @param input - the number of the input, from 0
   */
  push(input: number, deltas: readonly Delta[]): readonly Delta[];
}
