/** The waits of something that is tried again; made anew for each attempt at the whole. */
export interface BackOff {
  /** The milliseconds to wait before the next try; undefined: give up. */
  next(): number | undefined;
}

/** Makes a {@link BackOff}. */
export type BackOffFactory = () => BackOff;
