import { isKind, planObject, plannedFailure } from '../apply/index.js';
import type { DesiredObject, ObjectPlan, PlannedObject } from '../apply/index.js';
import { Service } from '../object/kinds.js';
import type { ObjectReference } from '../object/object-reference.js';
import type { Chain, ChainedObject } from './chain.js';
import type { RunContext } from './context.js';
import { finishObject, prepareObject } from './prepare-object.js';
import { stampSources } from './stamp-sources.js';
import { stampsFor } from './stamps-for.js';
import { reasonToStay } from './successors.js';

/** What is planned for one object of a chain, and what the rest of the plan needs to know. */
export interface PlannedStep extends ObjectPlan {
  readonly chained: ChainedObject;
  /** What it would be afterwards; undefined where it can't be reconciled. */
  readonly desired?: DesiredObject;
  /** The ConfigMaps and Secrets whose changed data replaces its pods. */
  readonly causes: readonly ObjectReference[];
}

/** Plans one object. Failures are part of the plan. */
export async function planStep(
  context: RunContext,
  chain: Chain,
  chained: ChainedObject,
): Promise<PlannedStep> {
  try {
    const desired = await desiredOf(context, chain, chained);
    const plan = await planObject(context, desired);
    const { live } = plan;
    if (live === undefined) return { ...plan, chained, desired, causes: [] };
    const causes = desired.causesOf?.(live) ?? [];
    const stays =
      plan.planned.action === 'configure' && isKind(chained.ref, Service)
        ? await reasonToStay(context, chain, { chained, live })
        : undefined;
    const planned = stays === undefined ? plan.planned : { ...plan.planned, reason: stays };
    return { ...plan, chained, desired, causes, planned };
  } catch (error) {
    return failedStep(chained, plannedFailure(chained.ref, error));
  }
}

/** The step of an object that is left as it is. */
export function failedStep(chained: ChainedObject, planned: PlannedObject): PlannedStep {
  return { chained, causes: [], keepsPods: false, planned };
}

async function desiredOf(
  context: RunContext,
  chain: Chain,
  chained: ChainedObject,
): Promise<DesiredObject> {
  const prepared = prepareObject(context.settings, chain, chained);
  const known = stampSources(context, { chain, outcomes: new Map(), of: chained.ref });
  const stamps = await stampsFor(prepared, { ...known, applied: () => true });
  return finishObject(context, prepared, stamps);
}
