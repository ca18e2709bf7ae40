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
  /** The updates to try until the server accepts one. */
  readonly updates: readonly StatusUpdate[];
}

const rememberedFailures = 10_000;

/**
 * Terminal failures whose conditions are not written yet. The controller does not retry a terminal failure, so
 * without another attempt the object would keep the conditions of an earlier reconcile.
 */
export class UnshownFailures {
  /** By uid. */
  readonly #failures = new LruMap<string, Failure>(rememberedFailures);

  /** Remembers a terminal failure. @returns false for other failures: their retry writes the conditions */
  keep({ metadata }: KubernetesObject, failure: Failure, { planning }: ReconcileContext): boolean {
    if (planning || failureKindOf(failure.error) !== 'terminal') return false;
    this.#failures.set(metadata.uid ?? '', failure);
    return true;
  }

  /**
   * Removes and returns the failure of an object. Returns undefined if something else than the failure itself
   * triggered the reconcile, so that the handler must run again.
   */
  take({ metadata }: KubernetesObject, context: ReconcileContext): Failure | undefined {
    const { triggers, moreTriggers, planning } = context;
    const { uid = '' } = metadata;
    const failure = this.#failures.get(uid);
    if (failure === undefined || planning) return undefined;
    this.#failures.delete(uid);
    const isOwn = triggers.every(({ type }) => type === 'retry' || type === 'requeue');
    return isOwn && moreTriggers === 0 ? failure : undefined;
  }
}
