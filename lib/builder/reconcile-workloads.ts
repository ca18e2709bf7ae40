import { causeOfRollout, rollsPods } from '../apply/index.js';
import type { ObjectResult, Outcome, RolloutState } from '../apply/index.js';
import {
  isConflict,
  isNotFound,
  describeObject,
  Pod,
  keyOf,
  referenceTo,
  isRollingOut,
  rolloutStatus,
} from '../object/index.js';
import type { UnstructuredObject } from '../object/index.js';
import type { WorkloadSettings } from './link.js';
import { blockedMessage, blockingPod, mayBeBlocked, rolloutStateOf } from './rollout-state.js';
import type { ChainedObject } from './chain.js';
import type { RunContext } from './context.js';
import type { WorkloadGate } from './rollout-state.js';

/** Returns the workloads in the order of their updates: by `rolloutOrder`, then in the order of the chain. */
export function inRolloutOrder(
  workloads: readonly ChainedObject[],
  order: readonly string[] | undefined,
): readonly ChainedObject[] {
  if (order === undefined) return workloads;
  const rank = ({ link }: ChainedObject): number => {
    const at = order.indexOf(link.workload?.nodeType ?? '');
    return at < 0 ? order.length : at;
  };
  return workloads.toSorted((one, other) => rank(one) - rank(other));
}

/** Reconciles one object. With `gate`, its creation or the replacement of its pods may have to wait. */
export type ReconcileOne = (chained: ChainedObject, gate?: WorkloadGate) => Promise<Outcome>;

/**
 * Reconciles workloads in sequence. A changed pod template waits while an earlier workload rolls out, so that
 * a broken change stops at the first workload. With `orderCreation`, a creation waits until all earlier
 * workloads are rolled out. Other changes, such as drift, scale and labels, never wait.
 */
export async function reconcileWorkloads(
  context: RunContext,
  workloads: readonly ChainedObject[],
  reconcileOne: ReconcileOne,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  let gate: WorkloadGate = {};
  for (const chained of inRolloutOrder(workloads, context.settings.rolloutOrder)) {
    const outcome = await reconcileOne(chained, rollsPods(chained.ref) ? gate : {});
    outcomes.push(outcome);
    gate = gateAfter(context, gate, { chained, outcome });
  }
  return outcomes;
}

interface Reconciled {
  readonly chained: ChainedObject;
  readonly outcome: Outcome;
}

function gateAfter(
  { settings }: RunContext,
  { replacement, creation }: WorkloadGate,
  reconciled: Reconciled,
): WorkloadGate {
  if (!rollsPods(reconciled.chained.ref)) return { replacement, creation };
  const { rollout, orderCreation } = settings;
  return {
    replacement:
      replacement ?? (rollout === 'ordered' ? waitsFor(reconciled, replacesPods) : undefined),
    creation: creation ?? (orderCreation ? waitsFor(reconciled, isUnderway) : undefined),
  };
}

/** Returns the reason why later workloads have to wait; undefined if they need not. */
function waitsFor(
  { chained: { ref }, outcome }: Reconciled,
  isUnfinished: (result: ObjectResult, live: UnstructuredObject) => boolean,
): string | undefined {
  const name = describeObject(ref);
  switch (outcome.state) {
    case 'failed':
      return `waits for ${name}, which failed`;
    case 'pending':
      return `waits for ${name}, which is pending: ${outcome.result.reason ?? ''}`;
    case 'done': {
      const { live, result } = outcome;
      if (live === undefined || !isUnfinished(result, live)) return undefined;
      const { state = 'progressing', message = '' } = result.rollout ?? {};
      const how = state === 'stuck' ? 'whose rollout is stuck' : 'which is being rolled out';
      return `waits for ${name}, ${how}: ${message}`;
    }
  }
}

function replacesPods({ operation }: ObjectResult, live: UnstructuredObject): boolean {
  return operation !== 'created' && isRollingOut(live);
}

function isUnderway({ rollout }: Pick<ObjectResult, 'rollout'>): boolean {
  return rollout?.state === 'progressing' || rollout?.state === 'stuck';
}

/** Adds the rollout state to `outcome`. Reports a blocking pod, or deletes it if `unblock` is set. */
export async function withRollout(
  context: RunContext,
  { link, ref }: ChainedObject,
  outcome: Outcome,
): Promise<Outcome> {
  if (outcome.state === 'failed' || outcome.live === undefined) return outcome;
  const { progressDeadlineSeconds = 600, unblock = false } = link.workload ?? {};
  const judgement = { ...context.settings, progressDeadlineSeconds };
  const timed = rolloutStateOf(outcome.live, judgement);
  if (timed === undefined) return outcome;
  const { deadlineInMs, ...judged } = timed;
  const blocked = isUnderway({ rollout: judged })
    ? await unblocked(context, outcome.live, { unblock, progressDeadlineSeconds })
    : undefined;
  const rollout = blocked ?? judged;
  emitRollout(context.settings, outcome.result, outcome.live);
  if (rollout.state === 'stuck') {
    const note = rollout.message;
    context.report({
      type: 'Warning',
      reason: 'RolloutStuck',
      action: 'Rollout',
      note,
      related: ref,
    });
  }
  const requeueAfterMs = outcome.result.requeueAfterMs ?? deadlineInMs;
  const result = {
    ...outcome.result,
    rollout,
    ...(requeueAfterMs !== undefined && { requeueAfterMs }),
  };
  return { ...outcome, result };
}

/** Emits the state of a rollout that is not complete. */
export function emitRollout(
  { emitter, owner }: RunContext['settings'],
  result: ObjectResult,
  live: UnstructuredObject,
): void {
  const status = rolloutStatus(live);
  if (status.complete) return;
  const cause = causeOfRollout(result.causes ?? []);
  emitter?.emit('rollout', { ref: result.ref, owner: referenceTo(owner), cause, status });
}

/**
 * Computes the rollout state from the workload alone.
 * @returns undefined if the rollout is stuck, or if its pods have to be read
 */
export function quietRollout(
  settings: RunContext['settings'],
  live: UnstructuredObject,
  { progressDeadlineSeconds = 600 }: Partial<WorkloadSettings> = {},
): Pick<ObjectResult, 'rollout' | 'requeueAfterMs'> | undefined {
  const timed = rolloutStateOf(live, { ...settings, progressDeadlineSeconds });
  if (timed === undefined || timed.state === 'stuck') return undefined;
  const { deadlineInMs, ...rollout } = timed;
  if (isUnderway({ rollout }) && mayBeBlocked(live)) return undefined;
  return { rollout, ...(deadlineInMs !== undefined && { requeueAfterMs: deadlineInMs }) };
}

interface Unblocking {
  readonly unblock: boolean;
  readonly progressDeadlineSeconds: number;
}

async function unblocked(
  context: RunContext,
  live: UnstructuredObject,
  { unblock, progressDeadlineSeconds }: Unblocking,
): Promise<RolloutState | undefined> {
  const pod = await blockingPod(context, live, progressDeadlineSeconds);
  if (pod === undefined) return undefined;
  if (!unblock) return { state: 'stuck', message: blockedMessage(pod) };
  const { uid = '' } = pod.metadata;
  const { signal } = context.settings;
  await deleteQuietly(() =>
    context.client.delete(Pod, keyOf(pod), { preconditions: { uid }, signal }),
  );
  const note = `deleted ${describeObject(pod)}: it is of an older revision, and was not ready`;
  const related = referenceTo(pod);
  context.report({ type: 'Normal', reason: 'Unblocked', action: 'Rollout', note, related });
  return { state: 'progressing', message: note };
}

// 404 and 409: the pod is gone or was replaced, so it no longer blocks the rollout.
async function deleteQuietly(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
