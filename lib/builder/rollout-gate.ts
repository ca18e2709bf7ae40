import { rollsPods } from '../apply/index.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';
import { isRollingOut, rolloutStatus } from '../object/rollout-status.js';
import { hasHopelessPod } from './blocking-pod.js';
import type { ChainedObject } from './chain.js';
import type { RunContext } from './context.js';
import { rolloutStateOf } from './rollout-state.js';

/** What a workload has to wait for: those before it. */
export interface WorkloadGate {
  /** Why its pods must not be replaced yet; undefined: they may be. */
  readonly replacement?: string | undefined;
  /** Why it must not be created yet; undefined: it may be. */
  readonly creation?: string | undefined;
}

/**
 * Why the pods of a workload must not be replaced yet; undefined: they may be. A workload that is
 * itself broken (none of its pods is available, one can't start, or its rollout is stuck) never waits:
 * the change may be its repair.
 */
export async function reasonToHold(
  context: RunContext,
  { chained, live }: { readonly chained: ChainedObject; readonly live: UnstructuredObject },
  { replacement }: WorkloadGate,
): Promise<string | undefined> {
  if (replacement === undefined || !rollsPods(live)) return undefined;
  const { clock, controllerName } = context.settings;
  const { progressDeadlineSeconds = 600 } = chained.link.workload ?? {};
  const judgement = { clock, controllerName, progressDeadlineSeconds };
  const isBroken =
    rolloutStateOf(live, judgement)?.state === 'stuck' ||
    (!isRollingOut(live) && hasNoPods(live)) ||
    (!rolloutStatus(live).complete && (await hasHopelessPod(context, live)));
  return isBroken ? undefined : replacement;
}

/** Whether pods are wanted, and none is available. */
function hasNoPods(live: UnstructuredObject): boolean {
  const { availableReplicas, numberAvailable } = (live['status'] ?? {}) as {
    readonly availableReplicas?: number;
    readonly numberAvailable?: number;
  };
  return !rolloutStatus(live).complete && (availableReplicas ?? numberAvailable ?? 0) === 0;
}
