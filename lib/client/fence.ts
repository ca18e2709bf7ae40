/**
 * Decides whether a process may still write: it holds a lease, and the lease is fresh. The client checks
 * right before each attempt of a write is sent, so that a delay before it (a rate limit, a retry, new
 * credentials, a stopped process) cannot outlast the lease.
 */
export interface Fence {
  /**
   * Returns normally if a write may start now.
   * @throws OperatorError `Fenced`: it may not; nothing was sent.
   */
  check(what: string): void;
  /**
   * Aborted when no write may start again. Writes under way are aborted (the server may have carried them
   * out), and waiting retries end at once. Absent: both continue.
   */
  readonly lost?: AbortSignal | undefined;
  /**
   * Returns the fence for a call that begins now. If the right to write can be lost and regained, the fence
   * is bound to the current term: calls of an earlier term stay refused. Absent: this fence itself.
   */
  term?(): Fence;
}
