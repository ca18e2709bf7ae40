/** Returns what was thrown as an `Error`; what is no error is the message of one. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(errorMessage(thrown));
}

/** Returns the message of what was thrown. Any value can be thrown, also one that has no text. */
export function errorMessage(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  try {
    return String(thrown);
  } catch {
    return `a thrown ${typeof thrown} without a text`;
  }
}
