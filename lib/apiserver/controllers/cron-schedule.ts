import { OperatorError } from '../../system/index.js';
import { parseCron } from '../rules/cron-schedules.js';
import type { CronFields } from '../rules/cron-schedules.js';

export interface CronSchedule {
  /**
   * Returns the first due time after `ms`, both in milliseconds since 1970; undefined if the schedule is not due again.
   */
  next(ms: number): number | undefined;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
// As in the real parser: a date that does not occur within five years (31 February) never occurs.
const horizonMs = 5 * 366 * dayMs;

/**
 * Parses `spec.schedule` of a CronJob: five fields, a macro such as `@hourly`, or `@every 90m`.
 * @param timeZone - an IANA name
 * @throws OperatorError `InvalidValue`: the schedule or the time zone is invalid.
 */
export function parseCronSchedule(schedule: string, timeZone = 'UTC'): CronSchedule {
  const form = parseCron(schedule);
  if ('everyMs' in form) return { next: (ms) => Math.floor(ms / 1000) * 1000 + form.everyMs };
  const local = localMinute(timeZone);
  return { next: (ms) => (occurs(form) ? nextMatch(form, local, ms) : undefined) };
}

/** Returns false if no time matches, for example with an empty field (`,`) or on 30 February. */
function occurs({ minute, hour, day, month, weekday }: CronFields): boolean {
  if ([minute, hour, month].some(({ values }) => values.size === 0)) return false;
  const byWeekday = weekday.values.size > 0;
  const byDay = [...month.values].some((one) => Math.min(...day.values) <= longestDay(one));
  return day.open || weekday.open ? byDay && byWeekday : byDay || byWeekday;
}

/** Returns the last day of a month in a leap year. */
function longestDay(month: number): number {
  return new Date(Date.UTC(2024, month, 0)).getUTCDate();
}

function nextMatch(
  fields: CronFields,
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
function dayFits({ day, weekday, month }: CronFields, now: LocalMinute): boolean {
  const byDay = day.values.has(now.day);
  const byWeekday = weekday.values.has(now.weekday);
  const fits = day.open || weekday.open ? byDay && byWeekday : byDay || byWeekday;
  return fits && month.values.has(now.month);
}

function nextMidnight(local: (ms: number) => LocalMinute, ms: number, now: LocalMinute): number {
  const guess = ms + dayMs - (now.hour * 60 + now.minute) * minuteMs;
  // On a day on which the clocks change, `guess` is not midnight.
  const { hour, minute } = local(guess);
  const pastMs = (hour * 60 + minute) * minuteMs;
  const corrected = hour < 12 ? guess - pastMs : guess + dayMs - pastMs;
  return Math.max(corrected, ms + minuteMs);
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
