import { createHash } from 'node:crypto';
import { findCondition, compareQuantities, groupOf, rolloutStatus } from '../object/index.js';
import type {
  DaemonSet,
  Deployment,
  Job,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
  UnstructuredObject,
} from '../object/index.js';
import { withoutUndefined } from '../system/index.js';

interface Behavior {
  /** Whether the cluster's controllers are working on the object, or will; false: they are done, failed or paused. */
  readonly isUnderway: (object: UnstructuredObject) => boolean;
  /** Returns the status that the controllers would write at `time`, when their work on the object is complete. */
  readonly status: (object: UnstructuredObject, time: string) => object;
}

/**
 * Returns `object` after its controllers succeed: rolled out, complete, bound.
 * @param now - milliseconds since 1970
 * @returns undefined if its controllers do nothing without a new write: they are done, failed or paused
 */
export function atRest(object: UnstructuredObject, now: number): UnstructuredObject | undefined {
  const behavior = behaviors[`${groupOf(object.apiVersion)}/${object.kind}`];
  if (behavior?.isUnderway(object) !== true) return undefined;
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const { status: earlier = {} } = object as { readonly status?: object };
  const status = { ...earlier, ...behavior.status(object, time) };
  return { ...object, status: withoutUndefined(status) };
}

/** Defines a behavior with the type of its kind. */
function behavior<T>(
  isUnderway: (object: T) => boolean,
  status: (object: T, time: string) => object,
): Behavior {
  return {
    isUnderway: (object) => isUnderway(object as unknown as T),
    status: (object, time) => status(object as unknown as T, time),
  };
}

const behaviors: Readonly<Record<string, Behavior>> = {
  'apps/Deployment': behavior<Deployment>(
    (object) => object.spec?.paused !== true && isRolling(object),
    deploymentStatus,
  ),
  'apps/StatefulSet': behavior<StatefulSet>(isRolling, statefulSetStatus),
  'apps/DaemonSet': behavior<DaemonSet>(isRolling, daemonSetStatus),
  'batch/Job': behavior<Job>(
    (object) => object.spec?.suspend !== true && isRolling(object),
    jobStatus,
  ),
  '/PersistentVolumeClaim': behavior<PersistentVolumeClaim>(isBindingOrGrowing, claimStatus),
  '/Pod': behavior<Pod>(isStarting, podStatus),
};

function isRolling(object: Deployment | StatefulSet | DaemonSet | Job): boolean {
  const status = rolloutStatus(object);
  return !status.complete && !status.stuck;
}

function deploymentStatus({ metadata, spec }: Deployment, time: string): object {
  const replicas = spec?.replicas ?? 1;
  return {
    observedGeneration: metadata.generation ?? 1,
    ...{ replicas, updatedReplicas: replicas, readyReplicas: replicas },
    ...{ availableReplicas: replicas, unavailableReplicas: undefined },
    conditions: [
      condition('Available', 'MinimumReplicasAvailable', time),
      condition('Progressing', 'NewReplicaSetAvailable', time),
    ],
  };
}

function statefulSetStatus({ metadata, spec, status }: StatefulSet): object {
  const replicas = spec?.replicas ?? 1;
  const partition = spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  const hash = createHash('sha256').update(JSON.stringify(spec?.template));
  const revision = `${metadata.name ?? ''}-${hash.digest('hex').slice(0, 10)}`;
  const updated = Math.max(0, replicas - partition);
  return {
    observedGeneration: metadata.generation ?? 1,
    ...{ replicas, readyReplicas: replicas, availableReplicas: replicas },
    ...{ updatedReplicas: updated, updateRevision: revision },
    currentReplicas: partition === 0 ? replicas : replicas - updated,
    currentRevision: partition === 0 ? revision : (status?.currentRevision ?? revision),
  };
}

/** The number of nodes is known only if the DaemonSet ran before. */
function daemonSetStatus({ metadata, status }: DaemonSet): object {
  const nodes = Math.max(1, status?.desiredNumberScheduled ?? 1);
  return {
    observedGeneration: metadata.generation ?? 1,
    ...{ desiredNumberScheduled: nodes, currentNumberScheduled: nodes, numberMisscheduled: 0 },
    ...{ updatedNumberScheduled: nodes, numberReady: nodes, numberAvailable: nodes },
    numberUnavailable: undefined,
  };
}

function jobStatus({ spec, status }: Job, time: string): object {
  const succeeded = spec?.completions ?? spec?.parallelism ?? 1;
  return {
    startTime: status?.startTime ?? time,
    completionTime: time,
    ...{ succeeded, active: undefined, ready: 0, terminating: 0 },
    conditions: [
      condition('SuccessCriteriaMet', 'CompletionsReached', time),
      condition('Complete', 'CompletionsReached', time),
    ],
  };
}

function isBindingOrGrowing({ spec, status }: PersistentVolumeClaim): boolean {
  if (status?.phase === 'Lost') return false;
  const { storage: wanted = '0' } = spec?.resources?.requests ?? {};
  const { storage: has = '0' } = status?.capacity ?? {};
  return status?.phase !== 'Bound' || compareQuantities(has, wanted) < 0;
}

function claimStatus({ spec }: PersistentVolumeClaim): object {
  const { accessModes, resources } = spec ?? {};
  return { phase: 'Bound', accessModes, capacity: { storage: resources?.requests?.['storage'] } };
}

function isStarting({ status }: Pod): boolean {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return false;
  return findCondition(status?.conditions, 'Ready')?.status !== 'True';
}

function podStatus({ spec }: Pod, time: string): object {
  const runsOn = (spec?.restartPolicy ?? 'Always') === 'Always';
  const types = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'];
  return {
    phase: runsOn ? 'Running' : 'Succeeded',
    startTime: time,
    conditions: types.map((type) => ({
      ...{ type, lastTransitionTime: time },
      status: runsOn || type === 'PodScheduled' || type === 'Initialized' ? 'True' : 'False',
    })),
  };
}

function condition(type: string, reason: string, time: string): object {
  return { type, status: 'True', reason, lastTransitionTime: time, lastUpdateTime: time };
}
