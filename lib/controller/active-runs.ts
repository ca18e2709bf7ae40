import type { Clock } from '../system/clock.js';
import type { OperatorError } from '../system/operator-error.js';
import { endsWithin } from './ends-within.js';
import type { ReconcileRun } from './reconcile-run.js';

/** How long reconciles have to end once their signal was aborted. */
export const unwindMs = 1_000;

/** How {@link ActiveRuns.end} ends reconciles. */
export interface EndOptions {
  /** How long they may go on, in milliseconds. */
  readonly graceMs: number;
  /** Why they are aborted then. */
  readonly reason: OperatorError;
}

/** The reconciles that go on, by the text of their keys. */
export class ActiveRuns {
  readonly #clock: Clock;
  readonly #runs = new Map<string, ReconcileRun>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(run: ReconcileRun): void {
    this.#runs.set(run.work.text, run);
  }

  delete(run: ReconcileRun): void {
    this.#runs.delete(run.work.text);
  }

  all(): ReconcileRun[] {
    return [...this.#runs.values()];
  }

  /** Aborts them all. */
  abort(reason: OperatorError): void {
    for (const run of this.#runs.values()) run.abort(reason);
  }

  /**
   * Waits until `runs` have ended, aborts them after the grace, and resolves when none of them can
   * write any more: one that never ends has its writes refused, those that it has begun are over.
   */
  async end(runs: readonly ReconcileRun[], { graceMs, reason }: EndOptions): Promise<void> {
    // Those whose time is over were aborted then: there are only their last writes to wait for.
    const going = runs.filter(({ signal }) => !signal.aborted);
    const over = allOf(going.map((run) => run.whenOver()));
    if (going.length > 0 && !(await endsWithin(over, graceMs, this.#clock))) {
      for (const run of going) run.abort(reason);
      await endsWithin(over, unwindMs, this.#clock);
    }
    await allOf(runs.map((run) => run.whenHarmless()));
  }
}

async function allOf(promises: readonly Promise<void>[]): Promise<void> {
  await Promise.all(promises);
}
