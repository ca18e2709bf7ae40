import { failed, reportFailure, resultsOf } from '../../apply/index.js';
import type { ApplyContext, Outcome } from '../../apply/index.js';
import { describeObject } from '../../object/describe-object.js';
import type { ObjectReference } from '../../object/object-reference.js';
import type { ResourceContext } from '../resource-context.js';

// Garbage collection, or whoever has a finalizer there, may take longer; the watch tells, too.
const pendingRetryMs = 5_000;

/** The outcome of `work` on one object; a failure is recorded, and is an outcome, too. */
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
 * Ends a step that was carried out for every object. Where one has to wait, the chain ends quietly:
 * what comes later may need it.
 * @throws ReconcileFailedError some failed; the others were done.
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
