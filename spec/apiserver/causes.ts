import type { Answer } from './api.js';

interface Cause {
  readonly field?: string;
  readonly message: string;
}

function causesOf({ body }: Answer): readonly Cause[] {
  const { causes = [] } = (body['details'] ?? {}) as { causes?: readonly Cause[] };
  return causes;
}

/** Returns the fields that an error names, in order. */
export function causeFields(answer: Answer): string[] {
  return causesOf(answer).map(({ field = '' }) => field);
}

/** Returns the message of an error for each field. */
export function causeMessages(answer: Answer): Record<string, string> {
  return Object.fromEntries(causesOf(answer).map(({ field = '', message }) => [field, message]));
}
