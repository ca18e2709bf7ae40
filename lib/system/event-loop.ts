/**
 * Resolves on the next turn of the event loop, after pending I/O had its chance: for long runs of
 * work that would otherwise only ever wait for promises and starve timers and sockets.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
