import { OperatorError } from '../../../system/operator-error.js';

/** Local date and time in a time zone. */
export interface LocalMinute {
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
export function localMinute(timeZone: string): (ms: number) => LocalMinute {
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
