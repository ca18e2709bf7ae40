import type { Clock, Timer } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';
import type { LeaseFence } from './lease-fence.js';

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
