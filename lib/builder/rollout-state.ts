import { isKind, rollsPods } from '../apply/index.js';
import type { RolloutState } from '../apply/index.js';
import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import { rolloutStatus } from '../object/rollout-status.js';
import { Deployment } from '../object/kinds.js';
import type { Clock } from '../system/clock.js';

/** What {@link rolloutStateOf} judges by. */
export interface RolloutJudgement {
  readonly clock: Clock;
  /** Our field manager: when it last wrote is when the rollout began. */
  readonly controllerName: string;
  readonly progressDeadlineSeconds: number;
}

/** A {@link RolloutState}, and when it has to be looked at again. */
export interface TimedRolloutState extends RolloutState {
  /** Milliseconds until it counts as stuck. The server tells of a stuck Deployment by itself. */
  readonly deadlineInMs?: number;
}

/** How far the rollout of `live` is; undefined for kinds that have none. */
export function rolloutStateOf(
  live: UnstructuredObject,
  judgement: RolloutJudgement,
): TimedRolloutState | undefined {
  if (!rollsPods(live)) return undefined;
  if (updatesOnDelete(live)) {
    return { state: 'unwatched', message: 'its pods are replaced when they are deleted' };
  }
  const status = rolloutStatus(live);
  if (!status.complete && isPaused(live)) {
    return { state: 'unwatched', message: 'it is paused: its pods stay until it is resumed' };
  }
  if (status.complete) return { state: 'complete', message: 'rolled out' };
  const { message, stuck } = status;
  if (stuck) return { state: 'stuck', message };
  if (isKind(live, Deployment)) return { state: 'progressing', message };
  return againstDeadline(live, message, judgement);
}

function againstDeadline(
  live: UnstructuredObject,
  message: string,
  { clock, controllerName, progressDeadlineSeconds }: RolloutJudgement,
): TimedRolloutState {
  const progressMs = lastProgressMs(live, controllerName);
  const deadlineMs = progressDeadlineSeconds * 1_000;
  // The server's time: where our own wall clock is behind it, waiting for the difference would be long.
  const leftMs = Math.min(progressMs + deadlineMs - clock.now(), deadlineMs);
  if (leftMs > 0) return { state: 'progressing', message, deadlineInMs: leftMs };
  const stuck = `${message}, without progress for more than ${progressDeadlineSeconds} s`;
  return { state: 'stuck', message: stuck };
}

// StatefulSets and DaemonSets don't say since when they try. The server notes when we last changed
// the spec, and when the controller last had something new to say in the status.
function lastProgressMs({ metadata }: KubernetesObject, manager: string): number {
  const { managedFields = [], creationTimestamp = '' } = metadata;
  const times = managedFields
    .filter((entry) => entry.manager === manager || entry.subresource === 'status')
    .map(({ time = '' }) => Date.parse(time));
  const known = [Date.parse(creationTimestamp), ...times].filter((time) => !Number.isNaN(time));
  return Math.max(0, ...known);
}

/** Whether a Deployment is paused: a changed template waits until it is resumed. */
export function isPaused(live: UnstructuredObject): boolean {
  const { paused = false } = (live['spec'] ?? {}) as { readonly paused?: boolean };
  return isKind(live, Deployment) && paused;
}

/** Whether the pods of a workload stay as they are until somebody deletes them. */
export function updatesOnDelete(live: UnstructuredObject): boolean {
  const { updateStrategy } = (live['spec'] ?? {}) as {
    readonly updateStrategy?: { readonly type?: string };
  };
  return updateStrategy?.type === 'OnDelete';
}
