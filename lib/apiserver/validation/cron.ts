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
  if (text.startsWith('@')) return descriptorProblem(text);
  const parts = text.split(/\s+/).filter((part) => part !== '');
  if (parts.length !== fields.length) {
    const list = `[${text.split(/\s+/).join(' ')}]`;
    return `expected exactly 5 fields, found ${parts.length}: ${list}`;
  }
  for (const [index, field] of fields.entries()) {
    for (const range of (parts[index] ?? '').split(',')) {
      const problem = rangeProblem(range, field);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function descriptorProblem(text: string): string | undefined {
  if (descriptors.includes(text.slice(1))) return undefined;
  if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`;
  const isDuration = /^(?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+$/.test(text.slice('@every '.length));
  return isDuration ? undefined : `failed to parse duration ${text}`;
}

/** Checks a range: `*`, `5`, `1-5`, `mon-fri`, each with an optional `/step`. */
function rangeProblem(text: string, field: CronField): string | undefined {
  const [range = '', step, ...moreSlashes] = text.split('/');
  if (moreSlashes.length > 0) return `too many slashes: ${text}`;
  const [from = '', to, ...moreHyphens] = range.split('-');
  if (moreHyphens.length > 0) return `too many hyphens: ${text}`;
  const every = from === '*' || from === '?';
  const [first, last] = every
    ? [field.min, field.max]
    : [numberOf(from, field), to === undefined ? undefined : numberOf(to, field)];
  if (Number.isNaN(first)) return parseProblem(from);
  if (last !== undefined && Number.isNaN(last)) return parseProblem(to ?? '');
  if (step !== undefined && !/^\d+$/.test(step)) return parseProblem(step);
  const end = last ?? (step === undefined ? first : field.max);
  if (first < field.min)
    return `beginning of range (${first}) below minimum (${field.min}): ${text}`;
  if (end > field.max) return `end of range (${end}) above maximum (${field.max}): ${text}`;
  if (first > end) return `beginning of range (${first}) beyond end of range (${end}): ${text}`;
  return step !== undefined && Number(step) === 0
    ? `step of range should be a positive number: ${text}`
    : undefined;
}

function numberOf(text: string, { names, min }: CronField): number {
  const index = names?.indexOf(text.toLowerCase()) ?? -1;
  if (index >= 0) return index + min;
  return /^\d+$/.test(text) ? Number(text) : NaN;
}

function parseProblem(text: string): string {
  return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
}

/** Returns the problem of a time zone's name; undefined if it is valid. */
export function timeZoneProblem(name: string): string | undefined {
  if (name === '') return 'timeZone must be nil or non-empty string';
  if (name.toLowerCase() === 'local') {
    return 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  }
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return undefined;
  } catch {
    return `unknown time zone ${name}`;
  }
}
