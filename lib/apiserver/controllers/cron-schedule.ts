import { parseDuration } from '../../crd/internal.js';
import { OperatorError } from '../../system/index.js';

/** The schedule of a CronJob. */
export interface CronSchedule {
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
    if (part === '') continue;
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
  if (!/^\+?\d+$/.test(text)) throw refusal(text, 'no number');
  return Number(text);
}

function durationMs(text: string): number {
  const duration = parseDuration(text);
  if (duration === undefined) throw refusal(text, 'no duration');
  return Math.max(1000, Number(duration.nanos / 1_000_000_000n) * 1000);
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
