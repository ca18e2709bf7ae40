import { findCondition, formatTime } from '../../object/index.js';
import type { Deployment, ReplicaSet } from '../../object/index.js';
import { rolloutLimits } from './deployment-scaling.js';
import { counted, timestampMs, transitionTime } from './pod-state.js';

interface DeploymentObservation {
  readonly deployment: Deployment;
  /** The ReplicaSet with the Deployment's template, if it exists. */
  readonly current: ReplicaSet | undefined;
  readonly old: readonly ReplicaSet[];
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

// A `progressDeadlineSeconds` of this number means no deadline.
const noDeadlineSeconds = 2 ** 31 - 1;

/** Computes the counts, the generation and the condition `Available`. Other conditions stay unchanged. */
export function deploymentStatus(observation: DeploymentObservation): DeploymentStatus {
  const { deployment, current, old, nowMs } = observation;
  const sets = current === undefined ? old : [...old, current];
  const { replicas = 1 } = deployment.spec ?? {};
  const available = sum(sets, (set) => set.status?.availableReplicas);
  const total = sum(sets, (set) => set.spec?.replicas ?? 1);
  const enough = available >= replicas - rolloutLimits(deployment).maxUnavailable;
  const { collisionCount, conditions = [] } = deployment.status ?? {};
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...counted(
      'replicas',
      sum(sets, (set) => set.status?.replicas),
    ),
    ...counted('updatedReplicas', current?.status?.replicas ?? 0),
    ...counted(
      'readyReplicas',
      sum(sets, (set) => set.status?.readyReplicas),
    ),
    ...counted('availableReplicas', available),
    ...counted('unavailableReplicas', Math.max(0, total - available)),
    terminatingReplicas: sum(sets, (set) => set.status?.terminatingReplicas),
    ...(collisionCount !== undefined && { collisionCount }),
    conditions: withCondition(conditions, availability(enough), nowMs),
  };
}

/** Computes `deploymentStatus` and the conditions of the rollout, `Progressing` and `ReplicaFailure`. */
export function rolloutStatus(observation: DeploymentObservation): DeploymentStatus {
  const { current, old } = observation;
  const status = deploymentStatus(observation);
  const progress = progressConditions(observation, status);
  const failure = replicaFailure(current, old);
  const { nowMs } = observation;
  const conditions =
    failure === undefined
      ? withoutCondition(progress, 'ReplicaFailure')
      : withCondition(progress, failure, nowMs);
  return { ...status, conditions };
}

/** Returns true if all pods have the newest template and are available. */
export function isDeploymentComplete(deployment: Deployment, status: DeploymentStatus): boolean {
  const { replicas = 1 } = deployment.spec ?? {};
  const { updatedReplicas = 0, replicas: total = 0, availableReplicas = 0 } = status;
  const counts = [updatedReplicas, total, availableReplicas];
  const observed = (status.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0);
  return observed && counts.every((count) => count === replicas);
}

/** Returns `progressDeadlineSeconds` in milliseconds, or undefined if the Deployment has no deadline. */
export function progressDeadlineMs(deployment: Deployment): number | undefined {
  const seconds = deployment.spec?.progressDeadlineSeconds;
  return seconds === undefined || seconds === noDeadlineSeconds ? undefined : seconds * 1000;
}

/** Returns the milliseconds until the progress deadline, or undefined if no deadline runs. */
export function deadlineInMs(
  deployment: Deployment,
  status: DeploymentStatus,
  nowMs: number,
): number | undefined {
  const deadlineMs = progressDeadlineMs(deployment);
  const progressing = findCondition(status.conditions ?? [], 'Progressing');
  if (deadlineMs === undefined || progressing === undefined) return undefined;
  const over = progressing.reason === 'ProgressDeadlineExceeded';
  if (over || isDeploymentComplete(deployment, status)) return undefined;
  // Times have whole seconds. Without one more second, the check could come too early.
  return Math.max(0, timestampMs(progressing.lastUpdateTime) + deadlineMs - nowMs) + 1000;
}

function progressConditions(
  observation: DeploymentObservation,
  status: DeploymentStatus,
): DeploymentCondition[] {
  const { deployment, nowMs } = observation;
  const conditions = status.conditions ?? [];
  if (progressDeadlineMs(deployment) === undefined) {
    return withoutCondition(conditions, 'Progressing');
  }
  const progressing = findCondition(conditions, 'Progressing');
  const { replicas, updatedReplicas } = status;
  const done = replicas === updatedReplicas && progressing?.reason === 'NewReplicaSetAvailable';
  if (done) return conditions;
  const subject = subjectOf(observation);
  if (isDeploymentComplete(deployment, status)) {
    const message = `${subject} has successfully progressed.`;
    const statement = { status: 'True', reason: 'NewReplicaSetAvailable', message } as const;
    return withCondition(conditions, { type: 'Progressing', ...statement }, nowMs);
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    const message = `${subject} is progressing.`;
    const statement = { status: 'True', reason: 'ReplicaSetUpdated', message } as const;
    return renewedCondition(conditions, { type: 'Progressing', ...statement }, nowMs);
  }
  if (!hasTimedOut(deployment, progressing, nowMs)) return conditions;
  const message = `${subject} has timed out progressing.`;
  const statement = { status: 'False', reason: 'ProgressDeadlineExceeded', message } as const;
  return withCondition(conditions, { type: 'Progressing', ...statement }, nowMs);
}

function subjectOf({ deployment, current }: DeploymentObservation): string {
  if (current === undefined) return `Deployment "${deployment.metadata.name ?? ''}"`;
  return `ReplicaSet "${current.metadata.name ?? ''}"`;
}

function hasProgressed(before: DeploymentStatus, now: DeploymentStatus): boolean {
  const oldReplicas = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number =>
    replicas - updatedReplicas;
  return (
    (now.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    oldReplicas(now) < oldReplicas(before) ||
    (now.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function hasTimedOut(
  deployment: Deployment,
  progressing: DeploymentCondition | undefined,
  nowMs: number,
): boolean {
  const deadlineMs = progressDeadlineMs(deployment);
  if (deadlineMs === undefined || progressing === undefined) return false;
  if (progressing.reason === 'NewReplicaSetAvailable') return false;
  if (progressing.reason === 'ProgressDeadlineExceeded') return true;
  return timestampMs(progressing.lastUpdateTime) + deadlineMs < nowMs;
}

/** Returns a failure of one of the ReplicaSets. The new ReplicaSet takes precedence over old ReplicaSets. */
function replicaFailure(
  current: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): { type: 'ReplicaFailure'; status: 'True'; reason: string; message: string } | undefined {
  for (const set of current === undefined ? old : [current, ...old]) {
    const failure = set.status?.conditions?.find(({ type }) => type === 'ReplicaFailure');
    const { reason = '', message = '' } = failure ?? {};
    if (failure !== undefined) return { type: 'ReplicaFailure', status: 'True', reason, message };
  }
  return undefined;
}

function availability(enough: boolean): {
  type: 'Available';
  status: 'True' | 'False';
  reason: string;
  message: string;
} {
  const type = 'Available';
  return enough
    ? {
        type,
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      }
    : {
        type,
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      };
}

function sum(sets: readonly ReplicaSet[], count: (set: ReplicaSet) => number | undefined): number {
  return sets.reduce((total, set) => total + (count(set) ?? 0), 0);
}

export type DeploymentStatus = NonNullable<Deployment['status']>;
type DeploymentCondition = NonNullable<DeploymentStatus['conditions']>[number];

/** A condition without its times, which are added when it is set. */
export interface ConditionStatement {
  readonly type: 'Available' | 'Progressing' | 'ReplicaFailure';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** Returns `conditions` without the one of `type`. */
function withoutCondition(
  conditions: readonly DeploymentCondition[],
  type: ConditionStatement['type'],
): DeploymentCondition[] {
  return conditions.filter((condition) => condition.type !== type);
}

/**
 * Returns `conditions` with `statement` at the end. A condition with the same status and reason stays
 * unchanged. A condition with the same status keeps its transition time.
 */
export function withCondition(
  conditions: readonly DeploymentCondition[],
  statement: ConditionStatement,
  nowMs: number,
): DeploymentCondition[] {
  const current = findCondition(conditions, statement.type);
  const same = current?.status === statement.status && current.reason === statement.reason;
  return same ? [...conditions] : renewedCondition(conditions, statement, nowMs);
}

/** Like {@link withCondition}, but always sets a new update time. */
export function renewedCondition(
  conditions: readonly DeploymentCondition[],
  statement: ConditionStatement,
  nowMs: number,
): DeploymentCondition[] {
  const { type, status } = statement;
  const lastTransitionTime = transitionTime(findCondition(conditions, type), status, nowMs);
  const condition = { ...statement, lastUpdateTime: formatTime(nowMs), lastTransitionTime };
  return [...withoutCondition(conditions, statement.type), condition];
}

/**
 * Returns the Deployment with a `Progressing` condition that records a pause or its end. Without it, a
 * Deployment that was paused for longer than its progress deadline would be reported as stuck when it
 * resumes.
 */
export function withPauseCondition(deployment: Deployment, nowMs: number): Deployment {
  if (progressDeadlineMs(deployment) === undefined) return deployment;
  const conditions = deployment.status?.conditions ?? [];
  const reason = findCondition(conditions, 'Progressing')?.reason;
  if (reason === 'ProgressDeadlineExceeded') return deployment;
  const paused = deployment.spec?.paused === true;
  if (paused === (reason === 'DeploymentPaused')) return deployment;
  const said = paused
    ? { reason: 'DeploymentPaused', message: 'Deployment is paused' }
    : { reason: 'DeploymentResumed', message: 'Deployment is resumed' };
  const statement = { type: 'Progressing', status: 'Unknown', ...said } as const;
  const status = { ...deployment.status, conditions: withCondition(conditions, statement, nowMs) };
  return { ...deployment, status };
}
