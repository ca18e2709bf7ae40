/**
 * Resolves on the next turn of the event loop, after pending I/O. Long work that only awaits promises would
 * starve timers and sockets.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
