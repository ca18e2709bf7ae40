import { CelDuration, CelError, CelTimestamp } from './values.js';

const second = 1_000_000_000n;
/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z, in seconds since 1970. */
const [firstSecond, lastSecond] = [-62_135_596_800n, 253_402_300_799n];

/** Returns a timestamp within the years 1 to 9999. @throws CelError */
export function checkedTimestamp(nanos: bigint): CelTimestamp {
  if (nanos < firstSecond * second || nanos >= (lastSecond + 1n) * second) {
    throw new CelError('timestamp overflow');
  }
  return new CelTimestamp(nanos);
}

/** Returns a duration that fits 64 bits. @throws CelError */
export function checkedDuration(nanos: bigint): CelDuration {
  if (BigInt.asIntN(64, nanos) !== nanos) throw new CelError('integer overflow');
  return new CelDuration(nanos);
}

const timeForm = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:[.,](\d+))?([Zz]|[+-]\d\d:\d\d)$/;

/** Parses RFC 3339; returns undefined if invalid. */
export function parseTimestamp(text: string): CelTimestamp | undefined {
  const match = timeForm.exec(text);
  if (match === null) return undefined;
  const [, day = '', time = '', fraction = '', zone = ''] = match;
  const milliseconds = Date.parse(`${day}T${time}${zone.toUpperCase()}`);
  // JavaScript parses the 30th of February as a day in March.
  if (Number.isNaN(milliseconds) || !isDay(day)) return undefined;
  const nanos = BigInt(fraction.padEnd(9, '0').slice(0, 9));
  return new CelTimestamp(BigInt(milliseconds) * 1_000_000n + nanos);
}

/**
 * Returns the time of RFC 3339 text, as Go reads it, or of seconds since 1970; undefined if the text is invalid.
 * @throws CelError the time is not within the years 1 to 9999
 */
export function timestampFrom(value: string | bigint): CelTimestamp | undefined {
  if (typeof value === 'bigint') return checkedTimestamp(value * second);
  // Go refuses small letters and the time `24:00:00`. The schema format accepts both.
  const time = /[tz]|T24/.test(value) ? undefined : parseTimestamp(value);
  return time === undefined ? undefined : checkedTimestamp(time.nanos);
}

/** Returns whether a timestamp is the zero value of Go. */
export function isZeroTimestamp({ nanos }: CelTimestamp): boolean {
  return nanos === firstSecond * second;
}

/** Parses a day such as `2024-02-29`; returns undefined if it does not exist. */
export function parseDay(text: string): CelTimestamp | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || !isDay(text)) return undefined;
  return new CelTimestamp(BigInt(Date.parse(`${text}T00:00:00Z`)) * 1_000_000n);
}

function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/** Formats a time as the shortest RFC 3339 in UTC. */
export function timestampText({ nanos }: CelTimestamp): string {
  const seconds = (nanos - (((nanos % second) + second) % second)) / second;
  const fraction = nanos - seconds * second;
  const head = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  const digits = fraction.toString().padStart(9, '0').replace(/0+$/, '');
  return `${head}${digits === '' ? '' : `.${digits}`}Z`;
}

const units: Readonly<Partial<Record<string, bigint>>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: second,
  m: 60n * second,
  h: 3600n * second,
};

/** Parses Go's form, for example `1h30m` or `-1.5s`; returns undefined if invalid. */
export function parseDuration(text: string): CelDuration | undefined {
  const [, sign, body = ''] = /^([+-]?)(.*)$/s.exec(text) ?? [];
  if (body === '0') return new CelDuration(0n);
  if (!/^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)) return undefined;
  let nanos = 0n;
  for (const [, amount = '', unit = ''] of body.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const [whole = '', fraction = ''] = amount.split('.');
    const size = units[unit] ?? 1n;
    nanos += BigInt(whole || '0') * size;
    nanos += (BigInt(fraction || '0') * size) / 10n ** BigInt(fraction.length);
  }
  const signed = sign === '-' ? -nanos : nanos;
  return BigInt.asIntN(64, signed) === signed ? new CelDuration(signed) : undefined;
}

const longUnits: Readonly<Partial<Record<string, bigint>>> = {
  ...units,
  nano: 1n,
  micro: 1000n,
  milli: 1_000_000n,
  sec: second,
  min: 60n * second,
  hr: 3600n * second,
  hour: 3600n * second,
  d: 86_400n * second,
  day: 86_400n * second,
  w: 604_800n * second,
  wk: 604_800n * second,
  week: 604_800n * second,
};

/** Parses the schema format `duration`: Go's form, or `3 days`, `1w`. */
export function parseOpenApiDuration(text: string): CelDuration | undefined {
  const go = parseDuration(text);
  if (go !== undefined) return go;
  let nanos: bigint | undefined;
  for (const [, amount = '', unit = ''] of text.matchAll(/(?<!\d)(\d+)\s*([A-Za-zµ]+)/g)) {
    const size = longUnits[unit] ?? longUnits[unit.replace(/s$/, '')];
    if (size === undefined) return undefined;
    nanos = (nanos ?? 0n) + BigInt(amount) * size;
  }
  return nanos === undefined ? undefined : new CelDuration(nanos);
}

/** Formats a duration in seconds, as CEL does, for example `5400s`. */
export function durationText({ nanos }: CelDuration): string {
  const [sign, size] = nanos < 0n ? ['-', -nanos] : ['', nanos];
  const fraction = (size % second).toString().padStart(9, '0').replace(/0+$/, '');
  return `${sign}${size / second}${fraction === '' ? '' : `.${fraction}`}s`;
}

/**
 * Returns a date whose parts in UTC are those of the time in a time zone: a name, an offset such as `-08:00`,
 * or UTC.
 * @throws CelError unknown time zone
 */
export function dateIn({ nanos }: CelTimestamp, zone = 'UTC'): Date {
  const floor = (nanos - (((nanos % 1_000_000n) + 1_000_000n) % 1_000_000n)) / 1_000_000n;
  const milliseconds = Number(floor);
  return new Date(milliseconds + offsetMs(milliseconds, zone));
}

function offsetMs(atMs: number, zone: string): number {
  // The zone of a real server depends on its machine, and is UTC in containers.
  if (zone === 'UTC' || zone === '' || zone === 'Local') return 0;
  const [, sign, hours, minutes] = /^([+-]?)(\d+):(\d+)$/.exec(zone) ?? [];
  if (hours !== undefined && minutes !== undefined) {
    const size = (Number(hours) * 60 + Number(minutes)) * 60_000;
    // JavaScript cannot represent such a date.
    if (Math.abs(atMs) + size > 8.64e15) throw new CelError(`unknown time zone ${zone}`);
    return sign === '-' ? -size : size;
  }
  return namedOffsetMs(atMs, zone);
}

function namedOffsetMs(atMs: number, zone: string): number {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
  const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const local = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
  return local - Math.floor(atMs / 1000) * 1000;
}
