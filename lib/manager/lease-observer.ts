import type { Lease } from '../object/kinds.js';
import type { Clock } from '../system/clock.js';
import { leaseRecordOf } from './lease-record.js';

/**
 * Decides from its own observations whether the holder of a Lease is alive. A holder counts as alive for its
 * lease duration after a new record is first seen. Only this process' monotonic clock counts, so clocks that
 * differ or jump do no harm.
 */
export class LeaseObserver {
  readonly #clock: Clock;
  readonly #defaultDurationMs: number;
  #seen = '';
  #seenMs = 0;
  #durationMs = 0;
  #holder = '';

  /** @param defaultDurationMs - duration of a Lease that has no duration field */
  constructor(clock: Clock, defaultDurationMs: number) {
    this.#clock = clock;
    this.#defaultDurationMs = defaultDurationMs;
  }

  /** The holder last seen; `''` if the Lease is free. */
  get holder(): string {
    return this.#holder;
  }

  /** Milliseconds until the holder's lease expires; 0 if it has expired or the Lease is free. */
  get remainingMs(): number {
    if (this.#holder === '') return 0;
    return Math.max(0, this.#seenMs + this.#durationMs - this.#clock.monotonicMs());
  }

  /**
   * Records the server's latest response. A deleted Lease changes nothing: its holder may not have noticed.
   */
  observe(lease: Lease): void {
    // Only the spec counts: a changed label is not a renewal.
    const seen = JSON.stringify(lease.spec ?? null);
    if (seen === this.#seen) return;
    const { holder, durationMs = this.#defaultDurationMs } = leaseRecordOf(lease);
    this.#seen = seen;
    this.#seenMs = this.#clock.monotonicMs();
    this.#holder = holder;
    this.#durationMs = durationMs;
  }
}
