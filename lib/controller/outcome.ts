import type { KubernetesObject } from '../object/index.js';
import { keyOf, keyString } from '../object/index.js';
import { LruMap, shortened } from '../system/index.js';
import type { Clock, Logger, MetricLabels } from '../system/index.js';
import type { HotLoop } from './hot-loop.js';
import type { WorkKey } from './keys.js';
import type { WorkItem } from './queue.js';
import type { ObservedWrite } from './reconcile-client.js';
import type { ReconcileRun, RunEnd, Threw } from './reconcile.js';
import { failureKindOf, isBug, readableError, retryAfterMsOf } from './result.js';
import type { FailureKind } from './result.js';
import type { ControllerCluster } from './running-cluster.js';
import type { ControllerParts } from './running-controller.js';
import { isThenable } from './sources.js';
import type { Trigger, TriggerList } from './trigger.js';

/** The prefix of the log message of a failed reconcile. */
export const reconcileFailed = 'reconcile failed';

/** A reconcile that has ended or timed out. */
export interface EndedReconcile {
  readonly item: WorkItem;
  readonly run: ReconcileRun;
  readonly cluster: ControllerCluster;
}

/** The result of handling a reconcile. */
export interface Outcome {
  readonly outcome: ReconcileOutcome;
  readonly againInMs?: number | undefined;
  readonly error?: unknown;
}

type Failure = Omit<Threw, 'type'>;

const succeeded: Outcome = { outcome: 'success' };

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

/** A requested delay below this, in milliseconds, was probably meant in seconds. */
const shortMs = 100;
/** After this many reconciles of a key in a row that only short delays have caused, a warning is logged. */
const mostShort = 100;
/** The maximum number of keys whose short delays are counted. */
const maxShortKeys = 10_000;

/** Handles the outcome of a reconcile: requeues, counts, logs, and notifies the listener. */
export class Outcomes {
  readonly #parts: ControllerParts;
  /** For each key, the number of reconciles in a row that requested a requeue after a short delay. */
  readonly #short = new LruMap<string, number>(maxShortKeys);
  #hasWarned = false;
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
    const { errors, terminalErrors, bugs, timeouts, conflicts, hotLoops } = metrics;
    for (const counter of [errors, terminalErrors, bugs, timeouts, conflicts, hotLoops]) {
      counter.add(0, this.#labels);
    }
    for (const gauge of [metrics.activeWorkers, metrics.heldKeys]) gauge.set(0, this.#labels);
  }

  /** Handles the end of a reconcile. Catches all errors, so that the worker continues and frees the key. */
  handle(ended: EndedReconcile, end: RunEnd): Outcome {
    try {
      return this.#handle(ended, end);
    } catch (error) {
      return this.#survive(ended, error);
    }
  }

  /** Counts a write of a reconcile, and reports a hot loop if this write exceeds its limits. */
  wrote(work: WorkKey, write: ObservedWrite, before: KubernetesObject | undefined): void {
    const { hotLoops, metrics, logger, name, runtime } = this.#parts;
    const { type, answer: after } = write;
    // A review, a token and the Status of an eviction are not stored; most of them have no name.
    if (after !== undefined && after.metadata.resourceVersion === undefined) return;
    // The server may have generated the name.
    const target = after === undefined ? write.key : keyOf(after);
    const found = hotLoops?.wrote({ key: work.text, type, target, before, after });
    if (found === undefined) return;
    const { object, ...facts } = found;
    metrics.hotLoops.add(1, { controller: name });
    logger.warn(
      `the handler keeps writing ${object.kind} ${keyString(object)}; its reconciles are slowed down`,
      facts,
    );
    notifyListener(runtime, { type: 'hotLoop', controller: name, ...found, ...shownKey(work) });
  }

  #handle(ended: EndedReconcile, end: RunEnd): Outcome {
    const { metrics, name, kind, runtime } = this.#parts;
    const { run } = ended;
    const outcome = this.#requeued(ended, end);
    this.#countShort(run, outcome);
    const durationMs = run.lastedMs;
    metrics.reconciles.add(1, this.#resultLabels.get(outcome.outcome));
    metrics.durations.observe(durationMs / 1000, this.#labels);
    if (runtime.onEvent !== undefined) {
      const { reconcileID, triggers: causes } = run;
      const subject = { controller: name, kind, ...shownKey(run.work) };
      const facts = { ...subject, reconcileID, causes, durationMs };
      notifyListener(runtime, { type: 'reconciled', ...facts, ...outcome });
    }
    return outcome;
  }

  /**
   * Handles an exception that `#handle` itself threw, for example in a logger or a metric. Requeues the key,
   * in case `#handle` has not.
   */
  #survive({ item: { key, priority }, run, cluster }: EndedReconcile, thrown: unknown): Outcome {
    const { queue, mayQueue, logger } = this.#parts;
    const againInMs = mayQueue(run.work, cluster) ? queue.addRateLimited(key, priority) : undefined;
    const error = readableError(thrown);
    try {
      logger.error('the outcome of a reconcile could not be handled', {
        key,
        error,
        againInMs: wholeMs(againInMs),
      });
    } catch {
      // The logger itself may throw, which leaves no way to report the error.
    }
    return { outcome: 'error', againInMs, error };
  }

  #requeued(ended: EndedReconcile, end: RunEnd): Outcome {
    const { queue } = this.#parts;
    const { item, run } = ended;
    switch (end.type) {
      case 'timedOut':
        return this.#failed(ended, { error: run.signal.reason }, 'timeout');
      case 'threw':
        return this.#failed(ended, end, failureKindOf(end.error));
      case 'returned':
        queue.forget(item.key);
        this.#parts.lastErrors.forget(run.work);
        if (end.result.type === 'done') return succeeded;
        return this.#again(ended, end.result.afterMs);
    }
  }

  #again({ item, run, cluster }: EndedReconcile, wantedMs: number): Outcome {
    if (!this.#parts.mayQueue(run.work, cluster)) {
      this.#parts.giveUp(run.work);
      return { outcome: 'requeueAfter' };
    }
    return { outcome: 'requeueAfter', againInMs: this.#requeue(item, wantedMs) };
  }

  /**
   * Queues the key again, later than wanted if it is in a hot loop.
   * @returns the delay, in milliseconds
   */
  #requeue({ key, priority }: WorkItem, wantedMs: number): number {
    const { queue, triggers, hotLoops } = this.#parts;
    const afterMs = Math.max(wantedMs, hotLoops?.delayMs(key) ?? 0);
    triggers.addRequeue(key, { type: 'requeue', afterMs });
    queue.add(key, { priority, afterMs });
    return afterMs;
  }

  /**
   * Warns once of a handler that repeatedly requests short delays. Counts only reconciles that nothing but the
   * delay has caused: events may interrupt a long wait near its end, and the handler then requests the short
   * remainder.
   */
  #countShort(run: ReconcileRun, { outcome, againInMs: afterMs = Infinity }: Outcome): void {
    const { text } = run.work;
    if (outcome !== 'requeueAfter' || afterMs >= shortMs) {
      this.#short.delete(text);
      return;
    }
    const { triggers, more } = run.triggers;
    const isOwn = more === 0 && triggers.every(({ type }) => type === 'requeue');
    const count = (this.#short.get(text) ?? 0) + (isOwn ? 1 : 0);
    this.#short.set(text, count);
    if (count < mostShort || this.#hasWarned) return;
    this.#hasWarned = true;
    const remedy = `requeueAfter takes milliseconds: requeueAfter(${afterMs * 1_000}) waits ${afterMs} s`;
    run.logger.warn(`the handler repeatedly requests a requeue after ${afterMs} ms; ${remedy}`);
  }

  #failed(ended: EndedReconcile, failure: Failure, outcome: ReconcileOutcome): Outcome {
    const { error } = failure;
    const { queue, lastErrors, mayQueue, giveUp } = this.#parts;
    const { key } = ended.item;
    const { work, isAborted } = ended.run;
    // Whether the reconcile failed because the controller is stopping or the key was released.
    const isEnded = isAborted && outcome !== 'timeout';
    const isOurs = mayQueue(work, ended.cluster);
    this.#count(outcome, error);
    if (!isOurs) giveUp(work);
    else if (outcome === 'terminal') queue.forget(key);
    const againInMs = isOurs ? this.#queued(ended, failure, outcome) : undefined;
    const failures = queue.failures(key);
    if (isOurs && !isEnded) lastErrors.note(work, { outcome, failures, error });
    const fields = { error, againInMs: wholeMs(againInMs) };
    const isQuiet = isEnded || outcome === 'conflict' || outcome === 'waiting';
    if (isQuiet) ended.run.logger.debug(`reconcile: ${outcome}`, fields);
    else ended.run.logger.error(`${reconcileFailed}: ${outcome}`, fields);
    return { outcome, againInMs, error };
  }

  /** Requeues a failed key. Returns the delay in milliseconds; undefined if only a change requeues the key. */
  #queued(
    ended: EndedReconcile,
    { error, afterMs }: Failure,
    outcome: ReconcileOutcome,
  ): number | undefined {
    const retryMs = outcome === 'terminal' ? undefined : this.#retry(ended, error);
    // If the retry comes first, add no requeue: the queue would ignore it, but the metrics would count it.
    if (afterMs === undefined || (retryMs !== undefined && retryMs <= afterMs)) return retryMs;
    // The queue keeps the earlier of the two.
    return Math.min(retryMs ?? Infinity, this.#requeue(ended.item, afterMs));
  }

  /** Adds the key to the queue with its back-off. Returns the delay in milliseconds. */
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

/** Rounds a delay for a log line. */
function wholeMs(delayMs: number | undefined): number | undefined {
  return delayMs === undefined ? undefined : Math.round(delayMs);
}

/** An event about a controller, in addition to its log: for tests, user interfaces and alerts. */
export type ControllerEvent = HotLoopEvent | ReconciledEvent;

/** A key repeatedly writes one object and is slowed down. */
export interface HotLoopEvent extends HotLoop {
  readonly type: 'hotLoop';
  readonly controller: string;
  /** The cluster's name; `''` for the only one. */
  readonly cluster: string;
}

/** The outcome of a reconcile. */
export type ReconcileOutcome = 'success' | 'requeueAfter' | 'timeout' | FailureKind;

/** A reconcile ended or timed out. */
export interface ReconciledEvent {
  readonly type: 'reconciled';
  readonly controller: string;
  /** The kind that the controller reconciles. */
  readonly kind: string;
  /** The cluster's name; `''` for the only one. */
  readonly cluster: string;
  readonly key: string;
  readonly reconcileID: string;
  /** The first ten triggers, and the number of further ones. */
  readonly causes: TriggerList;
  readonly outcome: ReconcileOutcome;
  readonly durationMs: number;
  /** The reason for a failure. */
  readonly error?: unknown;
  /** The delay until the next reconcile if nothing changes before, in milliseconds. */
  readonly againInMs?: number | undefined;
}

/** Receives controller events. An exception, or the rejection of a returned promise, is logged. */
export type ControllerEventListener = (event: ControllerEvent) => void;

interface Listened {
  /** Undefined if there is no listener. */
  readonly onEvent: ControllerEventListener | undefined;
  readonly logger: Logger;
}

/** Calls the listener; logs an exception or the rejection of a returned promise. */
export function notifyListener({ onEvent, logger }: Listened, event: ControllerEvent): void {
  if (onEvent === undefined) return;
  const failed = (error: unknown): void => {
    const message = `the listener to controller events threw at ${event.type}`;
    logger.error(message, { error: readableError(error) });
  };
  try {
    // The compiler accepts an async function here, and nothing else awaits its promise.
    const listen: (event: ControllerEvent) => unknown = onEvent;
    const answer = listen(event);
    if (isThenable(answer)) void answer.then(undefined, failed);
  } catch (error) {
    failed(error);
  }
}

/**
 * Returns a listener that calls the runtime's listener, then `second`; an exception in one does not affect
 * the other.
 */
export function bothOf(
  { onEvent: first, logger }: Listened,
  second: ControllerEventListener | undefined,
): ControllerEventListener | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return (event) => {
    notifyListener({ onEvent: first, logger }, event);
    notifyListener({ onEvent: second, logger }, event);
  };
}

/** The failure of a key's last reconcile. */
export interface LastError {
  /** The cluster's name; `''` for the only one. */
  readonly cluster: string;
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly outcome: ReconcileOutcome;
  readonly message: string;
  /** The number of consecutive failures, excluding terminal errors. */
  readonly failures: number;
  /** The time of the failure, in milliseconds since 1970. */
  readonly atMs: number;
}

/** The maximum number of keys to keep. */
const maxKeys = 100;
/** The maximum length of a message, in characters. */
const maxLength = 1_000;

/** The last error of each key that has not succeeded since, for the latest keys only. */
export class LastErrors {
  readonly #clock: Clock;
  readonly #errors = new LruMap<string, LastError>(maxKeys);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(work: WorkKey, failure: Pick<LastError, 'outcome' | 'failures'> & { error: unknown }): void {
    const { outcome, failures, error } = failure;
    this.#errors.set(work.text, {
      ...shownKey(work),
      ...{ outcome, failures, message: messageOf(error), atMs: this.#clock.now() },
    });
  }

  forget({ text }: WorkKey): void {
    this.#errors.delete(text);
  }

  /** @param isGone - receives the text of a key */
  forgetWhere(isGone: (text: string) => boolean): void {
    for (const [text] of this.#errors.entries()) if (isGone(text)) this.#errors.delete(text);
  }

  /** Returns the errors, the latest first. */
  all(): LastError[] {
    return [...this.#errors.values()].reverse();
  }
}

/** Returns the form of a key in status and events. */
export function shownKey({ cluster, text }: WorkKey): {
  readonly cluster: string;
  readonly key: string;
} {
  return { cluster, key: cluster === '' ? text : text.slice(cluster.length + 2) };
}

function messageOf(error: unknown): string {
  // At run time a message may be of any type.
  const said: unknown = error instanceof Error ? error.message : `threw ${shownValue(error)}`;
  return shortened(String(said), maxLength);
}

function shownValue(value: unknown): string {
  return typeof value === 'string' ? value : `a value of type ${typeof value}`;
}
