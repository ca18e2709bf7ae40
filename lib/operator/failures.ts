import { isReconcileFailed } from '../apply/index.js';
import { failureKindOf } from '../controller/index.js';
import type { ReconcileContext } from '../controller/index.js';
import { OperatorEvents } from '../events/index.js';
import type { KubernetesObject } from '../object/index.js';
import type { StatusUpdate } from '../status/index.js';
import { LruMap, isOperatorError } from '../system/index.js';

/** Remembers which failures builders have recorded as Events, so that each is recorded once. */
export class FailureReports {
  /** Events of all builders of an operator. */
  readonly events = new OperatorEvents();
  readonly #reported = new WeakSet();

  constructor() {
    this.events.on('failed', ({ error }) => {
      if (error instanceof Error) this.#reported.add(error);
    });
  }

  has(error: unknown): boolean {
    if (isReconcileFailed(error)) return true;
    if (!isOperatorError(error)) return false;
    return [error, error.cause].some((each) => each instanceof Error && this.#reported.has(each));
  }
}

/** A failed reconcile, and the status that shows it. */
export interface Failure {
  readonly error: Error;
  /** The generation of the object in that reconcile. */
  readonly generation: number | undefined;
  /** The updates to try until the server accepts one. */
  readonly updates: readonly StatusUpdate[];
  /** True if the reconcile timed out: it could no longer write, and the handler runs again. */
  readonly isTimeout?: boolean;
}

const rememberedFailures = 10_000;

/**
 * Failures whose conditions are not written yet, and that the next reconcile might not write: terminal failures, which
 * the controller does not retry, and time-outs, whose retry may time out too. Without another attempt the object would
 * keep the conditions of an earlier reconcile.
 */
export class UnshownFailures {
  /** The failures by uid of the object. */
  readonly #failures = new LruMap<string, Failure>(rememberedFailures);

  /** Remembers a failure. @returns false for a failure whose retry writes its conditions */
  keep({ metadata }: KubernetesObject, failure: Failure, { planning }: ReconcileContext): boolean {
    const isKept = failure.isTimeout === true || failureKindOf(failure.error) === 'terminal';
    if (planning || !isKept) return false;
    this.#failures.set(metadata.uid ?? '', failure);
    return true;
  }

  /**
   * Removes and returns the failure of an object. Returns undefined if the handler must run again, because the retry of
   * a terminal failure is not the only trigger of the reconcile. Returns a time-out only to its retry: before any other
   * reconcile, another process may have reconciled the object.
   */
  take({ metadata }: KubernetesObject, context: ReconcileContext): Failure | undefined {
    const { triggers, moreTriggers, planning } = context;
    const { uid = '' } = metadata;
    const failure = this.#failures.get(uid);
    if (failure === undefined || planning) return undefined;
    this.#failures.delete(uid);
    if (failure.isTimeout === true) {
      return triggers.some(({ type }) => type === 'retry') ? failure : undefined;
    }
    const isOwn = triggers.every(({ type }) => type === 'retry' || type === 'requeue');
    return isOwn && moreTriggers === 0 ? failure : undefined;
  }
}
