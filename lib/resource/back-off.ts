import type { Random } from '../system/random.js';

/** Yields the delays between the attempts of one operation. Make a new one for each operation. */
export interface BackOff {
  /** Returns the milliseconds to wait before the next attempt; undefined ends the attempts. */
  next(): number | undefined;
}

/** Makes a {@link BackOff}. `random` spreads the delays. */
export type BackOffFactory = (random?: Random) => BackOff;
