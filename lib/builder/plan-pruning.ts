import { checkDeletions, plannedFailure, refId } from '../apply/index.js';
import type { PlannedObject } from '../apply/index.js';
import { referenceTo } from '../object/object-reference.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { isOperatorError } from '../system/operator-error.js';
import type { Chain } from './chain.js';
import type { RunContext } from './context.js';
import type { PlannedStep } from './plan-object.js';
import { findOrphans } from './prune.js';

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
  const { settings } = context;
  const base = { changes: [], approximate: false };
  // Workloads are updated before anything is pruned, so what they will refer to counts.
  const becoming = new Map<string, UnstructuredObject>();
  for (const { desired, planned: step } of steps) {
    const updated = step.action === 'configure' || step.action === 'recreate';
    if (desired !== undefined && updated) becoming.set(refId(step.ref), desired.object);
  }
  try {
    const found = await findOrphans(context, chain, becoming);
    const kept = found.inUse.map(({ candidate: { object }, reason }) => ({
      ...({ ...base, action: 'wait', ref: referenceTo(object), reason } as const),
    }));
    if (planned.some(({ action }) => action === 'fail' || action === 'violate')) {
      const reason = 'nothing is pruned as long as an object fails';
      const waiting = found.orphans.map(({ object }) => ({
        ...({ ...base, action: 'wait', ref: referenceTo(object), reason } as const),
      }));
      return [...waiting, ...kept];
    }
    const coming = planned.filter(({ action }) => action === 'create').length;
    checkDeletions(settings, found, coming);
    const pruned = found.orphans.map(({ object }) => ({
      ...({ ...base, action: 'prune', ref: referenceTo(object) } as const),
    }));
    return [...pruned, ...kept];
  } catch (error) {
    if (!isOperatorError(error)) throw error;
    return [plannedFailure(referenceTo(settings.owner), error)];
  }
}
