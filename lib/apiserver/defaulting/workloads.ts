import type {
  V1CronJob,
  V1DaemonSet,
  V1Deployment,
  V1JobSpec,
  V1PodTemplateSpec,
  V1ReplicaSet,
  V1StatefulSet,
} from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import { defaultPodSpec } from './pod-spec.js';
import { defaultClaimSpec } from './volume.js';

// Decoded objects always have `spec` and `template`: Go's zero values.

function defaultTemplate(template: Wire<V1PodTemplateSpec>): void {
  if (template.spec !== undefined) defaultPodSpec(template.spec);
}

/** Fills in the defaults of a Deployment, in place. */
export function defaultDeployment({ spec }: Wire<V1Deployment>): void {
  if (spec === undefined) return;
  spec.replicas ??= 1;
  spec.strategy ??= {};
  const { strategy } = spec;
  strategy.type ??= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate ??= {};
    strategy.rollingUpdate.maxUnavailable ??= '25%';
    strategy.rollingUpdate.maxSurge ??= '25%';
  }
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  defaultTemplate(spec.template);
}

/** Fills in the defaults of a ReplicaSet, in place. */
export function defaultReplicaSet({ spec }: Wire<V1ReplicaSet>): void {
  if (spec === undefined) return;
  spec.replicas ??= 1;
  if (spec.template !== undefined) defaultTemplate(spec.template);
}

/** Fills in the defaults of a StatefulSet, in place. */
export function defaultStatefulSet({ spec }: Wire<V1StatefulSet>): void {
  if (spec === undefined) return;
  spec.podManagementPolicy ??= 'OrderedReady';
  spec.updateStrategy ??= {};
  const { updateStrategy } = spec;
  if (updateStrategy.type === undefined) {
    updateStrategy.type = 'RollingUpdate';
    updateStrategy.rollingUpdate ??= {};
  }
  if (updateStrategy.type === 'RollingUpdate' && updateStrategy.rollingUpdate !== undefined) {
    updateStrategy.rollingUpdate.partition ??= 0;
  }
  spec.persistentVolumeClaimRetentionPolicy ??= {};
  spec.persistentVolumeClaimRetentionPolicy.whenDeleted ??= 'Retain';
  spec.persistentVolumeClaimRetentionPolicy.whenScaled ??= 'Retain';
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  defaultTemplate(spec.template);
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.apiVersion ??= 'v1';
    claim.kind ??= 'PersistentVolumeClaim';
    if (claim.spec !== undefined) defaultClaimSpec(claim.spec);
    claim.status ??= {};
    claim.status.phase ??= 'Pending';
  }
}

/** Fills in the defaults of a DaemonSet, in place. */
export function defaultDaemonSet({ spec }: Wire<V1DaemonSet>): void {
  if (spec === undefined) return;
  spec.updateStrategy ??= {};
  const { updateStrategy } = spec;
  updateStrategy.type ??= 'RollingUpdate';
  if (updateStrategy.type === 'RollingUpdate') {
    updateStrategy.rollingUpdate ??= {};
    updateStrategy.rollingUpdate.maxUnavailable ??= 1;
    updateStrategy.rollingUpdate.maxSurge ??= 0;
  }
  spec.revisionHistoryLimit ??= 10;
  defaultTemplate(spec.template);
}

const largestInt32 = 2 ** 31 - 1;

/**
 * Fills in the defaults of a Job's spec, in place.
 * @param withJob - false for a CronJob's template.
 */
export function defaultJobSpec(spec: Wire<V1JobSpec>, withJob: boolean): void {
  if (withJob) {
    if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
    spec.parallelism ??= 1;
    spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : largestInt32;
    spec.completionMode ??= 'NonIndexed';
    spec.suspend ??= false;
    spec.podReplacementPolicy ??=
      spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
    spec.manualSelector ??= false;
  }
  for (const { onPodConditions } of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of onPodConditions ?? []) pattern.status ||= 'True';
  }
  defaultTemplate(spec.template);
}

/** Fills in the defaults of a CronJob, in place. */
export function defaultCronJob({ spec }: Wire<V1CronJob>): void {
  if (spec === undefined) return;
  spec.concurrencyPolicy ??= 'Allow';
  spec.suspend ??= false;
  spec.successfulJobsHistoryLimit ??= 3;
  spec.failedJobsHistoryLimit ??= 1;
  if (spec.jobTemplate.spec !== undefined) defaultJobSpec(spec.jobTemplate.spec, false);
}
