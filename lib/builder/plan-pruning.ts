import { plannedFailure, refId } from '../apply/index.js';
import type { PlannedObject } from '../apply/index.js';
import { referenceTo } from '../object/object-reference.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { isOperatorError } from '../system/operator-error.js';
import type { Chain } from './chain.js';
import type { RunContext } from './context.js';
import type { PlannedStep } from './plan-object.js';
import { decidePruning } from './prune.js';

/** What is known when pruning is planned. */
export interface PlannedSoFar {
  readonly chain: Chain;
  readonly steps: readonly PlannedStep[];
  readonly planned: readonly PlannedObject[];
}

/** What would be pruned: nothing as long as any object fails. */
export async function planPruning(
  context: RunContext,
  { chain, steps, planned }: PlannedSoFar,
): Promise<readonly PlannedObject[]> {
  // Workloads are updated before anything is pruned, so what they will refer to counts.
  const becoming = new Map<string, UnstructuredObject>();
  for (const { desired, planned: step } of steps) {
    const updated = step.action === 'configure' || step.action === 'recreate';
    if (desired !== undefined && updated) becoming.set(refId(step.ref), desired.object);
  }
  const fails = planned.some(({ action }) => action === 'fail' || action === 'violate');
  const forecast = {
    becoming,
    coming: planned.filter(({ action }) => action === 'create').length,
    hold: fails ? 'nothing is pruned as long as an object fails' : undefined,
  };
  try {
    const decisions = await decidePruning(context, chain, forecast);
    return decisions.map(({ candidate, ...decision }) => ({
      ...{ action: decision.action, ref: referenceTo(candidate.object) },
      ...{ changes: [], approximate: false },
      ...(decision.action === 'wait' && { reason: decision.reason }),
    }));
  } catch (error) {
    if (!isOperatorError(error)) throw error;
    return [plannedFailure(referenceTo(context.settings.owner), error)];
  }
}
