import {
  deepEqual,
  ControllerRevision,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
  isAlreadyExists,
  keyOf,
} from '../../object/index.js';
import type { ObjectKey } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import { manager } from './controller-host.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import { newestRevision, pruneRevisions, templateOf } from './controller-revisions.js';
import type { RecordEvent } from './controller-events.js';
import { DependentsClaim, followDependents } from './dependents.js';
import {
  counted,
  failureMessage,
  isPodAvailable,
  isPodReady,
  isPodTerminating,
  nextAvailableInMs,
} from './pod-state.js';
import {
  claimOwnerReferences,
  claimsFor,
  hasIdentity,
  isStale,
  ordinalOf,
  podNameOf,
  retentionPolicyOf,
  revisionLabel,
  statefulPod,
  withIdentity,
  statefulSetPlan,
} from './stateful-set-plan.js';
import type { StatefulPodView, StatefulSetAction, StatefulSetView } from './stateful-set-plan.js';
import type { WorkQueue } from './work-queue.js';

/** A StatefulSet and the two revisions that its pods may have. */
interface SetState {
  readonly set: StatefulSet;
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
  readonly revisions: readonly ControllerRevision[];
  readonly collisionCount: number;
}

type RevisionNames = Pick<
  StatefulSetObservation,
  'currentRevision' | 'updateRevision' | 'collisionCount'
>;

const hashLabel = 'controller.kubernetes.io/hash';

/** Keeps the pods of each StatefulSet, one per ordinal, by the rules of kube-controller-manager. */
export class StatefulSetController {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #recordEvent: RecordEvent;
  readonly #pods: DependentsClaim<Pod>;
  readonly #revisions: DependentsClaim<ControllerRevision>;
  readonly #queue: WorkQueue<ObjectKey>;

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(manager);
    this.#recordEvent = host.events.from({ component: 'statefulset-controller' });
    this.#pods = new DependentsClaim(host, this.#writer, Pod);
    this.#revisions = new DependentsClaim(host, this.#writer, ControllerRevision);
    this.#queue = host.objectQueue(StatefulSet, 'stateful-sets', (key) => this.#reconcile(key));
    followDependents(host, { type: Pod, ownerType: StatefulSet, queue: this.#queue });
    // A claim that was being deleted may have blocked the creation of its pod.
    host.watch(PersistentVolumeClaim, ({ type, object }) => {
      const { namespace, name = '' } = object.metadata;
      if (type !== 'DELETED') return;
      for (const set of host.list(StatefulSet, namespace)) {
        const setName = set.metadata.name ?? '';
        if (name.includes(`-${setName}-`)) this.#queue.add({ namespace, name: setName });
      }
    });
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const set = this.#host.get(StatefulSet, key);
    if (set === undefined) return;
    const isOurs = ({ metadata }: Pod): boolean =>
      ordinalOf(set, metadata.name ?? '') !== undefined;
    const pods = await this.#pods.claim(set, isOurs);
    // A set that is being deleted creates nothing, not even revisions.
    if (set.metadata.deletionTimestamp !== undefined) {
      await this.#report(set, namesIn(set));
      return;
    }
    const state = await this.#stateOf(set);
    const views = pods.map((pod) => this.#viewOf(set, pod));
    let failure: { readonly error: unknown } | undefined;
    try {
      for (const action of statefulSetPlan(viewOf(state), views)) await this.#act(state, action);
    } catch (error) {
      failure = { error };
    }
    const pruned = await this.#report(set, namesOf(state));
    if (pruned !== undefined) await this.#prune(pruned, state);
    if (failure !== undefined) throw failure.error;
  }

  async #stateOf(set: StatefulSet): Promise<SetState> {
    const revisions = await this.#revisions.claim(set);
    const history = { writer: this.#writer, hashLabel };
    const { revision: update, collisionCount } = await newestRevision(history, set, revisions);
    const currentName = set.status?.currentRevision;
    const current = revisions.find(({ metadata }) => metadata.name === currentName) ?? update;
    return { set, current, update, revisions, collisionCount };
  }

  #viewOf(set: StatefulSet, pod: Pod): StatefulPodView {
    const minReadySeconds = set.spec?.minReadySeconds ?? 0;
    return {
      ordinal: ordinalOf(set, pod.metadata.name ?? '') ?? -1,
      phase: (pod.status?.phase ?? 'Pending') as StatefulPodView['phase'],
      available: isPodAvailable(pod, { minReadySeconds, nowMs: this.#host.now() }),
      terminating: isPodTerminating(pod),
      revision: revisionOf(pod),
    };
  }

  async #act(state: SetState, action: StatefulSetAction): Promise<void> {
    const { set } = state;
    switch (action.type) {
      case 'createPod':
        await this.#createPod(state, action.ordinal, action.revision);
        return;
      case 'createClaims':
        await this.#createClaims(set, action.ordinal);
        await this.#setClaimOwners(set, action.ordinal);
        return;
      case 'deletePod': {
        const pod = this.#podOf(set, action.ordinal);
        if (pod === undefined) return;
        await this.#recorded('Delete', set, pod, () => this.#writer.delete(Pod, pod));
        return;
      }
      case 'checkPod': {
        const pod = this.#podOf(set, action.ordinal);
        if (pod !== undefined && !hasIdentity(pod)) {
          const next = withIdentity(set, pod, action.ordinal);
          await this.#recorded('Update', set, pod, () => this.#writer.update(next));
        }
        await this.#setClaimOwners(set, action.ordinal);
        return;
      }
      case 'checkClaims':
        await this.#setClaimOwners(set, action.ordinal);
        return;
    }
  }

  async #createPod(state: SetState, ordinal: number, revision: string): Promise<void> {
    const { set, current, update } = state;
    const source = revision === current.metadata.name ? current : update;
    const pod = statefulPod(set, ordinal, { template: templateOf(source), revision });
    if (this.#hasStaleClaim(set, ordinal, pod)) return;
    await this.#recorded('Create', set, pod, async () => {
      await this.#createClaims(set, ordinal);
      await this.#writer.create(pod);
    });
    await this.#setClaimOwners(set, ordinal);
  }

  /** Returns true if a claim is about to be deleted with an earlier pod of the same name. The new pod must wait. */
  #hasStaleClaim(set: StatefulSet, ordinal: number, pod: Pod): boolean {
    if (retentionPolicyOf(set).whenScaled !== 'Delete') return false;
    return this.#claims(set, ordinal).some(({ metadata }) =>
      isStale(metadata.ownerReferences ?? [], pod),
    );
  }

  async #createClaims(set: StatefulSet, ordinal: number): Promise<void> {
    const existing = this.#claims(set, ordinal);
    for (const claim of claimsFor(set, ordinal)) {
      const { name = '' } = claim.metadata;
      const live = existing.find(({ metadata }) => metadata.name === name);
      if (live === undefined) await this.#createClaim(set, claim, podNameOf(set, ordinal));
      else if (live.metadata.deletionTimestamp !== undefined) {
        throw new OperatorError('DependencyFailed', `claim ${name} is being deleted`);
      }
    }
  }

  async #createClaim(set: StatefulSet, claim: PersistentVolumeClaim, pod: string): Promise<void> {
    const [name, owner] = [claim.metadata.name ?? '', set.metadata.name ?? ''];
    try {
      await this.#writer.create(claim);
      const message = `Create Claim ${name} Pod ${pod} in StatefulSet ${owner} success`;
      this.#recordEvent({ about: set, reason: 'SuccessfulCreate', message });
    } catch (error) {
      const where = `Create Claim ${name} for Pod ${pod} in StatefulSet ${owner}`;
      const message = `${where} failed error: ${failureMessage(error)}`;
      this.#recordEvent({ about: set, type: 'Warning', reason: 'FailedCreate', message });
      throw error;
    }
  }

  /** Runs a write of a pod, and records an event about its result. */
  async #recorded(
    verb: 'Create' | 'Update' | 'Delete',
    set: StatefulSet,
    pod: Pod,
    write: () => Promise<unknown>,
  ): Promise<void> {
    const what = `${verb} Pod ${pod.metadata.name ?? ''} in StatefulSet ${set.metadata.name ?? ''}`;
    try {
      await write();
      this.#recordEvent({ about: set, reason: `Successful${verb}`, message: `${what} successful` });
    } catch (error) {
      if (!isAlreadyExists(error)) {
        const message = `${what} failed error: ${failureMessage(error)}`;
        this.#recordEvent({ about: set, type: 'Warning', reason: `Failed${verb}`, message });
      }
      throw error;
    }
  }

  async #setClaimOwners(set: StatefulSet, ordinal: number): Promise<void> {
    const pod = this.#podOf(set, ordinal);
    if (pod === undefined) return;
    const { replicas = 1, ordinals } = set.spec ?? {};
    const start = ordinals?.start ?? 0;
    const scaledDown = ordinal < start || ordinal >= start + replicas;
    for (const claim of this.#claims(set, ordinal)) {
      const before = claim.metadata.ownerReferences ?? [];
      const ownerReferences = claimOwnerReferences(before, { set, pod, scaledDown });
      if (deepEqual(before, ownerReferences)) continue;
      await this.#writer.updateMetadata(claim, { ownerReferences: [...ownerReferences] });
    }
  }

  #claims(set: StatefulSet, ordinal: number): PersistentVolumeClaim[] {
    const { namespace } = set.metadata;
    return claimsFor(set, ordinal).flatMap(({ metadata: { name = '' } }) => {
      return this.#host.get(PersistentVolumeClaim, { namespace, name }) ?? [];
    });
  }

  #podOf(set: StatefulSet, ordinal: number): Pod | undefined {
    const { namespace } = set.metadata;
    return this.#host.get(Pod, { namespace, name: podNameOf(set, ordinal) });
  }

  /** Writes the status. @returns the updated set, or undefined if it has been deleted */
  async #report(before: StatefulSet, names: RevisionNames): Promise<StatefulSet | undefined> {
    const key = keyOf(before);
    const set = this.#host.get(StatefulSet, key);
    if (set === undefined || set.metadata.uid !== before.metadata.uid) return undefined;
    const nowMs = this.#host.now();
    const pods = this.#host.controlled(Pod, set);
    const status = statefulSetStatus(set, { ...names, pods, nowMs });
    const minReadySeconds = set.spec?.minReadySeconds ?? 0;
    const wait = nextAvailableInMs(pods, { minReadySeconds, nowMs });
    if (wait !== undefined) this.#queue.addSoon(key, wait);
    return await this.#writer.updateStatus(set, status);
  }

  async #prune(set: StatefulSet, { revisions, update }: SetState): Promise<void> {
    const { currentRevision = '' } = set.status ?? {};
    const pods = this.#host.controlled(Pod, set).map(revisionOf);
    const inUse = new Set([currentRevision, update.metadata.name ?? '', ...pods]);
    const limit = set.spec?.revisionHistoryLimit ?? 10;
    await pruneRevisions(this.#writer, revisions, { limit, inUse });
  }
}

function namesOf({ current, update, collisionCount }: SetState): RevisionNames {
  const currentRevision = current.metadata.name ?? '';
  return { currentRevision, updateRevision: update.metadata.name ?? '', collisionCount };
}

function namesIn({ status }: StatefulSet): RevisionNames {
  const { currentRevision = '', updateRevision = '', collisionCount = 0 } = status ?? {};
  return { currentRevision, updateRevision, collisionCount };
}

function viewOf({ set, current, update }: SetState): StatefulSetView {
  const { replicas = 1, ordinals, podManagementPolicy, updateStrategy } = set.spec ?? {};
  return {
    replicas,
    start: ordinals?.start ?? 0,
    policy: podManagementPolicy === 'Parallel' ? 'Parallel' : 'OrderedReady',
    strategy: updateStrategy?.type === 'OnDelete' ? 'OnDelete' : 'RollingUpdate',
    partition: updateStrategy?.rollingUpdate && (updateStrategy.rollingUpdate.partition ?? 0),
    currentRevision: current.metadata.name ?? '',
    updateRevision: update.metadata.name ?? '',
    currentReplicas: set.status?.currentReplicas ?? 0,
  };
}

type StatefulSetStatus = NonNullable<StatefulSet['status']>;

interface StatefulSetObservation {
  readonly pods: readonly Pod[];
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly collisionCount: number;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** Computes the status of a StatefulSet from its pods. */
function statefulSetStatus(
  set: StatefulSet,
  observation: StatefulSetObservation,
): StatefulSetStatus {
  const { pods, currentRevision, updateRevision, collisionCount, nowMs } = observation;
  const { replicas = 1, minReadySeconds = 0, updateStrategy } = set.spec ?? {};
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isPodReady(pod));
  const available = ready.filter((pod) => isPodAvailable(pod, { minReadySeconds, nowMs })).length;
  const ofRevision = (revision: string): number =>
    pods.filter((pod) => !isPodTerminating(pod) && revisionOf(pod) === revision).length;
  const updated = ofRevision(updateRevision);
  const complete =
    updateStrategy?.type !== 'OnDelete' &&
    [updated, ready.length, pods.length].every((count) => count === replicas);
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    ...counted('readyReplicas', ready.length),
    ...counted('currentReplicas', complete ? updated : ofRevision(currentRevision)),
    ...counted('updatedReplicas', updated),
    availableReplicas: available,
    currentRevision: complete ? updateRevision : currentRevision,
    updateRevision,
    collisionCount,
  };
}

/** Returns the name of a pod's ControllerRevision, or an empty string without one. */
function revisionOf(pod: Pod): string {
  return pod.metadata.labels?.[revisionLabel] ?? '';
}
