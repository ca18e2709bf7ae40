import {
  isAlreadyExists,
  isNamespaceTerminating,
  deepEqual,
  Deployment,
  Pod,
  ReplicaSet,
} from '../../object/index.js';
import type { ObjectKey } from '../../object/index.js';
import { manager } from './controller-host.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import type { RecordEvent } from './controller-events.js';
import { DependentsClaim, followDependents } from './dependents.js';
import {
  desiredReplicas,
  isScalingEvent,
  newReplicaSetSize,
  replicasOf,
  rollingUpdateOf,
  rollingUpdateSteps,
  rolloutLimits,
  scalingSteps,
  hasTemplateOf,
  newReplicaSet,
  newReplicaSetAnnotations,
  replicaSetsToPrune,
  revisionAnnotation,
  revisionOf,
  sizeAnnotations,
} from './deployment-scaling.js';
import type { Rollout, ScaleStep } from './deployment-scaling.js';
import {
  deadlineInMs,
  deploymentStatus,
  isDeploymentComplete,
  progressDeadlineMs,
  rolloutStatus,
  withCondition,
  withPauseCondition,
} from './deployment-status.js';
import type { ConditionStatement, DeploymentStatus } from './deployment-status.js';
import { failureMessage, isPodFinished } from './pod-state.js';
import type { WorkQueue } from './work-queue.js';

/** Rolls out each Deployment with ReplicaSets, by the rules of kube-controller-manager. */
export class DeploymentController {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #recordEvent: RecordEvent;
  readonly #sets: DependentsClaim<ReplicaSet>;
  readonly #queue: WorkQueue<ObjectKey>;

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(manager);
    this.#recordEvent = host.events.from({ component: 'deployment-controller' });
    this.#sets = new DependentsClaim(host, this.#writer, ReplicaSet);
    this.#queue = host.objectQueue(Deployment, 'deployments', (key) => this.#reconcile(key));
    followDependents(host, { type: ReplicaSet, ownerType: Deployment, queue: this.#queue });
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const live = this.#host.get(Deployment, key);
    if (live === undefined) return;
    const sets = await this.#sets.claim(live);
    const rollout = rolloutOf(live, sets);
    if (live.metadata.deletionTimestamp !== undefined) {
      await this.#report(live, rollout, deploymentStatus);
      return;
    }
    const deployment = withPauseCondition(live, this.#host.now());
    const synced = await this.#syncNewest({ ...rollout, deployment });
    if (deployment.spec?.paused === true || isScalingEvent(synced)) {
      await this.#scaleAll(synced, scalingSteps(synced));
      if (deployment.spec?.paused === true) await this.#prune(synced);
      await this.#report(live, this.#fresh(synced), deploymentStatus);
    } else if (deployment.spec?.strategy?.type === 'Recreate') {
      await this.#recreate(live, synced);
    } else {
      await this.#roll(live, synced);
    }
  }

  async #roll(live: Deployment, rollout: Rollout): Promise<void> {
    const begun = await this.#withNewest(rollout);
    if (begun.current === undefined) return;
    const steps = rollingUpdateSteps(rollingUpdateOf(begun, begun.current));
    await this.#scaleAll(begun, steps);
    if (steps.length === 0 && isComplete(begun)) await this.#prune(begun);
    await this.#report(live, this.#fresh(begun), rolloutStatus);
  }

  async #recreate(live: Deployment, rollout: Rollout): Promise<void> {
    const running = rollout.old.filter((set) => replicasOf(set) > 0);
    await this.#scaleAll(
      rollout,
      running.map((set) => ({ name: set.metadata.name ?? '', replicas: 0 })),
    );
    const waiting = running.length > 0 || this.#hasRunningPods(rollout.old);
    const begun = waiting ? rollout : await this.#withNewest(rollout);
    if (!waiting && begun.current !== undefined) {
      const { name = '' } = begun.current.metadata;
      await this.#scaleAll(begun, [{ name, replicas: desiredReplicas(begun.deployment) }]);
      if (isComplete(begun)) await this.#prune(begun);
    }
    await this.#report(live, this.#fresh(begun), rolloutStatus);
  }

  #hasRunningPods(sets: readonly ReplicaSet[]): boolean {
    return sets.some((set) => this.#host.controlled(Pod, set).some((pod) => !isPodFinished(pod)));
  }

  /** Updates the annotations and `minReadySeconds` of the newest ReplicaSet, if it exists. */
  async #syncNewest(rollout: Rollout): Promise<Rollout> {
    const { deployment, current, old } = rollout;
    if (current === undefined) return rollout;
    const revision = Math.max(0, ...old.map(revisionOf)) + 1;
    const before = current.metadata.annotations ?? {};
    const annotations = newReplicaSetAnnotations(deployment, before, revision);
    const minReadySeconds = deployment.spec?.minReadySeconds;
    const sameDelay = (current.spec?.minReadySeconds ?? 0) === (minReadySeconds ?? 0);
    let newest = current;
    if (!sameDelay || !deepEqual(before, annotations)) {
      const metadata = { ...current.metadata, annotations };
      const spec = { ...current.spec, minReadySeconds: minReadySeconds ?? 0 };
      newest = await this.#writer.update({ ...current, metadata, spec } as ReplicaSet);
    }
    const message = `Found new replica set "${newest.metadata.name ?? ''}"`;
    const found = this.#withFirstProgress(deployment, { reason: 'FoundNewReplicaSet', message });
    return { ...rollout, current: newest, deployment: withRevision(found, newest) };
  }

  /** Creates the ReplicaSet for the Deployment's template unless it exists. */
  async #withNewest(rollout: Rollout): Promise<Rollout> {
    if (rollout.current !== undefined) return rollout;
    const { deployment, old } = rollout;
    const { maxSurge } = rolloutLimits(deployment);
    const revision = Math.max(0, ...old.map(revisionOf)) + 1;
    const made = newReplicaSet(deployment, { revision, replicas: 0, maxSurge });
    const replicas = firstSize(rollout, made);
    const set = { ...made, spec: { ...made.spec, replicas } } as ReplicaSet;
    const created = await this.#create(deployment, set);
    const message = `Created new replica set "${created.metadata.name ?? ''}"`;
    const statement = { reason: 'NewReplicaSetCreated', message };
    const begun = this.#withProgress(deployment, { ...statement, status: 'True' });
    return { ...rollout, current: created, deployment: withRevision(begun, created) };
  }

  async #create(deployment: Deployment, set: ReplicaSet): Promise<ReplicaSet> {
    try {
      const created = await this.#writer.create(set);
      this.#recordScaling(deployment, created, 0);
      return created;
    } catch (error) {
      if (isAlreadyExists(error)) await this.#countCollision(deployment);
      else if (!isNamespaceTerminating(error)) {
        await this.#reportFailedCreate(deployment, set, error);
      }
      throw error;
    }
  }

  /** Another ReplicaSet has the name. `collisionCount` is part of the hash, so that the next name differs. */
  async #countCollision(deployment: Deployment): Promise<void> {
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    await this.#writer.updateStatus(deployment, { ...deployment.status, collisionCount });
  }

  async #reportFailedCreate(
    deployment: Deployment,
    set: ReplicaSet,
    error: unknown,
  ): Promise<void> {
    const name = set.metadata.name ?? '';
    const message = `Failed to create new replica set "${name}": ${failureMessage(error)}`;
    const reason = 'ReplicaSetCreateError';
    this.#recordEvent({ about: deployment, type: 'Warning', reason, message });
    if (progressDeadlineMs(deployment) === undefined) return;
    const statement = { status: 'False', reason, message } as const;
    const failed = this.#withProgress(deployment, statement);
    await this.#writer.updateStatus(deployment, failed.status ?? {});
  }

  async #scaleAll({ deployment }: Rollout, steps: readonly ScaleStep[]): Promise<void> {
    const desired = desiredReplicas(deployment);
    const noted = sizeAnnotations(desired, rolloutLimits(deployment).maxSurge);
    for (const { name, replicas } of steps) {
      const { namespace } = deployment.metadata;
      const set = this.#host.get(ReplicaSet, { namespace, name });
      if (set === undefined) continue;
      const annotations = { ...set.metadata.annotations, ...noted };
      const sameNotes = deepEqual(set.metadata.annotations, annotations);
      if (replicasOf(set) === replicas && sameNotes) continue;
      const metadata = { ...set.metadata, annotations };
      const spec = { ...set.spec, replicas };
      const scaled = await this.#writer.update({ ...set, metadata, spec } as ReplicaSet);
      this.#recordScaling(deployment, scaled, replicasOf(set));
    }
  }

  #recordScaling(deployment: Deployment, set: ReplicaSet, from: number): void {
    const to = replicasOf(set);
    if (from === to) return;
    const what = `Scaled ${from < to ? 'up' : 'down'} replica set ${set.metadata.name ?? ''}`;
    const message = `${what} from ${from} to ${to}`;
    this.#recordEvent({ about: deployment, reason: 'ScalingReplicaSet', message });
  }

  async #prune({ deployment, old }: Rollout): Promise<void> {
    for (const set of replicaSetsToPrune(deployment, old)) {
      await this.#writer.delete(ReplicaSet, set);
    }
  }

  /** Reads the ReplicaSets of a rollout again. */
  #fresh(rollout: Rollout): Rollout {
    const read = (set: ReplicaSet): ReplicaSet | undefined => {
      const { namespace, name = '' } = set.metadata;
      return this.#host.get(ReplicaSet, { namespace, name });
    };
    const current = rollout.current && read(rollout.current);
    return { ...rollout, current, old: rollout.old.flatMap((set) => read(set) ?? []) };
  }

  async #report(live: Deployment, rollout: Rollout, statusOf: typeof rolloutStatus): Promise<void> {
    const nowMs = this.#host.now();
    const status = statusOf({ ...rollout, nowMs });
    const { annotations } = rollout.deployment.metadata;
    const same = deepEqual(live.status, status);
    if (!same || !deepEqual(live.metadata.annotations, annotations)) {
      const metadata = { ...live.metadata, ...(annotations && { annotations }) };
      await this.#writer.update({ ...live, metadata, status }, 'status');
    }
    const deadline = deadlineInMs(rollout.deployment, status, nowMs);
    const key = { namespace: live.metadata.namespace, name: live.metadata.name ?? '' };
    if (deadline !== undefined) this.#queue.addLater(key, deadline);
  }

  #withFirstProgress(
    deployment: Deployment,
    statement: Pick<ConditionStatement, 'reason' | 'message'>,
  ): Deployment {
    const conditions = deployment.status?.conditions ?? [];
    const known = conditions.some(({ type }) => type === 'Progressing');
    return known ? deployment : this.#withProgress(deployment, { ...statement, status: 'True' });
  }

  #withProgress(deployment: Deployment, statement: Omit<ConditionStatement, 'type'>): Deployment {
    if (progressDeadlineMs(deployment) === undefined) return deployment;
    const before = deployment.status?.conditions ?? [];
    const conditions = withCondition(
      before,
      { type: 'Progressing', ...statement },
      this.#host.now(),
    );
    const status: DeploymentStatus = { ...deployment.status, conditions };
    return { ...deployment, status };
  }
}

function rolloutOf(deployment: Deployment, sets: readonly ReplicaSet[]): Rollout {
  const byAge = sets.toSorted(
    (a, b) =>
      compareText(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
      compareText(a.metadata.name, b.metadata.name),
  );
  const current = byAge.find((set) => hasTemplateOf(set, deployment));
  return { deployment, current, old: byAge.filter((set) => set !== current) };
}

function compareText(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function firstSize(rollout: Rollout, made: ReplicaSet): number {
  const { deployment } = rollout;
  if (deployment.spec?.strategy?.type === 'Recreate') return desiredReplicas(deployment);
  return newReplicaSetSize(rollingUpdateOf(rollout, made));
}

function isComplete({ deployment }: Rollout): boolean {
  return isDeploymentComplete(deployment, deployment.status ?? {});
}

function withRevision(deployment: Deployment, newest: ReplicaSet): Deployment {
  const revision = newest.metadata.annotations?.[revisionAnnotation];
  if (revision === undefined) return deployment;
  const annotations = { ...deployment.metadata.annotations, [revisionAnnotation]: revision };
  return { ...deployment, metadata: { ...deployment.metadata, annotations } };
}
