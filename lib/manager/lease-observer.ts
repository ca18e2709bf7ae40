import type { Lease } from '../object/kinds.js';
import type { Clock } from '../system/clock.js';
import { leaseRecordOf } from './lease-record.js';

/**
 * Judges a Lease by what this process saw of it: its holder is alive for as long as it promised, from
 * the moment on at which its record was first seen as it is. No clock but this process' own monotonic
 * one counts, so that clocks that differ, or jump, do no harm.
 */
export class LeaseObserver {
  readonly #clock: Clock;
  readonly #defaultDurationMs: number;
  #seen = '';
  #seenMs = 0;
  #durationMs = 0;
  #holder = '';

  /** @param defaultDurationMs - what a Lease that names no duration is taken to promise. */
  constructor(clock: Clock, defaultDurationMs: number) {
    this.#clock = clock;
    this.#defaultDurationMs = defaultDurationMs;
  }

  /** The holder that was seen last; `''`: nobody. */
  get holder(): string {
    return this.#holder;
  }

  /** Milliseconds until the holder's time is over; 0: it is, or nobody holds the Lease. */
  get remainingMs(): number {
    if (this.#holder === '') return 0;
    return Math.max(0, this.#seenMs + this.#durationMs - this.#clock.monotonicMs());
  }

  /**
   * Takes note of what the server answered just now. A Lease that is gone changes nothing: its holder
   * may not know yet.
   */
  observe(lease: Lease): void {
    // The spec and no more: a label is no sign of life.
    const seen = JSON.stringify(lease.spec ?? null);
    if (seen === this.#seen) return;
    const { holder, durationMs = this.#defaultDurationMs } = leaseRecordOf(lease);
    this.#seen = seen;
    this.#seenMs = this.#clock.monotonicMs();
    this.#holder = holder;
    this.#durationMs = durationMs;
  }
}
