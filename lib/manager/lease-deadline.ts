import type { Clock, Timer } from '../system/clock.js';
import { OperatorError } from '../system/operator-error.js';
import type { LeaseFence } from './lease-fence.js';

/** Says when a leader's time is over, and ends what it waits for then. */
export class LeaseDeadline {
  readonly #clock: Clock;
  readonly #fence: LeaseFence;
  readonly #over: AbortController;
  #timer: Timer | undefined;

  /** @param over - aborted when `fence` shuts. */
  constructor(clock: Clock, fence: LeaseFence, over: AbortController) {
    this.#clock = clock;
    this.#fence = fence;
    this.#over = over;
    this.restart();
  }

  /** The fence was renewed. */
  restart(): void {
    this.stop();
    this.#timer = this.#clock.setTimer(() => this.#over.abort(), this.#fence.remainingMs);
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** @throws OperatorError `LeadershipLost`: it is over. */
  check(): void {
    if (this.#fence.remainingMs > 0) return;
    throw new OperatorError('LeadershipLost', 'it was not renewed in time');
  }
}
