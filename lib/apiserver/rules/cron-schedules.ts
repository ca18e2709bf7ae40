import { parseDuration } from '../../crd/internal.js';
import { quoted } from '../../object/index.js';

interface CronField {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const fields: readonly CronField[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: days },
];

const descriptors = ['yearly', 'annually', 'monthly', 'weekly', 'daily', 'midnight', 'hourly'];

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
  if (text.startsWith('@')) return descriptorProblem(text);
  const parts = text.split(/\s+/).filter((part) => part !== '');
  if (parts.length !== fields.length) {
    return `expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`;
  }
  for (const [index, field] of fields.entries()) {
    for (const range of (parts[index] ?? '').split(',')) {
      // Go drops empty parts.
      const problem = range === '' ? undefined : rangeProblem(range, field);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function descriptorProblem(text: string): string | undefined {
  if (descriptors.includes(text.slice(1))) return undefined;
  if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`;
  const duration = text.slice('@every '.length);
  if (parseDuration(duration) !== undefined) return undefined;
  return `failed to parse duration ${text}: time: ${durationProblem(duration)}`;
}

/** Returns the error of Go's parser of durations for an invalid text. */
function durationProblem(text: string): string {
  const shown = timeQuoted(text);
  const [, rest = ''] = /^[-+]?(.*)$/s.exec(text) ?? [];
  for (const [, amount, unit = ''] of rest.matchAll(/([\d.]?\d*\.?\d*)([^\d.]*)/g)) {
    if (amount === '' || amount === '.') break;
    if (unit === '') return `missing unit in duration ${shown}`;
    if (!/^(?:ns|us|µs|μs|ms|s|m|h)$/.test(unit)) {
      return `unknown unit ${timeQuoted(unit)} in duration ${shown}`;
    }
  }
  return `invalid duration ${shown}`;
}

/** Quotes a text as Go's package `time` does, which escapes each byte of other characters. */
function timeQuoted(text: string): string {
  const escaped = [...Buffer.from(text)].map((byte) => {
    if (byte < 0x20 || byte >= 0x80) return `\\x${byte.toString(16).padStart(2, '0')}`;
    return String.fromCharCode(byte).replace(/["\\]/, '\\$&');
  });
  return `"${escaped.join('')}"`;
}

/** Checks a range: `*`, `5`, `1-5`, `mon-fri`, each with an optional `/step`. */
function rangeProblem(text: string, field: CronField): string | undefined {
  const [range = '', step, ...moreSlashes] = text.split('/');
  const [from = '', to, ...moreHyphens] = range.split('-');
  const isEvery = from === '*' || from === '?';
  const problem = isEvery
    ? undefined
    : (numberProblem(from, field) ?? (to === undefined ? undefined : numberProblem(to, field)));
  if (!isEvery && moreHyphens.length > 0) {
    return numberProblem(from, field) ?? `too many hyphens: ${text}`;
  }
  if (problem !== undefined) return problem;
  if (moreSlashes.length > 0) return `too many slashes: ${text}`;
  const stepProblem = step === undefined ? undefined : numberProblem(step);
  if (stepProblem !== undefined) return stepProblem;
  const first = isEvery ? field.min : numberOf(from, field);
  const single = step === undefined ? first : field.max;
  const open = to === undefined ? single : isEvery ? field.max : numberOf(to, field);
  const last = isEvery ? field.max : open;
  if (first < field.min) {
    return `beginning of range (${first}) below minimum (${field.min}): ${text}`;
  }
  if (last > field.max) return `end of range (${last}) above maximum (${field.max}): ${text}`;
  if (first > last) return `beginning of range (${first}) beyond end of range (${last}): ${text}`;
  return step !== undefined && Number(step) === 0
    ? `step of range should be a positive number: ${text}`
    : undefined;
}

function nameIndex(text: string, names: readonly string[] = []): number {
  return names.indexOf(text.toLowerCase());
}

function numberOf(text: string, { names, min }: CronField): number {
  const index = nameIndex(text, names);
  return index >= 0 ? index + min : Number(text);
}

function numberProblem(text: string, { names }: Partial<CronField> = {}): string | undefined {
  if (nameIndex(text, names) >= 0) return undefined;
  const refused = (why: string): string =>
    `failed to parse int from ${text}: strconv.Atoi: parsing ${quoted(text)}: ${why}`;
  if (!/^[-+]?\d+$/.test(text)) return refused('invalid syntax');
  if (BigInt.asIntN(64, BigInt(text)) !== BigInt(text)) return refused('value out of range');
  return Number(text) < 0 ? `negative number (${Number(text)}) not allowed: ${text}` : undefined;
}

/** Returns the problems of a time zone's name. */
export function timeZoneProblems(name: string): readonly string[] {
  if (name === '') return ['timeZone must be nil or non-empty string'];
  const explicit =
    'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  // Go takes this name for the zone of the machine.
  if (name === 'Local') return [explicit];
  if (isTimeZone(name)) return [];
  const isLocal = name.toLowerCase() === 'local';
  return [...(isLocal ? [explicit] : []), `unknown time zone ${name}`];
}

/** Returns whether a name is that of a time zone. Unlike JavaScript, Go compares upper and lower case. */
function isTimeZone(name: string): boolean {
  if (name === name.toLowerCase()) return false;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return timeZone === name || timeZone.toLowerCase() !== name.toLowerCase();
  } catch {
    return false;
  }
}
