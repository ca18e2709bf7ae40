import type { ObjectKey } from '../../../object/kubernetes-object.js';
import { Job, Pod } from '../../../object/kinds.js';
import { keyOf } from '../../../object/object-key.js';
import type { ControllerHost } from '../controller-host.js';
import { DependentsClaim } from '../dependents-claim.js';
import { followDependents } from '../follow-dependents.js';
import { manager } from '../manager-name.js';
import type { ObjectWriter } from '../object-writer.js';
import { isPodFinished, isPodTerminating } from '../pod-state.js';
import { podsInRemovalOrder } from '../replica-set/pod-removal-order.js';
import { safeSuffix } from '../safe-hash.js';
import { timestampMs } from '../timestamp.js';
import type { WorkQueue } from '../work-queue.js';
import { finishedCondition } from './job-conditions.js';
import type { JobStatus } from './job-conditions.js';
import { jobPlan } from './job-plan.js';
import type { JobOutcome } from './job-plan.js';
import { indexOf, isIndexed, jobPod, missingIndexes, trackingFinalizer } from './job-pods.js';
import type { JobPods } from './job-pods.js';
import { jobStatus, jobView, sortPods, startedStatus, succeededIndexes } from './job-status.js';
import { PodBackoff } from './pod-backoff.js';

/** Options of {@link startJobController}. */
export interface JobOptions {
  /** Delay before a Job replaces a failed pod, in milliseconds. */
  readonly podBackoffMs: number;
}

/** Runs the pods of each Job to completion. */
export function startJobController(host: ControllerHost, options: JobOptions): void {
  new JobController(host, options).start();
}

class JobController {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #pods: DependentsClaim<Pod>;
  readonly #queue: WorkQueue<ObjectKey>;
  readonly #backoff: PodBackoff;
  /** UIDs of pods that the status counts and that still have the finalizer. */
  readonly #counted = new Set<string>();

  constructor(host: ControllerHost, { podBackoffMs }: JobOptions) {
    this.#host = host;
    this.#writer = host.writer(manager);
    this.#pods = new DependentsClaim(host, this.#writer, Pod);
    this.#queue = host.objectQueue(Job, 'jobs', (key) => this.#reconcile(key));
    this.#backoff = new PodBackoff(podBackoffMs);
  }

  start(): void {
    const queue = this.#queue;
    followDependents(this.#host, { type: Pod, ownerType: Job, queue });
    this.#host.watch(Pod, ({ type, object }) => {
      if (type === 'DELETED') this.#counted.delete(object.metadata.uid ?? '');
    });
    this.#host.watch(Job, ({ type, object }) => {
      if (type === 'DELETED') this.#backoff.forget(object.metadata.uid ?? '');
    });
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const job = this.#host.get(Job, key);
    if (job === undefined || isManagedElsewhere(job)) return;
    if (finishedCondition(job) !== undefined) {
      await this.#releasePods(this.#host.controlled(Pod, job), true);
      await this.#expire(job);
      return;
    }
    const selector = job.spec?.selector;
    const pods = sortPods(
      job,
      await this.#pods.claim({ type: Pod, owner: job, selector }),
      this.#counted,
    );
    const nowMs = this.#host.now();
    const { uid = '' } = job.metadata;
    const ended = { succeeded: pods.newlySucceeded.length, failed: pods.newlyFailed.length };
    this.#backoff.count(uid, ended, nowMs);
    const started = startedStatus(job, nowMs);
    const view = jobView(job, pods, { nowMs, status: started });
    const plan = jobPlan(view);
    if (plan.type === 'end') {
      for (const pod of pods.active) await this.#writer.delete(Pod, pod);
    } else if (job.metadata.deletionTimestamp === undefined) {
      await this.#scale(job, pods, plan.by);
    }
    const outcome = plan.type === 'end' ? plan.outcome : undefined;
    await this.#report(key, { pods, outcome, started });
    if (view.deadlineMs !== undefined && outcome === undefined) {
      this.#queue.addLater(key, view.deadlineMs - nowMs);
    }
  }

  async #scale(job: Job, pods: JobPods, by: number): Promise<void> {
    if (by < 0) {
      for (const pod of podsInRemovalOrder(pods.active).slice(0, -by)) {
        await this.#writer.delete(Pod, pod);
      }
    }
    if (by <= 0) return;
    const wait = this.#backoff.waitMs(job.metadata.uid ?? '', this.#host.now());
    if (wait > 0) {
      // The delay may last minutes, so `settled` does not wait for it.
      this.#queue.addLater(keyOf(job), wait);
      return;
    }
    for (const index of indexesFor(job, pods, by)) {
      const suffix = safeSuffix(() => this.#host.random.next());
      await this.#writer.create(jobPod(job, index, suffix));
    }
  }

  async #report(
    key: ObjectKey,
    done: {
      readonly pods: JobPods;
      readonly outcome: JobOutcome | undefined;
      readonly started: JobStatus;
    },
  ): Promise<void> {
    const job = this.#host.get(Job, key);
    if (job === undefined) return;
    const pods = this.#host.controlled(Pod, job);
    const { newlySucceeded, newlyFailed } = done.pods;
    const final = jobStatus(job, { ...done, now: pods, nowMs: this.#host.now() });
    await this.#writer.updateStatus(job, final);
    for (const { metadata } of [...newlySucceeded, ...newlyFailed]) {
      this.#counted.add(metadata.uid ?? '');
    }
    await this.#releasePods(pods, job.spec?.suspend === true);
  }

  /**
   * Removes the tracking finalizer from counted pods. A pod that is being deleted then disappears.
   * @param all - release finished and terminating pods too if they are not counted
   */
  async #releasePods(pods: readonly Pod[], all: boolean): Promise<void> {
    for (const pod of pods) {
      const { finalizers = [], uid = '' } = pod.metadata;
      const uncounted = all && (isPodFinished(pod) || isPodTerminating(pod));
      const over = this.#counted.has(uid) || uncounted;
      if (!over || !finalizers.includes(trackingFinalizer)) continue;
      const kept = finalizers.filter((finalizer) => finalizer !== trackingFinalizer);
      await this.#writer.updateMetadata(pod, { finalizers: kept });
    }
  }

  async #expire(job: Job): Promise<void> {
    const seconds = job.spec?.ttlSecondsAfterFinished;
    if (seconds === undefined || job.metadata.deletionTimestamp !== undefined) return;
    const endedMs = timestampMs(finishedCondition(job)?.lastTransitionTime);
    const leftMs = endedMs + seconds * 1000 - this.#host.now();
    if (leftMs > 0) this.#queue.addLater(keyOf(job), leftMs);
    else await this.#writer.delete(Job, job, { propagationPolicy: 'Foreground' });
  }
}

function isManagedElsewhere(job: Job): boolean {
  const { managedBy = 'kubernetes.io/job-controller' } = job.spec ?? {};
  return managedBy !== 'kubernetes.io/job-controller';
}

function indexesFor(job: Job, pods: JobPods, count: number): (number | undefined)[] {
  if (!isIndexed(job)) return Array.from({ length: count }, () => undefined);
  const running = pods.active.map((pod) => indexOf(pod) ?? -1);
  const done = succeededIndexes(job, pods.newlySucceeded) ?? [];
  return missingIndexes(job.spec?.completions ?? 0, new Set([...running, ...done]), count);
}
