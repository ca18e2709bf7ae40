import type { Random } from '../system/random.js';

/** The waits of something that is tried again; made anew for each attempt at the whole. */
export interface BackOff {
  /** The milliseconds to wait before the next try; undefined: give up. */
  next(): number | undefined;
}

/** Makes a {@link BackOff}; it is handed the chance to spread the waits by. */
export type BackOffFactory = (random?: Random) => BackOff;
