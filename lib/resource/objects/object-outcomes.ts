import { failed, reportFailure, resultsOf } from '../../apply/index.js';
import type { ApplyContext, Outcome } from '../../apply/index.js';
import { describeObject } from '../../object/describe-object.js';
import type { ObjectReference } from '../../object/object-reference.js';
import type { ResourceContext } from '../resource-context.js';

// Garbage collection and finalizers may take longer; the watch reports the end too.
const pendingRetryMs = 5_000;

/** Returns the outcome of `work` on one object. A failure is recorded, and is an outcome too. */
export async function outcomeOf(
  run: ApplyContext,
  ref: ObjectReference,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    const outcome = failed(ref, error);
    if (outcome.state === 'failed') reportFailure(run, ref, outcome.error);
    return outcome;
  }
}

/**
 * Ends a step that has run for every object. If an object is pending, cancels the chain: later resources may
 * need that object.
 * @throws ReconcileFailedError some objects failed; the others are done.
 */
export function settleOutcomes(context: ResourceContext, outcomes: readonly Outcome[]): void {
  const results = resultsOf(outcomes);
  const waiting = results.filter(({ operation }) => operation === 'pending');
  if (waiting.length === 0) return;
  const reasons = waiting.map(({ ref, reason = '' }) => `${describeObject(ref)} ${reason}`);
  const waits = waiting.map(({ requeueAfterMs = pendingRetryMs }) => requeueAfterMs);
  context.requeueAfter(Math.min(...waits));
  context.cancelReconciliation(reasons.join('; '));
}
