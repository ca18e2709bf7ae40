import type { Document } from '../document.js';

/** A change of a Z-set: a document that comes (above 0) or goes (below 0), so many times. */
export interface Delta {
  readonly document: Document;
  /** A whole number, not 0. */
  readonly weight: number;
  /** The key of the document (`documentKey`), where it is known already: it is not worked out again. */
  readonly key?: string;
}

/** What turns changes of inputs into changes of an output; it keeps what it needs to know. */
export interface IncrementalNode {
  /**
   * Takes in changes of one input, and returns how the output changes; the same document may come and
   * go in it, who keeps it adds that up. Its cost is that of what the changes touch.
   * @param input - the number of the input, from 0
   */
  push(input: number, deltas: readonly Delta[]): readonly Delta[];
}
