import type { V1JobSpec } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import type { Wire } from '../../object/index.js';

type JobSpec = Wire<V1JobSpec>;

const mostIndexes = 100_000;
const mostWithManyIndexes = 10_000;

/** Checks the numbers of an Indexed Job: the real server tracks each index in the status. */
export function validateIndexed(spec: JobSpec, field: string, errors: FieldErrors): void {
  const { completions, parallelism = 0, backoffLimitPerIndex, maxFailedIndexes } = spec;
  const invalid = (member: 'parallelism' | 'maxFailedIndexes', most: string): void =>
    errors.invalid(`${field}.${member}`, spec[member], `must be less than or equal to ${most}`);
  if (completions === undefined) {
    errors.required(`${field}.completions`, 'when completion mode is Indexed');
  }
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
    errors.required(`${field}.maxFailedIndexes`, why);
  }
  const most = `${mostWithManyIndexes} when completions are above ${mostIndexes} and used with backoff limit per index`;
  if (parallelism > mostWithManyIndexes) invalid('parallelism', most);
  if ((maxFailedIndexes ?? 0) > mostWithManyIndexes) invalid('maxFailedIndexes', most);
}

/** Checks that an Indexed Job changes its completions together with its parallelism. */
export function validateCompletions(
  { completions, parallelism }: JobSpec,
  { completions: old }: JobSpec,
  errors: FieldErrors,
): void {
  if (completions === undefined || completions === old || completions === parallelism) return;
  const why = 'can only be modified in tandem with spec.parallelism';
  errors.invalid('spec.completions', completions, why);
}
