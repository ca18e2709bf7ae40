/**
 * Resolves on the next turn of the event loop, after pending I/O. Long work that only awaits promises would
 * starve timers and sockets.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Longest time that {@link turnIfDue} lets promises run before the event loop turns, in milliseconds. */
const longestTurnMs = 10;

let turnBeganMs: number | undefined;

/**
 * Returns a promise of the next turn of the event loop if the current turn has lasted more than 10 ms;
 * undefined if it has not. A loop that calls it between its steps lets timers and sockets work meanwhile: a
 * Lease is renewed, although a thousand reconciles wait for nothing but the cache.
 */
export function turnIfDue(): Promise<void> | undefined {
  const nowMs = performance.now();
  if (turnBeganMs !== undefined) {
    return nowMs - turnBeganMs > longestTurnMs ? nextTurn() : undefined;
  }
  turnBeganMs = nowMs;
  setImmediate(() => (turnBeganMs = undefined));
  return undefined;
}
