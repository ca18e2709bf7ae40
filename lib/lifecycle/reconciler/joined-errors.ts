import { errorMessage } from '../../system/as-error.js';
/** Several errors as one, which names the causes of all; one alone as it is. */
export function joined(errors: readonly unknown[]): unknown {
  if (errors.length === 1) return errors[0];
  const texts = errors.map((error) => errorMessage(error));
  return new AggregateError(errors, texts.join('; '));
}

/** The errors that {@link joined} has joined. */
export function partsOf(error: unknown): readonly unknown[] {
  return error instanceof AggregateError ? (error.errors as unknown[]) : [error];
}
