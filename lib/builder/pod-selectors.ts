import { podTemplateIn, rollsPods } from '../apply/index.js';
import { appliedFields, fieldPath, matchesLabels } from '../object/index.js';
import type { LabelSelector, UnstructuredObject } from '../object/index.js';
import { isOperatorError } from '../system/index.js';
import type { Chain, ChainedObject } from './chain.js';
import type { RunContext } from './context.js';

/** An object that selects pods, as the chain desires it and as it is in the cluster. */
export interface SelectingObject {
  readonly chained: ChainedObject;
  readonly live: UnstructuredObject;
}

/** Returns the chained workloads whose pods `selector` selects, if they are in the namespace of the given object. */
export function selectedBy(
  chain: Chain,
  { ref }: ChainedObject,
  selector: LabelSelector | undefined,
): readonly ChainedObject[] {
  return chain.objects.filter(
    (one) => one.ref.namespace === ref.namespace && selects(selector, one.link.object),
  );
}

/**
 * Returns true if `selector` selects the pods of `workload`, by the labels of its template. An invalid selector, which
 * the API server refuses, selects none.
 */
export function selects(
  selector: LabelSelector | undefined,
  workload: UnstructuredObject,
): boolean {
  if (!rollsPods(workload)) return false;
  try {
    return matchesLabels(selector, podTemplateIn(workload)?.metadata?.labels);
  } catch (error) {
    if (isOperatorError(error, 'InvalidSelector')) return false;
    throw error;
  }
}

/** Returns true if another manager has set the field `name` of the `spec`, which the operator applied before. */
export function isTaken({ settings }: RunContext, live: UnstructuredObject, name: string): boolean {
  const applied = appliedFields(live, settings.controllerName);
  return applied !== undefined && !applied.has(fieldPath('spec', name));
}
