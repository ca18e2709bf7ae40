import type { Logger } from '../system/logger.js';
import type { MetricLabels } from '../system/metrics.js';
import { tell } from './controller-event.js';
import type { ReconcileOutcome } from './controller-event.js';
import type { ControllerParts } from './controller-parts.js';
import { failureKindOf, isBug, retryAfterMsOf } from './failure.js';
import { shownKey } from './last-errors.js';
import { readableError } from './readable-error.js';
import type { ReconcileRun, RunEnd } from './reconcile-run.js';
import type { ControllerCluster } from './running-cluster.js';
import type { Trigger } from './trigger.js';
import type { WorkItem } from './work-queue.js';

/** The prefix of the log message of a failed reconcile. */
export const reconcileFailed = 'reconcile failed';

/** A reconcile that has ended or timed out. */
export interface EndedReconcile {
  readonly item: WorkItem;
  readonly run: ReconcileRun;
  readonly cluster: ControllerCluster;
  /** Returns the reconcile's logger; created on first access. */
  readonly logger: () => Logger;
}

/** The result of handling a reconcile. */
export interface Heeded {
  readonly outcome: ReconcileOutcome;
  readonly againInMs?: number | undefined;
  readonly error?: unknown;
}

const succeeded: Heeded = { outcome: 'success' };

/** The values of the label `result` of controller-runtime's metric. */
const results: Readonly<Record<ReconcileOutcome, string>> = {
  success: 'success',
  requeueAfter: 'requeue_after',
  conflict: 'requeue',
  waiting: 'requeue',
  error: 'error',
  terminal: 'error',
  timeout: 'error',
};

/** Handles the outcome of a reconcile: requeues, counts, logs, and notifies the listener. */
export class Outcomes {
  readonly #parts: ControllerParts;
  readonly #labels: MetricLabels;
  readonly #resultLabels = new Map<ReconcileOutcome, MetricLabels>();

  constructor(parts: ControllerParts) {
    this.#parts = parts;
    const { metrics, name: controller } = parts;
    this.#labels = { controller };
    // Create the series before the first error, so that rates over them are defined.
    for (const [outcome, result] of Object.entries(results)) {
      const labels = { controller, result };
      this.#resultLabels.set(outcome as ReconcileOutcome, labels);
      metrics.reconciles.add(0, labels);
    }
    const { errors, terminalErrors, bugs, timeouts, conflicts } = metrics;
    for (const counter of [errors, terminalErrors, bugs, timeouts, conflicts]) {
      counter.add(0, this.#labels);
    }
    metrics.activeWorkers.set(0, this.#labels);
  }

  heed(ended: EndedReconcile, end: RunEnd): Heeded {
    const { metrics, name, kind, runtime } = this.#parts;
    const { run } = ended;
    const heeded = this.#requeued(ended, end);
    const durationMs = run.lastedMs;
    metrics.reconciles.add(1, this.#resultLabels.get(heeded.outcome));
    metrics.durations.observe(durationMs / 1000, this.#labels);
    const { reconcileID, triggers: causes } = run;
    if (runtime.onEvent !== undefined) {
      const subject = { controller: name, kind, ...shownKey(run.work) };
      const facts = { ...subject, reconcileID, causes, durationMs };
      tell(runtime, { type: 'reconciled', ...facts, ...heeded });
    }
    return heeded;
  }

  /**
   * Handles an exception of `heed` itself: an unexpected kind of error, a logger, a metric. It requeues the
   * key, which may not have been requeued yet.
   */
  survive({ item: { key, priority }, run, cluster }: EndedReconcile, thrown: unknown): Heeded {
    const { queue, mayQueue, logger } = this.#parts;
    const againInMs = mayQueue(run.work, cluster) ? queue.addRateLimited(key, priority) : undefined;
    const error = readableError(thrown);
    try {
      logger.error('the outcome of a reconcile could not be dealt with', { key, error, againInMs });
    } catch {
      // The logger itself may throw, which leaves no way to report the error.
    }
    return { outcome: 'error', againInMs, error };
  }

  #requeued(ended: EndedReconcile, end: RunEnd): Heeded {
    const { queue } = this.#parts;
    const { item, run } = ended;
    switch (end.type) {
      case 'timedOut':
        return this.#failed(ended, run.signal.reason, 'timeout');
      case 'threw':
        return this.#failed(ended, end.error, failureKindOf(end.error));
      case 'returned':
        queue.forget(item.key);
        this.#parts.lastErrors.forget(run.work);
        if (end.result.type === 'done') return succeeded;
        return this.#again(ended, end.result.afterMs);
    }
  }

  #again({ item: { key, priority }, run, cluster }: EndedReconcile, wantedMs: number): Heeded {
    const { queue, triggers, hotLoops } = this.#parts;
    if (!this.#parts.mayQueue(run.work, cluster)) {
      this.#parts.giveUp(run.work);
      return { outcome: 'requeueAfter' };
    }
    const afterMs = Math.max(wantedMs, hotLoops?.delayMs(key) ?? 0);
    triggers.add(key, { type: 'requeue', afterMs });
    queue.add(key, { priority, afterMs });
    return { outcome: 'requeueAfter', againInMs: afterMs };
  }

  #failed(ended: EndedReconcile, error: unknown, outcome: ReconcileOutcome): Heeded {
    const { queue, lastErrors, mayQueue, giveUp } = this.#parts;
    const { key } = ended.item;
    const { work, isAborted } = ended.run;
    // The controller is stopping, or the key was released: that caused the failure.
    const isEnded = isAborted && outcome !== 'timeout';
    const isOurs = mayQueue(work, ended.cluster);
    this.#count(outcome, error);
    if (!isOurs) giveUp(work);
    else if (outcome === 'terminal') queue.forget(key);
    const againInMs = outcome === 'terminal' || !isOurs ? undefined : this.#retry(ended, error);
    const failures = queue.failures(key);
    if (isOurs && !isEnded) lastErrors.note(work, { outcome, failures, error });
    const fields = { error, againInMs };
    const isQuiet = isEnded || outcome === 'conflict' || outcome === 'waiting';
    if (isQuiet) ended.logger().debug(`reconcile: ${outcome}`, fields);
    else ended.logger().error(`${reconcileFailed}: ${outcome}`, fields);
    return { outcome, againInMs, error };
  }

  /** @returns the delay, in milliseconds */
  #retry({ item: { key, priority } }: EndedReconcile, error: unknown): number {
    const { queue, triggers, hotLoops } = this.#parts;
    const trigger: Trigger = { type: 'retry', failures: queue.failures(key) + 1 };
    triggers.add(key, trigger);
    const atLeastMs = Math.max(retryAfterMsOf(error), hotLoops?.delayMs(key) ?? 0);
    return queue.addRateLimited(key, priority, atLeastMs);
  }

  #count(outcome: ReconcileOutcome, error: unknown): void {
    const { metrics } = this.#parts;
    if (outcome === 'conflict') metrics.conflicts.add(1, this.#labels);
    if (outcome === 'conflict' || outcome === 'waiting') return;
    metrics.errors.add(1, this.#labels);
    if (outcome === 'terminal') metrics.terminalErrors.add(1, this.#labels);
    if (outcome === 'timeout') metrics.timeouts.add(1, this.#labels);
    if (isBug(error)) metrics.bugs.add(1, this.#labels);
  }
}
