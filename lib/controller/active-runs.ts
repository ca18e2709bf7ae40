import type { Clock } from '../system/clock.js';
import type { OperatorError } from '../system/operator-error.js';
import { whenAborted } from '../system/when-aborted.js';
import { endsWithin } from './ends-within.js';
import type { ReconcileRun } from './reconcile-run.js';

/** Time that an aborted reconcile has to end, in milliseconds. */
const unwindMs = 1_000;

/** Options of {@link ActiveRuns.end}. */
export interface EndOptions {
  /** Grace period before reconciles are aborted, in milliseconds. */
  readonly graceMs: number;
  /** The reason for the abort. */
  readonly reason: OperatorError;
  /**
   * Cuts off pending writes one second after the abort. Use it if no other process takes over the keys, or
   * if a stop must end. @defaultValue false: waits for pending writes
   */
  readonly cutsWrites?: boolean;
}

/** The reconciles in progress, by the text of their keys. */
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

  /** Aborts all reconciles. */
  abort(reason: OperatorError): void {
    for (const run of this.#runs.values()) run.abort(reason);
  }

  /**
   * Waits until all reconciles have ended, aborts them after the grace period, and resolves when none of them
   * can still write.
   * @returns the reconciles that have not ended within a second of the abort, or that were aborted earlier
   */
  async endAll(options: EndOptions): Promise<ReconcileRun[]> {
    const runs = this.all();
    await this.#endOrAbort(runs, options);
    // Reconciles aborted earlier have had their second: one bad handler must not slow down every stop.
    const unwinding = runs.filter(({ abortedForMs = Infinity }) => abortedForMs < unwindMs);
    return this.#unwind(runs, unwinding, options);
  }

  /**
   * Waits until `runs` have ended, aborts them after the grace period, and resolves when none of them can
   * still write: if a handler never ends, its writes are refused and its pending ones have ended.
   */
  async end(runs: readonly ReconcileRun[], options: EndOptions): Promise<void> {
    const aborted = await this.#endOrAbort(runs, options);
    await this.#unwind(runs, aborted, options);
  }

  /** @returns those of `runs` that continue after a second for `unwinding` */
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

  /** @returns the reconciles that were aborted; if one had to be aborted, all that were in progress */
  async #endOrAbort(
    runs: readonly ReconcileRun[],
    { graceMs, reason }: EndOptions,
  ): Promise<readonly ReconcileRun[]> {
    // Timed-out reconciles are already aborted: only their last writes are pending.
    const going = runs.filter(({ isAborted }) => !isAborted);
    if (going.length === 0) return [];
    // A reconcile aborted meanwhile, for example by a stop, gets no more time here.
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
