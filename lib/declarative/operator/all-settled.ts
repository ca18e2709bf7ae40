import { asError } from '../../system/as-error.js';

/**
 * Resolves when all of `work` has settled.
 * @throws the only error, or an `AggregateError` of several
 */
export async function allSettled(work: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(work);
  const errors = results.flatMap((result) =>
    result.status === 'rejected' ? [asError(result.reason)] : [],
  );
  const [first] = errors;
  if (first === undefined) return;
  if (errors.length === 1) throw first;
  throw new AggregateError(errors, errors.map(({ message }) => message).join('; '));
}
