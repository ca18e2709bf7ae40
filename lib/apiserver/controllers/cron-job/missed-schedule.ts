import type { CronJob } from '../../../object/kinds.js';
import { timestampMs } from '../timestamp.js';
import type { CronSchedule } from './cron-schedule.js';

/** Due times of a CronJob. */
export interface DueTimes {
  /** The latest due time that has not been handled; undefined if nothing is due. */
  readonly dueMs: number | undefined;
  /** The next due time after now; undefined without one. */
  readonly nextMs: number | undefined;
}

/** Returns the due times of `cronJob` at `nowMs`. Of several missed times, only the latest counts. */
export function dueTimes(cronJob: CronJob, schedule: CronSchedule, nowMs: number): DueTimes {
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
  // The controller may have missed years: starts shortly before now, two periods back to be safe.
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
