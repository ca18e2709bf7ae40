import { CelError } from '../values.js';

/** Maximum cost of one evaluation, as on the API server. */
export const mostPerCall = 1_000_000;

/** An evaluation exceeds its cost limit. Expressions cannot catch this error. */
export class CelCostError extends CelError {}

/**
 * Measures the cost of an evaluation: 1 per step, a tenth per character of text. The API server's count is
 * similar; near the limit the two may disagree.
 */
export class CostMeter {
  #spent = 0;
  #most = mostPerCall;

  /** The cost since the evaluation began. */
  get spent(): number {
    return this.#spent;
  }

  /** Starts an evaluation with a cost limit. */
  begin(most: number): void {
    this.#spent = 0;
    this.#most = most;
  }

  /** @throws CelCostError */
  charge(cost: number): void {
    this.#spent += cost;
    if (this.#spent > this.#most) {
      throw new CelCostError('operation cancelled: actual cost limit exceeded');
    }
  }
}
