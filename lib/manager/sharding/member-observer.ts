import type { MemberLease } from './member-lease.js';

interface Seen {
  readonly version: string;
  readonly sinceMs: number;
  readonly durationMs: number;
}

/**
 * Decides by this process' own clock which Leases have expired: those seen unchanged for a whole lease
 * duration. The duration is this process' own, or a longer one in the Lease, as during the rollout of another
 * release. The holder is fenced before that: its fence starts when it sends a renewal, this duration when the
 * renewal is observed.
 */
export class MemberObserver {
  readonly #leaseDurationMs: number;
  readonly #seen = new Map<string, Seen>();

  constructor(leaseDurationMs: number) {
    this.#leaseDurationMs = leaseDurationMs;
  }

  /** Records the Leases of a list, and which of `expected` are missing. */
  observe(leases: readonly MemberLease[], expected: Iterable<string>, nowMs: number): void {
    const found = new Map(leases.map((lease) => [lease.name, lease]));
    const names = new Set([...expected, ...found.keys()]);
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name);
    for (const name of names) {
      const lease = found.get(name);
      const version = lease === undefined ? 'missing' : `${lease.uid}/${lease.resourceVersion}`;
      const before = this.#seen.get(name);
      if (before?.version === version) continue;
      // A deleted Lease keeps its last duration.
      const durationMs = this.#durationMs(lease, before);
      this.#seen.set(name, { version, sinceMs: nowMs, durationMs });
    }
  }

  /** Returns whether the Lease, or its absence, is unchanged for a lease duration. */
  isExpired(name: string, nowMs: number): boolean {
    return this.expiresAtMs(name) <= nowMs;
  }

  /** Returns the time at which it expires unless it changes; Infinity if it was never seen. */
  expiresAtMs(name: string): number {
    const seen = this.#seen.get(name);
    return seen === undefined ? Infinity : seen.sinceMs + seen.durationMs;
  }

  #durationMs(lease: MemberLease | undefined, before: Seen | undefined): number {
    const own = this.#leaseDurationMs;
    if (lease === undefined) return before?.durationMs ?? own;
    // Leases store whole seconds, rounded up; compare with ours in the same way.
    return lease.durationMs > Math.ceil(own / 1_000) * 1_000 ? lease.durationMs : own;
  }
}
