import type { Clock, Timer } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import type { Histogram, Metrics } from '../../system/metrics.js';
import { OperatorError } from '../../system/operator-error.js';
import type { HealthCheck } from '../manager-health.js';

/** Options of {@link EventLoopMonitor}. */
export interface EventLoopMonitorOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /**
   * Duration of a stall in milliseconds. Two stalls in quick succession fail the liveness check for a while.
   */
  readonly stallMs: number;
}

// Interval of the measurements.
const everyMs = 1_000;

/** Time that a stall counts as the first of two, in milliseconds. */
export const stallMemoryMs = 20_000;

interface Stall {
  /** Time at which the timer was due. */
  readonly dueMs: number;
  readonly overMs: number;
  /** True if another stall ended shortly before this one. */
  readonly isRepeated: boolean;
}

/**
 * Detects stalls of the event loop: long computations, or a stopped process. During a stall no probe is
 * answered, and the kubelet counts it as failed. This check also fails the probes between two stalls. A
 * single stall fails no probe: together with the unanswered one, it would restart a process that has
 * recovered.
 */
export class EventLoopMonitor {
  readonly #options: EventLoopMonitorOptions;
  readonly #lag: Histogram;
  #timer: Timer | undefined;
  #dueMs = 0;
  #stall: Stall | undefined;

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

  /** Fails for 20 s after a stall of `stallMs` that began within 20 s after another one. */
  get check(): HealthCheck {
    return {
      name: 'event-loop',
      check: () => {
        // A probe may arrive before the late timer.
        const stall = this.#noteStall();
        if (stall === undefined || !stall.isRepeated) return;
        if (this.#options.clock.monotonicMs() - stall.overMs > stallMemoryMs) return;
        throw stalled(stall);
      },
    };
  }

  #look(): void {
    const { clock, logger } = this.#options;
    const lagMs = Math.max(0, clock.monotonicMs() - this.#dueMs);
    this.#lag.observe(lagMs / 1_000);
    this.#noteStall();
    if (lagMs >= everyMs) logger.warn('the event loop stood still', { lagMs: Math.round(lagMs) });
    this.start();
  }

  /** @returns the last stall, which may be detected by this call */
  #noteStall(): Stall | undefined {
    const { clock, stallMs } = this.#options;
    const [dueMs, overMs, last] = [this.#dueMs, clock.monotonicMs(), this.#stall];
    if (overMs - dueMs < stallMs) return last;
    // A probe has recorded it already.
    const isSame = last?.dueMs === dueMs;
    const isSoon = last !== undefined && dueMs - last.overMs <= stallMemoryMs;
    this.#stall = { dueMs, overMs, isRepeated: isSame ? last.isRepeated : isSoon };
    return this.#stall;
  }
}

function stalled({ dueMs, overMs }: Stall): OperatorError {
  const lastedMs = Math.round(overMs - dueMs);
  return new OperatorError('Timeout', `the event loop stood still again, for ${lastedMs} ms`);
}
