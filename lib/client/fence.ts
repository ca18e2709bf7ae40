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
}
