import { Job, Pod, controllerOf, groupOf, keyOf, keyString } from '../../object/index.js';
import type { ObjectKey } from '../../object/index.js';
import { delayAfter } from '../../system/index.js';
import { manager } from './controller-host.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import type { RecordEvent } from './controller-events.js';
import { DependentsClaim, followDependents } from './dependents.js';
import {
  indexOf,
  isIndexed,
  isPodEnding,
  isTracked,
  jobPod,
  missingIndexes,
  trackingFinalizer,
} from './job-pods.js';
import type { JobPods } from './job-pods.js';
import { failedIndexes, firstAnnotations, lastFailures } from './job-policies.js';
import type { FailedAttempt } from './job-policies.js';
import {
  finishedCondition,
  jobEvents,
  jobPlan,
  jobStatus,
  jobView,
  sortPods,
  startedStatus,
  succeededIndexes,
} from './job-status.js';
import type { JobOutcome, JobStatus } from './job-status.js';
import { PodControl } from './pod-control.js';
import { isPodFinished, isPodTerminating, timestampMs } from './pod-state.js';
import { podsInRemovalOrder } from './replica-set-controller.js';
import { safeSuffix } from './controller-revisions.js';
import type { WorkQueue } from './work-queue.js';

/** Options of {@link JobController}. */
interface JobOptions {
  /** Delay before a Job replaces a failed pod, in milliseconds. */
  readonly podBackoffMs: number;
}

/** Runs the pods of each Job to completion. */
export class JobController {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #recordEvent: RecordEvent;
  readonly #control: PodControl;
  readonly #pods: DependentsClaim<Pod>;
  readonly #queue: WorkQueue<ObjectKey>;
  /** Pods with the finalizer whose Job is gone. */
  readonly #orphans: WorkQueue<ObjectKey>;
  readonly #backoff: PodBackoff;
  /** UIDs of pods that the status counts and that still have the finalizer. */
  readonly #counted = new Set<string>();

  constructor(host: ControllerHost, { podBackoffMs }: JobOptions) {
    this.#host = host;
    this.#writer = host.writer(manager);
    this.#recordEvent = host.events.from({ component: 'job-controller' });
    this.#control = new PodControl(host, this.#recordEvent);
    this.#pods = new DependentsClaim(host, this.#writer, Pod);
    this.#queue = host.objectQueue(Job, 'jobs', (key) => this.#reconcile(key));
    this.#orphans = host.queue('job-orphans', (key) => this.#releaseOrphan(key), keyString);
    this.#backoff = new PodBackoff(podBackoffMs);
    followDependents(host, { type: Pod, ownerType: Job, queue: this.#queue });
    host.watch(Pod, ({ type, object }) => {
      if (type === 'DELETED') this.#counted.delete(object.metadata.uid ?? '');
      else if (this.#isOrphan(object)) this.#orphans.add(keyOf(object));
    });
    host.onRestore(() => {
      this.#counted.clear();
      this.#backoff.clear();
    });
    host.watch(Job, ({ type, object }) => {
      if (type !== 'DELETED') return;
      this.#backoff.forget(object.metadata.uid ?? '');
      for (const pod of host.controlled(Pod, object)) this.#orphans.add(keyOf(pod));
    });
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const job = this.#host.get(Job, key);
    if (job === undefined || isManagedElsewhere(job)) return;
    if (finishedCondition(job) !== undefined) {
      for (const pod of this.#host.controlled(Pod, job)) {
        if (isPodFinished(pod) || isPodTerminating(pod)) await this.#release(pod);
      }
      await this.#expire(job);
      return;
    }
    const pods = sortPods(job, await this.#pods.claim(job), this.#counted);
    const nowMs = this.#host.now();
    const { uid = '' } = job.metadata;
    const ended = { succeeded: pods.newlySucceeded.length, failed: pods.newlyFailed.length };
    this.#backoff.count(uid, ended, nowMs);
    const started = startedStatus(job, nowMs);
    const view = jobView(job, pods, { nowMs, status: started });
    const plan = jobPlan(view);
    const outcome = plan.type === 'end' ? plan.outcome : undefined;
    try {
      if (plan.type === 'end') await this.#end(job, pods, plan.outcome);
      else if (job.metadata.deletionTimestamp === undefined) await this.#scale(job, pods, plan.by);
    } finally {
      await this.#report(key, { pods, outcome, started });
      if (view.deadlineMs !== undefined && outcome === undefined) {
        this.#queue.addLater(key, view.deadlineMs - nowMs);
      }
    }
  }

  /** Deletes the active pods of a Job that has ended. If the Job has failed, these pods count as failed. */
  async #end(job: Job, pods: JobPods, { type }: JobOutcome): Promise<void> {
    for (const pod of pods.active) {
      if (type === 'succeeded') await this.#release(pod);
      await this.#control.delete(job, pod);
    }
  }

  async #scale(job: Job, pods: JobPods, by: number): Promise<void> {
    if (by < 0) {
      for (const pod of surplusPods(job, pods.active).slice(0, -by)) {
        // Without the finalizer, a pod that is no longer needed does not count as failed.
        await this.#release(pod);
        await this.#control.delete(job, pod);
      }
    }
    if (by <= 0) return;
    const nowMs = this.#host.now();
    const { uid = '' } = job.metadata;
    const isPerIndex = job.spec?.backoffLimitPerIndex !== undefined;
    const failures = lastFailures(job, pods.all);
    for (const index of indexesFor(job, pods, by)) {
      const last = index === undefined ? undefined : failures.get(index);
      const wait = isPerIndex
        ? this.#backoff.waitAfter(last, nowMs)
        : this.#backoff.waitMs(uid, nowMs);
      if (wait > 0) {
        // The delay may last minutes, so `settled` does not wait for it.
        this.#queue.addLater(keyOf(job), wait);
        continue;
      }
      const suffix = safeSuffix(() => this.#host.random.next());
      const annotations = last?.annotations ?? firstAnnotations(job);
      await this.#control.create(job, jobPod(job, { index, suffix, annotations }));
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
    const isDeleted = job.metadata.deletionTimestamp !== undefined;
    const awaited = done.outcome === undefined && !isDeleted ? awaitedPods(job, done.pods) : [];
    const newlyFailed = done.pods.newlyFailed.filter((pod) => !awaited.includes(pod));
    const countable = { ...done.pods, newlyFailed };
    const pods = this.#host.controlled(Pod, job);
    const observed = { ...done, pods: countable, now: pods, nowMs: this.#host.now() };
    const final = jobStatus(job, observed);
    const reported = await this.#writer.updateStatus(job, final);
    for (const event of jobEvents(job, reported)) this.#recordEvent({ about: job, ...event });
    for (const { metadata } of [...countable.newlySucceeded, ...newlyFailed]) {
      this.#counted.add(metadata.uid ?? '');
    }
    // If the Job is being deleted, its pods lose the finalizer even before their containers have ended.
    for (const pod of pods) {
      const isCounted = this.#counted.has(pod.metadata.uid ?? '');
      if (isCounted || (isDeleted && isPodTerminating(pod))) await this.#release(pod);
    }
  }

  /** Removes the tracking finalizer from a pod. A pod that is being deleted then disappears. */
  async #release({ metadata }: Pod): Promise<void> {
    const { namespace, name = '', uid } = metadata;
    const live = this.#host.get(Pod, { namespace, name });
    if (live === undefined || live.metadata.uid !== uid || !isTracked(live)) return;
    await this.#writer.removeFinalizer(live, trackingFinalizer);
  }

  async #releaseOrphan(key: ObjectKey): Promise<void> {
    const pod = this.#host.get(Pod, key);
    if (pod !== undefined && this.#isOrphan(pod)) await this.#release(pod);
  }

  /** Returns true if a pod has the finalizer, and its Job is gone or has released it. */
  #isOrphan(pod: Pod): boolean {
    if (!isTracked(pod)) return false;
    const controller = controllerOf(pod);
    if (controller === undefined) return true;
    if (controller.kind !== Job.kind || groupOf(controller.apiVersion) !== Job.group) return false;
    const { namespace } = pod.metadata;
    const job = this.#host.get(Job, { namespace, name: controller.name });
    return job?.metadata.uid !== controller.uid;
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

/** Sorts pods in the order of their removal: first those whose index the Job no longer has. */
function surplusPods({ spec }: Job, active: readonly Pod[]): Pod[] {
  const { completions = Infinity } = spec ?? {};
  const rankOf = (pod: Pod): number => ((indexOf(pod) ?? 0) >= completions ? 0 : 1);
  return podsInRemovalOrder(active).sort((a, b) => rankOf(a) - rankOf(b));
}

function indexesFor(job: Job, pods: JobPods, count: number): (number | undefined)[] {
  if (!isIndexed(job)) return Array.from({ length: count }, () => undefined);
  return missingIndexes(job.spec?.completions ?? 0, takenIndexes(job, pods), count);
}

/** Returns the indexes that get no new pod. */
function takenIndexes(job: Job, pods: JobPods): ReadonlySet<number> {
  const isEnding = job.spec?.podReplacementPolicy === 'Failed' ? isPodEnding : () => false;
  const running = [...pods.active, ...pods.all.filter(isEnding)].map((pod) => indexOf(pod) ?? -1);
  const done = succeededIndexes(job, pods.newlySucceeded) ?? [];
  const failed = failedIndexes(job, pods.newlyFailed) ?? [];
  return new Set([...running, ...done, ...failed]);
}

/**
 * Returns the last failed pod of each index that waits for its next pod, in a Job with `backoffLimitPerIndex`. Such a
 * pod is neither counted nor released until the next pod has taken over its number of failures.
 */
function awaitedPods(job: Job, pods: JobPods): readonly Pod[] {
  const { completions = 0 } = job.spec ?? {};
  const taken = takenIndexes(job, pods);
  return [...lastFailures(job, pods.newlyFailed)]
    .filter(([index]) => index < completions && !taken.has(index))
    .map(([, { pod }]) => pod);
}

const longestMs = 600_000;

/** The number of failures in a row, and the time of the last one. */
type Failures = Pick<FailedAttempt, 'failures' | 'endedMs'>;

/** Delay of a Job's new pods after failures. The delay doubles with each consecutive failure, up to 10 minutes. */
class PodBackoff {
  readonly #firstMs: number;
  readonly #records = new Map<string, Failures>();

  /** @param firstMs - the delay after the first failure, in milliseconds */
  constructor(firstMs: number) {
    this.#firstMs = firstMs;
  }

  /** Records pods of the Job `uid` that have just ended. */
  count(
    uid: string,
    ended: { readonly succeeded: number; readonly failed: number },
    nowMs: number,
  ): void {
    if (ended.failed === 0 && ended.succeeded === 0) return;
    const before = ended.succeeded > 0 ? 0 : (this.#records.get(uid)?.failures ?? 0);
    if (ended.failed === 0) this.#records.delete(uid);
    else this.#records.set(uid, { failures: before + ended.failed, endedMs: nowMs });
  }

  /** Returns the milliseconds until the Job may create pods; 0 means now. */
  waitMs(uid: string, nowMs: number): number {
    return this.waitAfter(this.#records.get(uid), nowMs);
  }

  /** Returns the milliseconds until the Job may replace a failed pod; 0 means now. */
  waitAfter(last: Failures | undefined, nowMs: number): number {
    if (last === undefined) return 0;
    const backoffMs = delayAfter(last.failures, { baseMs: this.#firstMs, maxMs: longestMs });
    return Math.max(0, last.endedMs + backoffMs - nowMs);
  }

  forget(uid: string): void {
    this.#records.delete(uid);
  }

  clear(): void {
    this.#records.clear();
  }
}
