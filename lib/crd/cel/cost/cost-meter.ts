import { CelError } from '../values.js';

/** The most that one evaluation may cost, as on the API server. */
export const mostPerCall = 1_000_000;

/** An evaluation costs too much: nothing in the expression can catch it. */
export class CelCostError extends CelError {}

/**
 * Counts what an evaluation does: a step costs 1, text a tenth per character. The API server counts
 * about the same; what one of them just lets pass the other may just refuse.
 */
export class CostMeter {
  #spent = 0;
  #most = mostPerCall;

  /** Since the evaluation began. */
  get spent(): number {
    return this.#spent;
  }

  /** Begins an evaluation. */
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
