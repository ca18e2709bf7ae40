/**
 * Says whether a process may still write: it holds a lease, and the lease is fresh. Asked right
 * before a write is put on the wire, each time that it is sent: whatever waited on the way there
 * (a rate limit, a retry, new credentials, a stopped process) is too late then.
 */
export interface Fence {
  /**
   * Returns when a write may start now.
   * @throws OperatorError `Fenced`: it may not; nothing was sent.
   */
  check(what: string): void;
  /**
   * Aborted when no write may start any more, ever: those under way are given up (they may have been
   * carried out), and what waits to be sent again ends at once. Absent: they go on.
   */
  readonly lost?: AbortSignal | undefined;
  /**
   * The fence for a call that begins now. Where the right to write can be lost and won again, it is
   * bound to the present term: a call of an earlier one stays refused. Absent: this very fence.
   */
  term?(): Fence;
}
