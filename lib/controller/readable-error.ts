/**
 * Returns `error`, or a substitute if it can't be read: a getter throws, the message can't be converted to a
 * string, or it is a proxy. A logger would throw on such an error.
 */
export function readableError(error: unknown): unknown {
  try {
    read(error, new Set());
    return error;
  } catch {
    // The exception from reading it may be unreadable too.
    return new Error('threw what can not be read: a proxy, or a field of it throws');
  }
}

/**
 * Reads all fields that loggers, tracers and this library read.
 * @throws any exception from reading them
 */
function read(error: unknown, seen: Set<unknown>): void {
  if (typeof error !== 'object' || error === null || seen.has(error)) return;
  seen.add(error);
  const { name, message, stack, code, cause, errors } = error as Readonly<Record<string, unknown>>;
  if (error instanceof Error) for (const text of [name, message, stack, code]) String(text);
  // The type guards of this library's errors use this check.
  Reflect.has(error, 'code');
  read(cause, seen);
  if (Array.isArray(errors)) for (const part of errors) read(part, seen);
}
