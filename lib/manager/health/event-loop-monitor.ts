import type { Clock, Timer } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import type { Histogram, Metrics } from '../../system/metrics.js';
import { OperatorError } from '../../system/operator-error.js';
import type { HealthCheck } from '../health-check.js';

/** Options of {@link EventLoopMonitor}. */
export interface EventLoopMonitorOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** A stall this long, in milliseconds, fails liveness for a while. */
  readonly stallMs: number;
}

// How often the loop is looked at.
const everyMs = 1_000;

/** How long after a stall the check fails, in milliseconds: one stall alone ends no process. */
export const stallMemoryMs = 20_000;

/**
 * Notices when the event loop does not turn: computations that are too long, a process that was
 * stopped. While it stands still no probe is answered, which the kubelet counts as failed; this makes
 * those fail that come between two stalls.
 */
export class EventLoopMonitor {
  readonly #options: EventLoopMonitorOptions;
  readonly #lag: Histogram;
  #timer: Timer | undefined;
  #dueMs = 0;
  #stall: { readonly lastedMs: number; readonly atMs: number } | undefined;

  constructor(options: EventLoopMonitorOptions) {
    this.#options = options;
    this.#lag = options.metrics.histogram({
      name: 'operator_builder_event_loop_lag_seconds',
      help: 'How much later than due a timer fires: the event loop was busy.',
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30],
    });
  }

  start(): void {
    const { clock } = this.#options;
    this.#dueMs = clock.monotonicMs() + everyMs;
    this.#timer = clock.setTimer(() => this.#look(), everyMs);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Fails for 20 s after a stall of `stallMs`. */
  get check(): HealthCheck {
    return {
      name: 'event-loop',
      check: () => {
        const { clock } = this.#options;
        const stall = this.#stall;
        // A probe may come before the timer that is late.
        const lateMs = Math.max(0, clock.monotonicMs() - this.#dueMs);
        if (lateMs >= this.#options.stallMs) throw stalled(lateMs);
        if (stall === undefined || clock.monotonicMs() - stall.atMs > stallMemoryMs) return;
        throw stalled(stall.lastedMs);
      },
    };
  }

  #look(): void {
    const { clock, logger, stallMs } = this.#options;
    const lagMs = Math.max(0, clock.monotonicMs() - this.#dueMs);
    this.#lag.observe(lagMs / 1_000);
    if (lagMs >= stallMs) this.#stall = { lastedMs: lagMs, atMs: clock.monotonicMs() };
    if (lagMs >= everyMs) logger.warn('the event loop stood still', { lagMs: Math.round(lagMs) });
    this.start();
  }
}

function stalled(lastedMs: number): OperatorError {
  return new OperatorError('Timeout', `the event loop stood still for ${Math.round(lastedMs)} ms`);
}
