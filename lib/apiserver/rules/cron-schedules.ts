import { parseDuration } from '../../crd/internal.js';
import { quoted } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';

/** The range of a field, and names for its numbers. */
interface FieldRange {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const weekdays = 'sun mon tue wed thu fri sat'.split(' ');

const ranges = {
  minute: { min: 0, max: 59 },
  hour: { min: 0, max: 23 },
  day: { min: 1, max: 31 },
  month: { min: 1, max: 12, names: months },
  weekday: { min: 0, max: 6, names: weekdays },
} as const satisfies Readonly<Record<string, FieldRange>>;

const descriptors: Readonly<Partial<Record<string, string>>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** A field: the matching numbers, and `open` if it contains `*` or `?` without a step. */
interface CronField {
  readonly values: ReadonlySet<number>;
  readonly open: boolean;
}

export type CronFields = Readonly<Record<keyof typeof ranges, CronField>>;

/** Returns the problem of a cron schedule; undefined if it is valid. */
export function cronProblem(text: string): string | undefined {
  const [zone] = /^(?:CRON_)?TZ=/.exec(text) ?? [];
  if (zone === undefined) return scheduleProblem(text);
  const end = text.indexOf(' ');
  // The real server's parser panics.
  if (end < 0) return 'invalid schedule format: runtime error: slice bounds out of range [:-1]';
  const name = text.slice(zone.length, end);
  if (name !== '' && !isTimeZone(name)) {
    return `provided bad location ${name}: unknown time zone ${name}`;
  }
  return scheduleProblem(text.slice(end).trim());
}

function scheduleProblem(text: string): string | undefined {
  try {
    parseCron(text);
    return undefined;
  } catch (error) {
    if (error instanceof OperatorError) return error.message;
    throw error;
  }
}

/**
 * Parses a schedule without a time zone: five fields, a descriptor such as `@hourly`, or `@every 90m`.
 * @throws OperatorError `InvalidValue`, with the real server's message
 */
export function parseCron(text: string): CronFields | { readonly everyMs: number } {
  if (text.startsWith(every)) return { everyMs: intervalMs(text) };
  const schedule = text.startsWith('@') ? descriptors[text] : text;
  if (schedule === undefined) throw refusal(`unrecognized descriptor: ${text}`);
  const parts = schedule.split(/\s+/).filter((part) => part !== '');
  if (parts.length !== 5) {
    throw refusal(`expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`);
  }
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = parts;
  return {
    minute: parseField(minute, ranges.minute),
    hour: parseField(hour, ranges.hour),
    day: parseField(day, ranges.day),
    month: parseField(month, ranges.month),
    weekday: parseField(weekday, ranges.weekday),
  };
}

function refusal(problem: string): OperatorError {
  return new OperatorError('InvalidValue', problem);
}

const every = '@every ';

function intervalMs(text: string): number {
  const amount = text.slice(every.length);
  const duration = parseDuration(amount);
  if (duration === undefined) {
    throw refusal(`failed to parse duration ${text}: time: ${durationProblem(amount)}`);
  }
  return Math.max(1000, Number(duration.nanos / 1_000_000_000n) * 1000);
}

/** Returns the error of Go's parser of durations for an invalid text. */
function durationProblem(text: string): string {
  const shown = timeQuoted(text);
  const [, rest = ''] = /^[-+]?(.*)$/s.exec(text) ?? [];
  const terms = rest.matchAll(/(\d*)(\.?\d*)([^\d.]*)/g);
  for (const [, whole = '', fraction = '', unit = ''] of terms) {
    if (!/\d/.test(`${whole}${fraction}`) || BigInt(whole) > 2n ** 63n) break;
    if (unit === '') return `missing unit in duration ${shown}`;
    if (!/^(?:ns|us|µs|μs|ms|s|m|h)$/.test(unit)) {
      return `unknown unit ${timeQuoted(unit)} in duration ${shown}`;
    }
  }
  return `invalid duration ${shown}`;
}

/** Quotes a string as Go's package `time` does, which escapes each byte of other characters. */
function timeQuoted(text: string): string {
  const escaped = [...Buffer.from(text)].map((byte) => {
    if (byte < 0x20 || byte >= 0x80) return `\\x${byte.toString(16).padStart(2, '0')}`;
    return String.fromCharCode(byte).replace(/["\\]/, '\\$&');
  });
  return `"${escaped.join('')}"`;
}

function parseField(text: string, range: FieldRange): CronField {
  const values = new Set<number>();
  let open = false;
  for (const part of text.split(',')) {
    // Go drops empty parts.
    if (part === '') continue;
    const { first, last, step, star } = parsePart(part, range);
    open ||= star && step === 1;
    for (let value = first; value <= last; value += step) values.add(value);
  }
  return { values, open };
}

/** A part of a field: each `step`-th number from `first` to `last`; `star` if `*` or `?` stands for them. */
interface FieldPart {
  readonly first: number;
  readonly last: number;
  readonly step: number;
  readonly star: boolean;
}

/** Parses `*`, `5`, `1-5` or `mon-fri`, each with an optional `/step`. */
function parsePart(text: string, range: FieldRange): FieldPart {
  const [base = '', stepText, ...slashes] = text.split('/');
  const [from = '', to, ...hyphens] = base.split('-');
  // Go ignores what follows a hyphen after `*`.
  const star = from === '*' || from === '?';
  const first = star ? range.min : numberIn(from, range);
  if (!star && hyphens.length > 0) throw refusal(`too many hyphens: ${text}`);
  const end = star || to === undefined ? undefined : numberIn(to, range);
  if (slashes.length > 0) throw refusal(`too many slashes: ${text}`);
  const step = stepText === undefined ? 1 : integerFrom(stepText);
  // `5/15` continues to the end of the range.
  const toMax = star || (to === undefined && stepText !== undefined);
  const last = toMax ? range.max : (end ?? first);
  const problem = boundsProblem(first, last, step, range);
  if (problem !== undefined) throw refusal(`${problem}: ${text}`);
  return { first, last, step, star };
}

function boundsProblem(
  first: number,
  last: number,
  step: number,
  { min, max }: FieldRange,
): string | undefined {
  if (first < min) return `beginning of range (${first}) below minimum (${min})`;
  if (last > max) return `end of range (${last}) above maximum (${max})`;
  if (first > last) return `beginning of range (${first}) beyond end of range (${last})`;
  return step === 0 ? 'step of range should be a positive number' : undefined;
}

function numberIn(text: string, { names = [], min }: FieldRange): number {
  const index = names.indexOf(text.toLowerCase());
  return index >= 0 ? index + min : integerFrom(text);
}

function integerFrom(text: string): number {
  const why = !/^[-+]?\d+$/.test(text)
    ? 'invalid syntax'
    : BigInt.asIntN(64, BigInt(text)) !== BigInt(text)
      ? 'value out of range'
      : undefined;
  if (why !== undefined) {
    const source = `strconv.Atoi: parsing ${quoted(text)}`;
    throw refusal(`failed to parse int from ${text}: ${source}: ${why}`);
  }
  const number = Number(text);
  if (number < 0) throw refusal(`negative number (${number}) not allowed: ${text}`);
  return number;
}

export function timeZoneProblems(name: string): readonly string[] {
  if (name === '') return ['timeZone must be nil or non-empty string'];
  const explicit =
    'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  // Go reads `Local` as the time zone of the machine.
  if (name === 'Local') return [explicit];
  if (isTimeZone(name)) return [];
  const isLocal = name.toLowerCase() === 'local';
  return [...(isLocal ? [explicit] : []), `unknown time zone ${name}`];
}

/** Returns whether a name is that of a time zone. Unlike JavaScript, Go compares upper and lower case. */
function isTimeZone(name: string): boolean {
  // JavaScript returns another name for an alias such as `US/Pacific`, so the case of an alias cannot be compared. Each
  // part of an alias starts with a capital, and after a slash no alias has four capitals in a row.
  const [, ...places] = name.split('/');
  if (/(?:^|\/)[^A-Z]/.test(name) || places.some((place) => /[A-Z]{4}/.test(place))) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}
