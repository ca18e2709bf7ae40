import type { MemberLease } from './member-lease.js';

interface Seen {
  readonly version: string;
  readonly sinceMs: number;
  readonly durationMs: number;
}

/**
 * Judges by this process' own clock which Leases expired: those that were seen unchanged for a whole
 * lease duration: this process' own, or a longer one that their members promise, as those of another
 * release do while it is rolled out. Whoever holds one was fenced off before that: the duration begins when this
 * process learnt of the renewal, its fence when the renewal was begun.
 */
export class MemberObserver {
  readonly #leaseDurationMs: number;
  readonly #seen = new Map<string, Seen>();

  constructor(leaseDurationMs: number) {
    this.#leaseDurationMs = leaseDurationMs;
  }

  /** Takes note of what a list answered, or that a Lease of `expected` is missing in it. */
  observe(leases: readonly MemberLease[], expected: Iterable<string>, nowMs: number): void {
    const found = new Map(leases.map((lease) => [lease.name, lease]));
    const names = new Set([...expected, ...found.keys()]);
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name);
    for (const name of names) {
      const lease = found.get(name);
      const version = lease === undefined ? 'missing' : `${lease.uid}/${lease.resourceVersion}`;
      const before = this.#seen.get(name);
      if (before?.version === version) continue;
      // A Lease that has vanished promises what it promised.
      const durationMs = this.#durationMs(lease, before);
      this.#seen.set(name, { version, sinceMs: nowMs, durationMs });
    }
  }

  /** Whether the Lease, or its absence, is as it was a lease duration ago. */
  isExpired(name: string, nowMs: number): boolean {
    return this.expiresAtMs(name) <= nowMs;
  }

  /** When it will have expired unless it changes; Infinity: it was not seen. */
  expiresAtMs(name: string): number {
    const seen = this.#seen.get(name);
    return seen === undefined ? Infinity : seen.sinceMs + seen.durationMs;
  }

  #durationMs(lease: MemberLease | undefined, before: Seen | undefined): number {
    const own = this.#leaseDurationMs;
    if (lease === undefined) return before?.durationMs ?? own;
    // It stands there in whole seconds, rounded up: as our own does.
    return lease.durationMs > Math.ceil(own / 1_000) * 1_000 ? lease.durationMs : own;
  }
}
