import type { V1Job, V1JobSpec } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { quoted } from '../../object/index.js';
import type { Wire } from '../../object/index.js';

type Job = Wire<V1Job>;
type JobSpec = Wire<V1JobSpec>;

const mostIndexes = 100_000;
const mostWithManyIndexes = 10_000;

/** Limits the numbers in the spec of an Indexed Job, because the real server tracks each index in the status. */
export function validateIndexed(spec: JobSpec, errors: FieldErrors): void {
  const { completions, parallelism = 0, backoffLimitPerIndex, maxFailedIndexes } = spec;
  const invalid = (member: 'parallelism' | 'maxFailedIndexes', most: string): void =>
    errors.invalid(member, spec[member], `must be less than or equal to ${most}`);
  if (completions === undefined) errors.required('completions', 'when completion mode is Indexed');
  if (parallelism > mostIndexes) {
    invalid('parallelism', `${mostIndexes} when completion mode is Indexed`);
  }
  if (maxFailedIndexes !== undefined && completions !== undefined) {
    if (maxFailedIndexes > completions) invalid('maxFailedIndexes', 'completions');
  }
  if ((maxFailedIndexes ?? 0) > mostIndexes) invalid('maxFailedIndexes', `${mostIndexes}`);
  if ((completions ?? 0) <= mostIndexes || backoffLimitPerIndex === undefined) return;
  if (maxFailedIndexes === undefined) {
    const why = `must be specified when completions is above ${mostIndexes}`;
    errors.required('maxFailedIndexes', why);
  }
  const most = `${mostWithManyIndexes} when completions are above ${mostIndexes} and used with backoff limit per index`;
  if (parallelism > mostWithManyIndexes) invalid('parallelism', most);
  if ((maxFailedIndexes ?? 0) > mostWithManyIndexes) invalid('maxFailedIndexes', most);
}

/** Checks that an update sets the completions of an Indexed Job to its parallelism, or leaves them unchanged. */
export function validateCompletions(
  { completions, parallelism }: JobSpec,
  { completions: old }: JobSpec,
  errors: FieldErrors,
): void {
  if (completions === undefined || completions === old || completions === parallelism) return;
  const why = 'can only be modified in tandem with spec.parallelism';
  errors.invalid('spec.completions', completions, why);
}

interface Interval {
  readonly first: number;
  readonly last: number;
}

/** Returns how many indexes a string such as `0,2-4` lists, or its problem. */
export function countOfIndexes(text: string, completions: number): number | string {
  let count = 0;
  let previous: number | undefined;
  for (const part of text === '' ? [] : text.split(',')) {
    const interval = intervalOf(part, completions);
    if (typeof interval === 'string') return interval;
    const { first, last } = interval;
    if (previous !== undefined && previous >= first) return unordered(previous, first);
    count += last - first + 1;
    previous = last;
  }
  return count;
}

function unordered(previous: number, current: number): string {
  return `non-increasing order, previous: ${previous}, current: ${current}`;
}

/** Returns the interval of a string such as `2-4`, or its problem. */
function intervalOf(text: string, completions: number): Interval | string {
  const limits = text.split('-');
  if (limits.length > 2) {
    const rule = "that an index interval can have at most two parts separated by '-'";
    return `the fragment ${quoted(text)} violates the requirement ${rule}`;
  }
  for (const limit of limits) {
    const isNumber = /^\+?\d+$/.test(limit) && Number(limit) < 2 ** 63;
    if (!isNumber) return `cannot convert string to integer for index: ${quoted(limit)}`;
    if (Number(limit) >= completions) return `too large index: ${quoted(limit)}`;
  }
  const [first = 0, last] = limits.map(Number);
  if (last !== undefined && first >= last) return unordered(first, last);
  return { first, last: last ?? first };
}

/** Checks the indexes in a written status of a Job. Unchanged indexes may stay invalid. */
export function validateStatusIndexes(
  { spec, status }: Job,
  { status: old }: Job,
  errors: FieldErrors,
): void {
  const { completedIndexes = '', failedIndexes } = status ?? {};
  const { completions, completionMode, backoffLimitPerIndex } = spec ?? {};
  const isChanged = {
    completedIndexes: completedIndexes !== (old?.completedIndexes ?? ''),
    failedIndexes: failedIndexes !== old?.failedIndexes,
  };
  const parse = (member: keyof typeof isChanged, text: string): void => {
    if (completions === undefined || !isChanged[member]) return;
    const problem = countOfIndexes(text, completions);
    if (typeof problem !== 'string') return;
    errors.invalid(`status.${member}`, text, `error parsing ${member}: ${problem}`);
  };
  parse('completedIndexes', completedIndexes);
  if (failedIndexes !== undefined && backoffLimitPerIndex !== undefined) {
    parse('failedIndexes', failedIndexes);
  }
  if (completedIndexes !== '' && completionMode !== 'Indexed') {
    const why = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    errors.invalid('status.completedIndexes', completedIndexes, why);
  }
  if (failedIndexes === undefined) return;
  if (isChanged.failedIndexes && backoffLimitPerIndex === undefined) {
    const why = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    errors.invalid('status.failedIndexes', failedIndexes, why);
  }
  if (completions === undefined) return;
  if (!isChanged.completedIndexes && !isChanged.failedIndexes) return;
  const shared = overlapOf(completedIndexes, failedIndexes, completions);
  if (shared === undefined) return;
  const why = `failedIndexes and completedIndexes overlap at index: ${shared}`;
  errors.invalid('status.failedIndexes', failedIndexes, why);
}

/** Returns the first index that two strings share. Wrong parts of them are skipped. */
function overlapOf(completed: string, failed: string, completions: number): number | undefined {
  const intervals = (text: string): Interval[] =>
    text
      .split(',')
      .map((part) => intervalOf(part, completions))
      .filter((interval) => typeof interval !== 'string');
  const [ones, others] = [intervals(completed), intervals(failed)];
  let [index, otherIndex] = [0, 0];
  for (;;) {
    const [at, other] = [ones[index], others[otherIndex]];
    if (at === undefined || other === undefined) return undefined;
    if (at.first <= other.last && other.first <= at.last) return Math.max(at.first, other.first);
    if (at.first <= other.first) index += 1;
    else otherIndex += 1;
  }
}
