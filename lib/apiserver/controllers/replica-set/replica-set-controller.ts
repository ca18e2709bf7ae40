import type { ObjectKey } from '../../../object/kubernetes-object.js';
import { Pod, ReplicaSet } from '../../../object/kinds.js';
import type { ControllerHost } from '../controller-host.js';
import { DependentsClaim } from '../dependents-claim.js';
import { failureMessage } from '../failure-message.js';
import { followDependents } from '../follow-dependents.js';
import { manager } from '../manager-name.js';
import type { ObjectWriter } from '../object-writer.js';
import { isPodActive, nextAvailableInMs } from '../pod-state.js';
import { podFromTemplate } from '../pod-template.js';
import type { WorkQueue } from '../work-queue.js';
import { podsInRemovalOrder } from './pod-removal-order.js';
import { replicaSetStatus } from './replica-set-status.js';

// As in the real controller: the maximum number of pods to create or delete at once.
const burst = 500;

/** Keeps `spec.replicas` pods for each ReplicaSet. */
export function startReplicaSetController(host: ControllerHost): void {
  const controller = new ReplicaSetController(host);
  controller.start();
}

class ReplicaSetController {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #pods: DependentsClaim<Pod>;
  readonly #queue: WorkQueue<ObjectKey>;

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(manager);
    this.#pods = new DependentsClaim(host, this.#writer, Pod);
    this.#queue = host.objectQueue(ReplicaSet, 'replica-sets', (key) => this.#reconcile(key));
  }

  start(): void {
    const queue = this.#queue;
    followDependents(this.#host, { type: Pod, ownerType: ReplicaSet, queue });
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const set = this.#host.get(ReplicaSet, key);
    if (set === undefined) return;
    const pods = await this.#claim(set);
    let failure: { readonly error: unknown; readonly reason: string } | undefined;
    if (set.metadata.deletionTimestamp === undefined) {
      const difference = pods.filter(isPodActive).length - (set.spec?.replicas ?? 1);
      try {
        await this.#scale(set, pods, difference);
      } catch (error) {
        failure = { error, reason: difference < 0 ? 'FailedCreate' : 'FailedDelete' };
      }
    }
    await this.#report(key, failure);
    if (failure !== undefined) throw failure.error;
  }

  async #claim(set: ReplicaSet): Promise<Pod[]> {
    return await this.#pods.claim({ type: Pod, owner: set, selector: set.spec?.selector });
  }

  async #scale(set: ReplicaSet, pods: readonly Pod[], difference: number): Promise<void> {
    const template = set.spec?.template;
    if (difference < 0 && template !== undefined) {
      const pod = podFromTemplate(template, set);
      for (let n = 0; n < Math.min(-difference, burst); n++) await this.#writer.create(pod);
    }
    if (difference > 0) {
      const doomed = podsInRemovalOrder(pods.filter(isPodActive));
      for (const pod of doomed.slice(0, Math.min(difference, burst))) {
        await this.#writer.delete(Pod, pod);
      }
    }
  }

  async #report(
    key: ObjectKey,
    failure: { readonly error: unknown; readonly reason: string } | undefined,
  ): Promise<void> {
    const set = this.#host.get(ReplicaSet, key);
    if (set === undefined) return;
    const pods = this.#host.controlled(Pod, set);
    const nowMs = this.#host.now();
    const outcome = {
      pods,
      nowMs,
      failure: failure && { reason: failure.reason, message: failureMessage(failure.error) },
    };
    await this.#writer.updateStatus(set, replicaSetStatus(set, outcome));
    const minReadySeconds = set.spec?.minReadySeconds ?? 0;
    const wait = nextAvailableInMs(pods.filter(isPodActive), { minReadySeconds, nowMs });
    if (wait !== undefined) this.#queue.addSoon(key, wait);
  }
}
