import { findCondition, isConditionTrue } from './conditions.js';
import { describeObject } from './describe-object.js';
import type { DaemonSet, Deployment, Job, StatefulSet } from './kinds.js';
import type { KubernetesObject } from './kubernetes-object.js';
import { groupOf } from './resource-type.js';

/** The reason why a rollout is incomplete. */
export type RolloutReason =
  /** The controller has not observed the latest spec. */
  | 'NotObserved'
  /** Pods of the new revision are missing. */
  | 'Updating'
  /** Pods of the old revision still exist. */
  | 'OldPodsTerminating'
  /** Pods of the new revision are not available yet. */
  | 'NotAvailable'
  /** A Deployment exceeded its `progressDeadlineSeconds`. */
  | 'ProgressDeadlineExceeded'
  /** A Job is still running. */
  | 'Running'
  /** A Job failed permanently. */
  | 'Failed';

/** The progress of a workload's rollout. */
export type RolloutStatus =
  | { readonly complete: true }
  | {
      readonly complete: false;
      readonly reason: RolloutReason;
      /** A message for people, with the workload and the numbers. */
      readonly message: string;
      /** True if the controller makes no further attempts, so that waiting longer does not help. */
      readonly stuck: boolean;
    };

const complete: RolloutStatus = { complete: true };

/**
 * Returns whether a workload's rollout is complete, by the criteria of `kubectl rollout status`. Differences:
 * - A StatefulSet without partition must have moved to its new revision.
 * - Pods count once they were ready for `minReadySeconds`.
 * - A Job is complete when it succeeded.
 * - Workloads with the update strategy `OnDelete` and kinds without a rollout are complete. So are kinds of other
 *   groups than `apps` and `batch`, whatever their names.
 */
export function rolloutStatus(object: KubernetesObject): RolloutStatus {
  switch (workloadKind(object)) {
    case 'Deployment':
      return deploymentStatus(object as Deployment);
    case 'StatefulSet':
      return statefulSetStatus(object as StatefulSet);
    case 'DaemonSet':
      return daemonSetStatus(object as DaemonSet);
    case 'Job':
      return jobStatus(object as Job);
    default:
      return complete;
  }
}

const workloadGroups: ReadonlyMap<string, string> = new Map([
  ...(['Deployment', 'StatefulSet', 'DaemonSet'] as const).map((kind) => [kind, 'apps'] as const),
  ['Job', 'batch'],
]);

/**
 * Returns the kind of a workload; empty for other kinds. Other API groups may have kinds of these names too, for
 * example `Job` in `batch.volcano.sh`.
 */
function workloadKind({ apiVersion, kind }: KubernetesObject): string {
  const group = workloadGroups.get(kind);
  return group !== undefined && groupOf(apiVersion) === group ? kind : '';
}

/**
 * Whether a workload's controller is replacing Pods after a template change, or has not observed the latest
 * spec. Missing ready Pods alone are not a rollout: the first Pods may never have started, or the workload
 * was scaled or lost Pods after its rollout. A paused Deployment is not rolling out, nor is a workload with
 * the update strategy `OnDelete`.
 */
export function isRollingOut(object: KubernetesObject): boolean {
  switch (workloadKind(object)) {
    case 'Deployment':
      return isDeploymentRollingOut(object as Deployment);
    case 'StatefulSet':
      return isStatefulSetRollingOut(object as StatefulSet);
    case 'DaemonSet':
      return isDaemonSetRollingOut(object as DaemonSet);
    default:
      return false;
  }
}

function deploymentStatus(deployment: Deployment): RolloutStatus {
  const { spec, status = {} } = deployment;
  if (!isObserved(deployment, status)) return notObserved(deployment);
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  const wanted = spec?.replicas ?? 1;
  const progressing = findCondition(status.conditions, 'Progressing');
  if (progressing?.reason === 'ProgressDeadlineExceeded') {
    const seconds = spec?.progressDeadlineSeconds ?? 600;
    const why = `made no progress within ${seconds} s`;
    return waiting(deployment, 'ProgressDeadlineExceeded', why);
  }
  if (updatedReplicas < wanted) {
    return waiting(deployment, 'Updating', `${updatedReplicas} of ${wanted} new Pods exist`);
  }
  if (replicas > updatedReplicas) {
    const old = replicas - updatedReplicas;
    return waiting(deployment, 'OldPodsTerminating', `${old} old Pods still exist`);
  }
  if (availableReplicas < updatedReplicas) {
    return notAvailable(deployment, availableReplicas, updatedReplicas);
  }
  return complete;
}

function isDeploymentRollingOut(deployment: Deployment): boolean {
  const { metadata, spec, status = {} } = deployment;
  if (spec?.paused === true) return false;
  if (!isObserved(deployment, status)) return true;
  const { replicas = 0, updatedReplicas = 0, conditions } = status;
  if (replicas > updatedReplicas) return true;
  const revision = metadata.annotations?.['deployment.kubernetes.io/revision'] ?? '1';
  if (revision === '1') return false;
  // The reason stays until the template changes again, even if Pods become unavailable.
  const progressing = findCondition(conditions, 'Progressing');
  return progressing !== undefined && progressing.reason !== 'NewReplicaSetAvailable';
}

function statefulSetStatus(set: StatefulSet): RolloutStatus {
  const { spec, status } = set;
  if (spec?.updateStrategy?.type === 'OnDelete') return complete;
  if (!isObserved(set, status)) return notObserved(set);
  const wanted = spec?.replicas ?? 1;
  const ready =
    (spec?.minReadySeconds ?? 0) > 0 ? status?.availableReplicas : status?.readyReplicas;
  if ((ready ?? 0) < wanted) return notAvailable(set, ready ?? 0, wanted);
  const partition = spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  const wantedNew = Math.max(0, wanted - partition);
  const updated = status?.updatedReplicas ?? 0;
  if (updated < wantedNew) {
    return waiting(set, 'Updating', `${updated} of ${wantedNew} Pods are of the new revision`);
  }
  if (partition === 0 && status?.currentRevision !== status?.updateRevision) {
    const revision = status?.updateRevision ?? '';
    return waiting(set, 'Updating', `it has not moved to revision ${revision}`);
  }
  return complete;
}

function isStatefulSetRollingOut(set: StatefulSet): boolean {
  const { spec, status } = set;
  if (spec?.updateStrategy?.type === 'OnDelete') return false;
  if (!isObserved(set, status)) return true;
  const { replicas = 0, updatedReplicas = 0, currentRevision, updateRevision } = status ?? {};
  const partition = spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  if (updatedReplicas < Math.max(0, replicas - partition)) return true;
  if (currentRevision === updateRevision) return false;
  // The two revisions differ as long as a partition is set.
  return partition === 0 || !statefulSetStatus(set).complete;
}

function daemonSetStatus(set: DaemonSet): RolloutStatus {
  const { spec, status } = set;
  if (spec?.updateStrategy?.type === 'OnDelete') return complete;
  if (!isObserved(set, status)) return notObserved(set);
  const wanted = status?.desiredNumberScheduled ?? 0;
  const updated = status?.updatedNumberScheduled ?? 0;
  if (updated < wanted) {
    return waiting(set, 'Updating', `${updated} of ${wanted} Pods are of the new revision`);
  }
  const available = status?.numberAvailable ?? 0;
  return available < wanted ? notAvailable(set, available, wanted) : complete;
}

// The status does not show whether a Pod of the new template was ever available. If a Pod is available now, the
// template works, and a failure of a node does not count as a rollout.
function isDaemonSetRollingOut(set: DaemonSet): boolean {
  const { metadata, spec, status } = set;
  if (spec?.updateStrategy?.type === 'OnDelete') return false;
  if (!isObserved(set, status)) return true;
  const { desiredNumberScheduled: wanted = 0, currentNumberScheduled: current = 0 } = status ?? {};
  const { updatedNumberScheduled: updated = 0, numberAvailable: available = 0 } = status ?? {};
  if (updated < current) return true;
  const generation = metadata.annotations?.['deprecated.daemonset.template.generation'] ?? '1';
  return generation !== '1' && (updated < wanted || (available === 0 && wanted > 0));
}

function jobStatus(job: Job): RolloutStatus {
  const conditions = job.status?.conditions;
  if (isConditionTrue(conditions, 'Complete')) return complete;
  const failed = findCondition(conditions, 'Failed');
  if (failed?.status !== 'True') return waiting(job, 'Running', 'it has not completed');
  return waiting(
    job,
    'Failed',
    `it failed: ${failed.message ?? failed.reason ?? 'no reason given'}`,
  );
}

function isObserved(
  { metadata }: KubernetesObject,
  status: { readonly observedGeneration?: number | undefined } = {},
): boolean {
  const { observedGeneration = 0 } = status;
  // 0 means that the controller has not observed the object, even if the object has no generation.
  return observedGeneration > 0 && observedGeneration >= (metadata.generation ?? 0);
}

function notObserved(object: KubernetesObject): RolloutStatus {
  return waiting(object, 'NotObserved', 'its controller has not seen the newest spec');
}

function notAvailable(object: KubernetesObject, available: number, wanted: number): RolloutStatus {
  return waiting(object, 'NotAvailable', `${available} of ${wanted} Pods are available`);
}

function waiting(object: KubernetesObject, reason: RolloutReason, why: string): RolloutStatus {
  const stuck = reason === 'ProgressDeadlineExceeded' || reason === 'Failed';
  return { complete: false, reason, message: `${describeObject(object)}: ${why}`, stuck };
}
