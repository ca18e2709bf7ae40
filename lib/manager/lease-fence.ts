import type { Fence } from '../client/fence.js';
import type { Clock } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';

/** A moment, by the clocks that no one sets. */
export interface Moment {
  readonly monotonicMs: number;
  /** Undefined where the clock has none. */
  readonly uptimeMs: number | undefined;
}

/** This moment. */
export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), uptimeMs: clock.uptimeMs?.() };
}

/** Milliseconds since `moment`, those included for which the process was stopped or the machine slept. */
export function elapsedMs(clock: Clock, moment: Moment): number {
  const monotonicMs = clock.monotonicMs() - moment.monotonicMs;
  if (moment.uptimeMs === undefined || clock.uptimeMs === undefined) return monotonicMs;
  return Math.max(monotonicMs, clock.uptimeMs() - moment.uptimeMs);
}

/** Options of {@link LeaseFence}. */
export interface LeaseFenceOptions {
  readonly clock: Clock;
  /** For how long a renewal lets writes start, from its own start on, in milliseconds. */
  readonly validMs: number;
  /** The Lease, for messages. */
  readonly lease: string;
}

/**
 * The fence of one term: open for `validMs` from the start of the last successful renewal, then shut;
 * once {@link LeaseFence.close | closed}, for ever.
 */
export class LeaseFence implements Fence {
  readonly #options: LeaseFenceOptions;
  readonly #lost = new AbortController();
  #renewed: Moment;

  /** @param acquired - when the request that acquired the Lease was begun. */
  constructor(options: LeaseFenceOptions, acquired: Moment) {
    this.#options = options;
    this.#renewed = acquired;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** For how long writes may start from now on, in milliseconds; 0: no longer. */
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
    const message = `${what}: not sent, for Lease ${lease} is not held any more: ${why}`;
    throw new OperatorError('Fenced', message, { cause });
  }

  /**
   * Counts a renewal that the server granted. @param started - when its request was begun: the server
   * may have granted it right then.
   * @returns false: it came too late, the fence had shut.
   */
  renew(started: Moment): boolean {
    if (this.remainingMs === 0) return false;
    this.#renewed = started;
    return this.remainingMs > 0;
  }

  /** Shuts it for ever, and ends the writes that are under way. */
  close(reason: OperatorError): void {
    this.#lost.abort(reason);
  }
}

/** A fence that lets nothing through: nobody leads. */
export function closedFence(lease: string): Fence {
  return {
    check: (what) => {
      throw new OperatorError('Fenced', `${what}: not sent, for Lease ${lease} is not held`);
    },
  };
}
