import {
  formatTime,
  isAlreadyExists,
  isNamespaceTerminating,
  CronJob,
  Job,
  keyOf,
  controllerOf,
  isControlledBy,
  ownerReferenceTo,
} from '../../object/index.js';
import type { ObjectKey } from '../../object/index.js';
import type { RecordEvent } from './controller-events.js';
import { manager } from './controller-host.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import { parseCronSchedule } from './cron-schedule.js';
import type { CronSchedule } from './cron-schedule.js';
import { finishedCondition } from './job-status.js';
import { failureMessage, timestampMs } from './pod-state.js';
import type { WorkQueue } from './work-queue.js';

type CronJobStatus = NonNullable<CronJob['status']>;

// As in the real controller: extra milliseconds of each wait, in case the clock lags behind.
const laterMs = 100;
const scheduledAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

/** Creates the Jobs of each CronJob when they are due, and deletes the oldest finished Jobs. */
export class CronJobController {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #recordEvent: RecordEvent;
  readonly #queue: WorkQueue<ObjectKey>;

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(manager);
    this.#recordEvent = host.events.from({ component: 'cronjob-controller' });
    this.#queue = host.objectQueue(CronJob, 'cron-jobs', (key) => this.#reconcile(key));
    host.watch(Job, ({ object }) => {
      const controller = controllerOf(object);
      if (controller?.kind !== 'CronJob') return;
      this.#queue.add({ namespace: object.metadata.namespace, name: controller.name });
    });
  }

  async #reconcile(key: ObjectKey): Promise<void> {
    const cronJob = this.#host.get(CronJob, key);
    if (cronJob === undefined) return;
    const jobs = this.#host.controlled(Job, cronJob);
    this.#recordChanges(cronJob, jobs);
    const status = statusFrom(cronJob, jobs);
    const observed = await this.#writer.updateStatus(cronJob, status);
    if (cronJob.metadata.deletionTimestamp !== undefined) return;
    if (cronJob.spec?.suspend !== true) await this.#runDue(observed, jobs);
    await this.#prune(cronJob, jobs);
  }

  async #runDue(cronJob: CronJob, jobs: readonly Job[]): Promise<void> {
    const { schedule = '', timeZone = 'UTC' } = cronJob.spec ?? {};
    const nowMs = this.#host.now();
    const { dueMs, nextMs } = dueTimes(cronJob, parseCronSchedule(schedule, timeZone), nowMs);
    // A schedule never ends, so `settled` does not wait for it.
    if (nextMs !== undefined) this.#queue.addLater(keyOf(cronJob), nextMs - nowMs + laterMs);
    if (dueMs === undefined) return;
    // Only Jobs of the schedule count, not Jobs that a user created from the template.
    const running = jobs.filter((job) => isActiveIn(cronJob.status, job));
    const policy = cronJob.spec?.concurrencyPolicy ?? 'Allow';
    if (policy === 'Forbid' && running.length > 0) {
      const because = 'prior execution is running and concurrency policy is Forbid';
      const message = `Not starting job because ${because}`;
      this.#recordEvent({ about: cronJob, reason: 'JobAlreadyActive', message });
      return;
    }
    if (policy === 'Replace') {
      for (const job of running) await this.#delete(cronJob, job);
    }
    const job = await this.#create(cronJob, dueMs);
    if (job === undefined) return;
    const live = this.#host.get(CronJob, keyOf(cronJob));
    if (live === undefined) return;
    const status = statusFrom(live, this.#host.controlled(Job, live));
    const { active = [] } = status;
    const isKnown = isActiveIn(status, job);
    await this.#writer.updateStatus(live, {
      ...status,
      active: isKnown ? active : [...active, referenceTo(job)],
      lastScheduleTime: formatTime(dueMs),
    });
  }

  /** Creates the Job for `dueMs`. The name of the Job contains that time, so there is at most one. */
  async #create(cronJob: CronJob, dueMs: number): Promise<Job | undefined> {
    const job = jobFor(cronJob, dueMs);
    try {
      const created = await this.#writer.create(job);
      const message = `Created job ${created.metadata.name ?? ''}`;
      this.#recordEvent({ about: cronJob, reason: 'SuccessfulCreate', message });
      return created;
    } catch (error) {
      if (!isAlreadyExists(error)) {
        if (!isNamespaceTerminating(error)) {
          const message = `Error creating job: ${failureMessage(error)}`;
          this.#recordEvent({ about: cronJob, type: 'Warning', reason: 'FailedCreate', message });
        }
        throw error;
      }
      const existing = this.#host.get(Job, keyOf(job));
      return existing !== undefined && isControlledBy(existing, cronJob) ? existing : undefined;
    }
  }

  async #delete(cronJob: CronJob, job: Job): Promise<void> {
    if (!(await this.#writer.delete(Job, job, { propagationPolicy: 'Background' }))) return;
    const message = `Deleted job ${job.metadata.name ?? ''}`;
    this.#recordEvent({ about: cronJob, reason: 'SuccessfulDelete', message });
  }

  /** Records which of the active Jobs have ended or are gone, and which other Jobs run. */
  #recordChanges(cronJob: CronJob, jobs: readonly Job[]): void {
    for (const job of jobs) {
      if (finishedCondition(job) !== undefined || isActiveIn(cronJob.status, job)) continue;
      const what = 'Saw a job that the controller did not create or forgot';
      const message = `${what}: ${job.metadata.name ?? ''}`;
      this.#recordEvent({ about: cronJob, type: 'Warning', reason: 'UnexpectedJob', message });
    }
    for (const { uid, name = '' } of cronJob.status?.active ?? []) {
      const job = jobs.find(({ metadata }) => metadata.uid === uid);
      const { type } = (job && finishedCondition(job)) ?? {};
      if (job === undefined) {
        const message = `Active job went missing: ${name}`;
        this.#recordEvent({ about: cronJob, reason: 'MissingJob', message });
      } else if (type !== undefined) {
        const message = `Saw completed job: ${name}, condition: ${type}`;
        this.#recordEvent({ about: cronJob, reason: 'SawCompletedJob', message });
      }
    }
  }

  async #prune(cronJob: CronJob, jobs: readonly Job[]): Promise<void> {
    const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cronJob.spec ?? {};
    const limits = { Complete: successfulJobsHistoryLimit, Failed: failedJobsHistoryLimit };
    for (const type of ['Complete', 'Failed'] as const) {
      const finished = jobs
        .filter((job) => finishedCondition(job)?.type === type)
        .sort((a, b) => startedMs(a) - startedMs(b));
      for (const job of finished.slice(0, Math.max(0, finished.length - limits[type]))) {
        await this.#delete(cronJob, job);
      }
    }
  }
}

function statusFrom(cronJob: CronJob, jobs: readonly Job[]): CronJobStatus {
  const { status = {} } = cronJob;
  const succeeded = jobs.filter((job) => finishedCondition(job)?.type === 'Complete');
  const times = succeeded.flatMap((job) => job.status?.completionTime ?? []);
  const newest = [...times, ...(status.lastSuccessfulTime ? [status.lastSuccessfulTime] : [])]
    .sort()
    .at(-1);
  const { active = [], ...rest } = status;
  const running = jobs.filter((job) => finishedCondition(job) === undefined);
  const stillActive = active.filter(({ uid }) => running.some((job) => job.metadata.uid === uid));
  return {
    ...rest,
    ...(stillActive.length > 0 && { active: stillActive }),
    ...(newest !== undefined && { lastSuccessfulTime: newest }),
  };
}

function isActiveIn(status: CronJobStatus | undefined, { metadata }: Job): boolean {
  return status?.active?.some(({ uid }) => uid === metadata.uid) === true;
}

function referenceTo({ apiVersion, kind, metadata }: Job): object {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { apiVersion, kind, name, namespace, uid, resourceVersion };
}

function jobFor(cronJob: CronJob, dueMs: number): Job {
  const { metadata, spec } = cronJob;
  const template = spec?.jobTemplate;
  const labels = template?.metadata?.labels;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `${metadata.name ?? ''}-${Math.floor(dueMs / 60_000)}`,
      namespace: metadata.namespace ?? '',
      ...(labels && { labels }),
      annotations: { ...template?.metadata?.annotations, [scheduledAnnotation]: formatTime(dueMs) },
      ownerReferences: [ownerReferenceTo(cronJob, { controller: true, blockOwnerDeletion: true })],
    },
    ...(template?.spec && { spec: template.spec }),
  };
}

function startedMs(job: Job): number {
  return timestampMs(job.status?.startTime ?? job.metadata.creationTimestamp);
}

interface DueTimes {
  /** The latest due time that has not been handled; undefined if nothing is due. */
  readonly dueMs: number | undefined;
  /** The next due time after now; undefined without one. */
  readonly nextMs: number | undefined;
}

/** Returns the due times of `cronJob` at `nowMs`. Of several missed times, only the latest counts. */
function dueTimes(cronJob: CronJob, schedule: CronSchedule, nowMs: number): DueTimes {
  const lastMs = timestampMs(
    cronJob.status?.lastScheduleTime ?? cronJob.metadata.creationTimestamp,
  );
  const deadlineSeconds = cronJob.spec?.startingDeadlineSeconds;
  const oldestMs = deadlineSeconds === undefined ? 0 : nowMs - deadlineSeconds * 1000;
  const fromMs = Math.max(lastMs, oldestMs);
  const dueMs = newestDue(schedule, fromMs, nowMs);
  const nextMs = schedule.next(dueMs ?? fromMs);
  const passed = nextMs !== undefined && nextMs <= nowMs;
  return { dueMs, nextMs: passed ? schedule.next(nowMs) : nextMs };
}

function newestDue(schedule: CronSchedule, fromMs: number, nowMs: number): number | undefined {
  const first = schedule.next(fromMs);
  if (first === undefined || first > nowMs) return undefined;
  const second = schedule.next(first);
  if (second === undefined) return first;
  // The controller may have missed years of due times: start shortly before now, two periods back to be safe.
  const periodMs = second - first;
  const skipped = Math.max(0, Math.floor((nowMs - first) / periodMs) - 2);
  let due = first;
  let next = schedule.next(first + skipped * periodMs - 1);
  while (next !== undefined && next <= nowMs) {
    due = next;
    next = schedule.next(next);
  }
  return due;
}
