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
import { OperatorError } from '../../system/index.js';
import { manager } from './controller-host.js';
import type { RecordEvent } from './controller-events.js';
import type { ControllerHost, ObjectWriter } from './controller-host.js';
import { finishedCondition } from './job-status.js';
import { failureMessage, timestampMs } from './pod-state.js';
import type { WorkQueue } from './work-queue.js';

/** Creates the Jobs of each CronJob when they are due, and deletes the oldest finished Jobs. */
export function startCronJobController(host: ControllerHost): void {
  new CronJobController(host).start();
}

type CronJobStatus = NonNullable<CronJob['status']>;

// As in the real controller: a margin for a clock that lags behind.
const laterMs = 100;
const scheduledAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';

class CronJobController {
  readonly #host: ControllerHost;
  readonly #writer: ObjectWriter;
  readonly #recordEvent: RecordEvent;
  readonly #queue: WorkQueue<ObjectKey>;

  constructor(host: ControllerHost) {
    this.#host = host;
    this.#writer = host.writer(manager);
    this.#recordEvent = host.events.from({ component: 'cronjob-controller' });
    this.#queue = host.objectQueue(CronJob, 'cron-jobs', (key) => this.#reconcile(key));
  }

  start(): void {
    this.#host.watch(Job, ({ object }) => {
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
    const running = jobs.filter((job) => finishedCondition(job) === undefined);
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
    const status = { ...statusFrom(live, this.#host.controlled(Job, live)) };
    await this.#writer.updateStatus(live, { ...status, lastScheduleTime: formatTime(dueMs) });
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

  /** Records which of the active Jobs have ended or are gone. */
  #recordChanges(cronJob: CronJob, jobs: readonly Job[]): void {
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
  const running = jobs.filter((job) => finishedCondition(job) === undefined);
  const succeeded = jobs.filter((job) => finishedCondition(job)?.type === 'Complete');
  const times = succeeded.flatMap((job) => job.status?.completionTime ?? []);
  const newest = [...times, ...(status.lastSuccessfulTime ? [status.lastSuccessfulTime] : [])]
    .sort()
    .at(-1);
  const { active = [], ...rest } = status;
  const known = ({ metadata }: Job): object | undefined =>
    active.find(({ uid }) => uid === metadata.uid);
  return {
    ...rest,
    ...(running.length > 0 && { active: running.map((job) => known(job) ?? referenceTo(job)) }),
    ...(newest !== undefined && { lastSuccessfulTime: newest }),
  };
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

/** Due times of a CronJob. */
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
  if (second === undefined || second > nowMs) return first;
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

/** The schedule of a CronJob. */
interface CronSchedule {
  /** Returns the first due time after `ms`, both in milliseconds since 1970, or undefined without one. */
  next(ms: number): number | undefined;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
// As in the real parser: a date that does not occur within five years (31 February) never occurs.
const horizonMs = 5 * 366 * dayMs;

const macros: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** The range of a field, and names for its numbers. */
interface FieldRange {
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const weekdays = 'sun mon tue wed thu fri sat'.split(' ');

const ranges = {
  minute: { least: 0, most: 59 },
  hour: { least: 0, most: 23 },
  day: { least: 1, most: 31 },
  month: { least: 1, most: 12, names: months },
  weekday: { least: 0, most: 6, names: weekdays },
} as const satisfies Readonly<Record<string, FieldRange>>;

/** A parsed field: the matching numbers, and `open` if it contains `*` or `?` without a step. */
interface Field {
  readonly values: ReadonlySet<number>;
  readonly open: boolean;
}

type Fields = Readonly<Record<keyof typeof ranges, Field>>;

/**
 * Parses `spec.schedule` of a CronJob: five fields, a macro such as `@hourly`, or `@every 90m`.
 * @param timeZone - an IANA name
 * @throws OperatorError `InvalidValue`: the schedule or the time zone is invalid.
 */
export function parseCronSchedule(schedule: string, timeZone = 'UTC'): CronSchedule {
  const every = /^@every\s+(\S+)$/.exec(schedule.trim())?.[1];
  if (every !== undefined) {
    const intervalMs = durationMs(every);
    return { next: (ms) => Math.floor(ms / 1000) * 1000 + intervalMs };
  }
  const fields = parseFields(macros[schedule.trim()] ?? schedule);
  const local = localMinute(timeZone);
  return { next: (ms) => nextMatch(fields, local, ms) };
}

function nextMatch(
  fields: Fields,
  local: (ms: number) => LocalMinute,
  afterMs: number,
): number | undefined {
  let ms = (Math.floor(afterMs / minuteMs) + 1) * minuteMs;
  while (ms < afterMs + horizonMs) {
    const now = local(ms);
    if (!dayFits(fields, now)) ms = nextMidnight(local, ms, now);
    else if (!fields.hour.values.has(now.hour)) ms += (60 - now.minute) * minuteMs;
    else if (!fields.minute.values.has(now.minute)) ms += minuteMs;
    else return ms;
  }
  return undefined;
}

/**
 * Returns true if the date matches. If both the day of the month and the weekday are restricted, one of them
 * suffices.
 */
function dayFits({ day, weekday, month }: Fields, now: LocalMinute): boolean {
  const byDay = day.values.has(now.day);
  const byWeekday = weekday.values.has(now.weekday);
  const fits = day.open || weekday.open ? byDay && byWeekday : byDay || byWeekday;
  return fits && month.values.has(now.month);
}

function nextMidnight(local: (ms: number) => LocalMinute, ms: number, now: LocalMinute): number {
  const guess = ms + dayMs - (now.hour * 60 + now.minute) * minuteMs;
  // On the days of a clock change, the guess is an hour off.
  const { hour } = local(guess);
  if (hour === 0) return guess;
  const corrected = hour < 12 ? guess - hour * hourMs : guess + (24 - hour) * hourMs;
  return Math.max(corrected, ms + minuteMs);
}

function parseFields(text: string): Fields {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== 5) throw refusal(text, `want five fields, found ${parts.length}`);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = parts;
  return {
    minute: parseField(minute, ranges.minute),
    hour: parseField(hour, ranges.hour),
    day: parseField(day, ranges.day),
    month: parseField(month, ranges.month),
    weekday: parseField(weekday, ranges.weekday),
  };
}

function parseField(text: string, range: FieldRange): Field {
  const values = new Set<number>();
  let open = false;
  for (const part of text.split(',')) {
    const { first, last, step, star } = parsePart(part, range);
    open ||= star && step === 1;
    for (let value = first; value <= last; value += step) values.add(value);
  }
  return { values, open };
}

function parsePart(
  part: string,
  range: FieldRange,
): {
  readonly first: number;
  readonly last: number;
  readonly step: number;
  readonly star: boolean;
} {
  const [base = '', stepText, ...more] = part.split('/');
  const [from = '', to, ...rest] = base.split('-');
  if (more.length + rest.length > 0) throw refusal(part, 'too many slashes or dashes');
  const star = from === '*' || from === '?';
  const step = stepText === undefined ? 1 : Number(stepText);
  const first = star ? range.least : numberIn(from, range);
  // `5/15` continues to the end of the range.
  const single = stepText === undefined ? first : range.most;
  const last = star ? range.most : to === undefined ? single : numberIn(to, range);
  const sound = Number.isInteger(step) && step > 0 && first <= last;
  if (!sound || (star && to !== undefined)) throw refusal(part, 'no range');
  if (first < range.least || last > range.most) {
    throw refusal(part, `want ${range.least} to ${range.most}`);
  }
  return { first, last, step, star };
}

function numberIn(text: string, { names = [], least }: FieldRange): number {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + least;
  if (!/^\d+$/.test(text)) throw refusal(text, 'no number');
  return Number(text);
}

const unitsMs: Readonly<Record<string, number>> = { h: hourMs, m: minuteMs, s: 1000 };

function durationMs(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)([hms])/g)];
  if (parts.map(([part]) => part).join('') !== text) throw refusal(text, 'no duration');
  const ms = parts.reduce((sum, [, n, unit = '']) => sum + Number(n) * (unitsMs[unit] ?? 0), 0);
  return Math.max(1000, Math.floor(ms / 1000) * 1000);
}

function refusal(text: string, why: string): OperatorError {
  return new OperatorError('InvalidValue', `cron schedule ${JSON.stringify(text)}: ${why}`);
}

/** Local date and time in a time zone. */
interface LocalMinute {
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
  /** 0 (Sunday) to 6. */
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

/**
 * Returns a function that converts milliseconds since 1970 to local time.
 * @throws OperatorError `InvalidValue`: the time zone is unknown.
 */
function localMinute(timeZone: string): (ms: number) => LocalMinute {
  if (timeZone === 'UTC' || timeZone === '' || timeZone === 'Etc/UTC') return utcMinute;
  const format = formatFor(timeZone);
  return (ms) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    const number = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type));
    const [month, day, year] = [number('month'), number('day'), number('year')];
    const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
    return { month, day, weekday, hour: number('hour'), minute: number('minute') };
  };
}

function utcMinute(ms: number): LocalMinute {
  const date = new Date(ms);
  return {
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
  };
}

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const date = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
  const time = { hour: 'numeric', minute: 'numeric', hourCycle: 'h23' } as const;
  try {
    return new Intl.DateTimeFormat('en-US', { ...date, ...time, timeZone });
  } catch (cause) {
    throw new OperatorError('InvalidValue', `unknown time zone ${timeZone}`, { cause });
  }
}
