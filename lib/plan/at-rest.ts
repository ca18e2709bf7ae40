import omitBy from 'lodash/omitBy.js';
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

/** Progress of an object towards its spec. */
export type Progress =
  /** No further change without a new write. */
  | 'rest'
  /** The cluster's controllers are working on it, or will. */
  | 'underway'
  /** The cluster's controllers failed or are paused. */
  | 'stuck';

interface Behavior {
  readonly progress: (object: UnstructuredObject) => Progress;
  /** Returns the status at rest, reached at `time`. */
  readonly status: (object: UnstructuredObject, time: string) => object;
}

/** Returns the progress of `object`; objects without a controller in the cluster are at rest. */
export function progressOf(object: UnstructuredObject): Progress {
  return behaviorOf(object)?.progress(object) ?? 'rest';
}

/**
 * Returns `object` after its controllers succeed: rolled out, complete, bound.
 * @param now - milliseconds since 1970
 */
export function atRest(object: UnstructuredObject, now: number): UnstructuredObject {
  const behavior = behaviorOf(object);
  if (behavior === undefined) return object;
  const time = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const { status: earlier = {} } = object as { readonly status?: object };
  const status = { ...earlier, ...behavior.status(object, time) };
  return { ...object, status: omitBy(status, (value) => value === undefined) };
}

function behaviorOf({ apiVersion, kind }: UnstructuredObject): Behavior | undefined {
  return behaviors[`${groupOf(apiVersion)}/${kind}`];
}

/** Defines a behavior with the type of its kind. */
function behavior<T>(
  progress: (object: T) => Progress,
  status: (object: T, time: string) => object,
): Behavior {
  return {
    progress: (object) => progress(object as unknown as T),
    status: (object, time) => status(object as unknown as T, time),
  };
}

const behaviors: Readonly<Record<string, Behavior>> = {
  'apps/Deployment': behavior<Deployment>(
    (object) => (object.spec?.paused === true ? 'stuck' : rolloutProgress(object)),
    deploymentStatus,
  ),
  'apps/StatefulSet': behavior<StatefulSet>(rolloutProgress, statefulSetStatus),
  'apps/DaemonSet': behavior<DaemonSet>(rolloutProgress, daemonSetStatus),
  'batch/Job': behavior<Job>(
    (object) => (object.spec?.suspend === true ? 'stuck' : rolloutProgress(object)),
    jobStatus,
  ),
  '/PersistentVolumeClaim': behavior<PersistentVolumeClaim>(claimProgress, claimStatus),
  '/Pod': behavior<Pod>(podProgress, podStatus),
};

function rolloutProgress(object: Deployment | StatefulSet | DaemonSet | Job): Progress {
  const status = rolloutStatus(object);
  if (status.complete) return 'rest';
  return status.stuck ? 'stuck' : 'underway';
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

function claimProgress({ spec, status }: PersistentVolumeClaim): Progress {
  if (status?.phase === 'Lost') return 'stuck';
  const wanted = spec?.resources?.requests?.['storage'];
  const has = status?.capacity?.['storage'];
  if (status?.phase !== 'Bound' || has === undefined) return 'underway';
  return wanted !== undefined && compareQuantities(has, wanted) < 0 ? 'underway' : 'rest';
}

function claimStatus({ spec }: PersistentVolumeClaim): object {
  const { accessModes, resources } = spec ?? {};
  return { phase: 'Bound', accessModes, capacity: { storage: resources?.requests?.['storage'] } };
}

function podProgress({ status }: Pod): Progress {
  if (status?.phase === 'Succeeded') return 'rest';
  if (status?.phase === 'Failed') return 'stuck';
  return findCondition(status?.conditions, 'Ready')?.status === 'True' ? 'rest' : 'underway';
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
