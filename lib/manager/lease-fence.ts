import type { Fence } from '../client/client.js';
import type { Clock, Timer } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';

/** A moment on clocks that cannot be set. */
export interface Moment {
  readonly monotonicMs: number;
  /** Undefined if the clock does not measure it. */
  readonly uptimeMs: number | undefined;
}

/** Returns the current moment. */
export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), uptimeMs: clock.uptimeMs?.() };
}

/**
 * Returns the milliseconds since `moment`, including time while the process was stopped or the machine slept.
 */
export function elapsedMs(clock: Clock, moment: Moment): number {
  const monotonicMs = clock.monotonicMs() - moment.monotonicMs;
  if (moment.uptimeMs === undefined || clock.uptimeMs === undefined) return monotonicMs;
  return Math.max(monotonicMs, clock.uptimeMs() - moment.uptimeMs);
}

/** Options of {@link LeaseFence}. */
export interface LeaseFenceOptions {
  readonly clock: Clock;
  /** Time that a renewal permits writes, from the start of its request, in milliseconds. */
  readonly validMs: number;
  /** Name of the Lease, for messages. */
  readonly lease: string;
}

/**
 * The fence of one term. It is open for `validMs` from the start of the last successful renewal. Once
 * {@link LeaseFence.close | closed}, it does not open again.
 */
export class LeaseFence implements Fence {
  readonly #options: LeaseFenceOptions;
  readonly #lost = new AbortController();
  #renewed: Moment;

  /** @param acquired - start of the request that acquired the Lease */
  constructor(options: LeaseFenceOptions, acquired: Moment) {
    this.#options = options;
    this.#renewed = acquired;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Remaining time in which writes may start, in milliseconds; 0 if the fence is closed. */
  get remainingMs(): number {
    if (this.#lost.signal.aborted) return 0;
    const { clock, validMs } = this.#options;
    return Math.max(0, validMs - elapsedMs(clock, this.#renewed));
  }

  check(what: string): void {
    if (this.remainingMs > 0) return;
    const { lease, validMs } = this.#options;
    const cause: unknown = this.#lost.signal.aborted ? this.#lost.signal.reason : undefined;
    const why = cause === undefined ? `it was not renewed for ${validMs} ms` : 'it was lost';
    const message = `${what}: not sent, because Lease ${lease} is no longer held: ${why}`;
    throw new OperatorError('Fenced', message, { cause });
  }

  /**
   * Records a successful renewal. @param started - start of its request: the server may have granted it at
   * that moment.
   * @returns false if the renewal came too late: the fence had closed
   */
  renew(started: Moment): boolean {
    if (this.remainingMs === 0) return false;
    this.#renewed = started;
    return this.remainingMs > 0;
  }

  /** Closes the fence permanently and aborts the running writes. */
  close(reason: OperatorError): void {
    this.#lost.abort(reason);
  }
}

/** Returns a fence that refuses every write, for a process that does not lead. */
export function closedFence(lease: string): Fence {
  return {
    check: (what) => {
      throw new OperatorError('Fenced', `${what}: not sent, for Lease ${lease} is not held`);
    },
  };
}

/** Aborts a leader's waits when its lease expires. */
export class LeaseDeadline {
  readonly #clock: Clock;
  readonly #fence: LeaseFence;
  readonly #over: AbortController;
  #timer: Timer | undefined;

  /** @param over - aborted when `fence` closes */
  constructor(clock: Clock, fence: LeaseFence, over: AbortController) {
    this.#clock = clock;
    this.#fence = fence;
    this.#over = over;
    this.restart();
  }

  /** Restarts the timer after a renewal of the fence. */
  restart(): void {
    this.stop();
    this.#timer = this.#clock.setTimer(() => this.#over.abort(), this.#fence.remainingMs);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** @throws OperatorError `LeadershipLost`: the lease has expired. */
  check(): void {
    if (this.#fence.remainingMs > 0) return;
    throw new OperatorError('LeadershipLost', 'it was not renewed in time');
  }
}
