import type { Clock } from '../system/clock.js';
import type { OperatorError } from '../system/operator-error.js';
import { whenAborted } from '../system/when-aborted.js';
import { endsWithin } from './ends-within.js';
import type { ReconcileRun } from './reconcile-run.js';

/** How long reconciles have to end once their signal was aborted, in milliseconds. */
const unwindMs = 1_000;

/** How {@link ActiveRuns.end} ends reconciles. */
export interface EndOptions {
  /** How long they may go on, in milliseconds. */
  readonly graceMs: number;
  /** Why they are aborted then. */
  readonly reason: OperatorError;
  /**
   * Whether writes that are on their way are cut off as well, a second after the grace: nobody else
   * gets the keys, or a stop has to end. @defaultValue false: they are waited for
   */
  readonly cutsWrites?: boolean;
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
   * Waits until all of them have ended, aborts them after the grace, and resolves when none can write
   * any more. @returns those that have not ended within a second of that, or were aborted longer ago
   */
  async endAll(options: EndOptions): Promise<ReconcileRun[]> {
    const runs = this.all();
    await this.#endOrAbort(runs, options);
    // Who was aborted longer ago has had its time: one bad handler must not make every stop slow.
    const unwinding = runs.filter(({ abortedForMs = Infinity }) => abortedForMs < unwindMs);
    return this.#unwind(runs, unwinding, options);
  }

  /**
   * Waits until `runs` have ended, aborts them after the grace, and resolves when none of them can
   * write any more: one that never ends has its writes refused, and those on their way are over.
   */
  async end(runs: readonly ReconcileRun[], options: EndOptions): Promise<void> {
    const aborted = await this.#endOrAbort(runs, options);
    await this.#unwind(runs, aborted, options);
  }

  /** @returns those of `runs` that go on after a second for `unwinding` */
  async #unwind(
    runs: readonly ReconcileRun[],
    unwinding: readonly ReconcileRun[],
    { reason, cutsWrites = false }: EndOptions,
  ): Promise<ReconcileRun[]> {
    const ended = allOf(unwinding.map((run) => run.whenEnded()));
    if (unwinding.length > 0) await endsWithin(ended, unwindMs, this.#clock);
    const stuck = runs.filter((run) => !run.hasEnded);
    if (cutsWrites) for (const run of stuck) run.abort(reason);
    await allOf(runs.map((run) => run.whenHarmless()));
    return stuck;
  }

  /** @returns those that had to be aborted, all that went on if one did */
  async #endOrAbort(
    runs: readonly ReconcileRun[],
    { graceMs, reason }: EndOptions,
  ): Promise<readonly ReconcileRun[]> {
    // Those whose time is over were aborted then: there are only their last writes to wait for.
    const going = runs.filter(({ isAborted }) => !isAborted);
    if (going.length === 0) return [];
    // One that is aborted meanwhile, by a stop say, has no more time than that gives it.
    const over = allOf(
      going.map((run) => Promise.race([run.whenEnded(), whenAborted(run.signal)])),
    );
    if (await endsWithin(over, graceMs, this.#clock)) return going.filter((run) => !run.hasEnded);
    for (const run of going) run.abort(reason, true);
    return going;
  }
}

async function allOf(promises: readonly Promise<void>[]): Promise<void> {
  await Promise.all(promises);
}
