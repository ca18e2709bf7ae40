/**
 * What was thrown, or an error that stands for it where it can't be read: a getter that throws, a
 * message that is no text and can't be made one, a proxy. Whoever logs it would throw, too.
 */
export function readableError(error: unknown): unknown {
  try {
    read(error, new Set());
    return error;
  } catch {
    // What reading it has thrown may be as odd as what was to be read.
    return new Error('threw what can not be read: a proxy, or a field of it throws');
  }
}

/** Reads what loggers, tracers and we ourselves read. @throws whatever reading it throws */
function read(error: unknown, seen: Set<unknown>): void {
  if (typeof error !== 'object' || error === null || seen.has(error)) return;
  seen.add(error);
  const { name, message, stack, code, cause, errors } = error as Readonly<Record<string, unknown>>;
  if (error instanceof Error) for (const text of [name, message, stack, code]) String(text);
  // What tells our errors apart asks for that.
  Reflect.has(error, 'code');
  read(cause, seen);
  if (Array.isArray(errors)) for (const part of errors) read(part, seen);
}
