import type { MemberLease } from './member-lease.js';

/**
 * Judges by this process' own clock which Leases expired: those that were seen unchanged for a whole
 * lease duration. Whoever holds one was fenced off before that: the duration begins when this
 * process learnt of the renewal, its fence when the renewal was begun.
 */
export class MemberObserver {
  readonly #leaseDurationMs: number;
  readonly #seen = new Map<string, { version: string; sinceMs: number }>();

  constructor(leaseDurationMs: number) {
    this.#leaseDurationMs = leaseDurationMs;
  }

  /** Takes note of what a list answered, or that a Lease of `expected` is missing in it. */
  observe(leases: readonly MemberLease[], expected: Iterable<string>, nowMs: number): void {
    const versions = new Map<string, string>();
    for (const name of expected) versions.set(name, 'missing');
    for (const { name, uid, resourceVersion } of leases) {
      versions.set(name, `${uid}/${resourceVersion}`);
    }
    for (const name of this.#seen.keys()) if (!versions.has(name)) this.#seen.delete(name);
    for (const [name, version] of versions) {
      if (this.#seen.get(name)?.version === version) continue;
      this.#seen.set(name, { version, sinceMs: nowMs });
    }
  }

  /** Whether the Lease, or its absence, is as it was a lease duration ago. */
  isExpired(name: string, nowMs: number): boolean {
    return this.expiresAtMs(name) <= nowMs;
  }

  /** When it will have expired unless it changes; Infinity: it was not seen. */
  expiresAtMs(name: string): number {
    const seen = this.#seen.get(name);
    return seen === undefined ? Infinity : seen.sinceMs + this.#leaseDurationMs;
  }
}
