import { pino } from 'pino';
import type { DestinationStream, Logger as Pino } from 'pino';
import { shortened } from './as-error.js';
import { refuseUnknownOptions } from './known-options.js';
import type { Logger } from './logger.js';
import { isOperatorError } from './operator-error.js';

/** Options of {@link pinoLogger}. */
export interface PinoLoggerOptions {
  /** The lowest level to write. @defaultValue 'info' */
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent' | undefined;
  /** The destination of the JSON lines. @defaultValue standard output */
  readonly destination?: DestinationStream | undefined;
  /**
   * Whether to write errors in full, with stacks and fields of any depth.
   * @defaultValue true at the level `debug`. At other levels, an error has a stack, unless it is an
   * `OperatorError` with a cause, whose message explains the failure
   */
  readonly stacks?: boolean | undefined;
}

/** A {@link Logger} that writes JSON lines by pino. */
export function pinoLogger(options: PinoLoggerOptions = {}): Logger {
  const { level = 'info', destination, stacks } = options;
  const names = { level, destination, stacks };
  refuseUnknownOptions<PinoLoggerOptions>('pinoLogger', options, names);
  const settings = {
    level,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    base: null,
    serializers: { error: (error: unknown) => loggedError(error, stacksOf(options)) },
  };
  return adapt(destination === undefined ? pino(settings) : pino(settings, destination));
}

function stacksOf({
  level,
  stacks = level === 'debug' ? true : undefined,
}: PinoLoggerOptions): LoggedStacks {
  if (stacks === undefined) return 'own';
  return stacks ? 'all' : 'none';
}

function adapt(inner: Pino): Logger {
  return {
    debug: (message, fields = {}) => inner.debug(fields, message),
    info: (message, fields = {}) => inner.info(fields, message),
    warn: (message, fields = {}) => inner.warn(fields, message),
    error: (message, fields = {}) => inner.error(fields, message),
    child: (fields) => adapt(inner.child(fields)),
  };
}

/**
 * The stacks in a log line. `own`: stacks that show where the operator's code failed. An `OperatorError` with a cause
 * needs no stack, because its message explains the failure.
 */
export type LoggedStacks = 'all' | 'own' | 'none';

interface Writing {
  readonly stacks: LoggedStacks;
  /** The errors already written; each is written once. */
  readonly seen: Set<unknown>;
  /** The messages of the enclosing errors. */
  readonly said: string;
}

const mostParts = 10;
const longestText = 4_000;
/** A shorter text may occur in a message by chance, so it is not omitted as a repetition. */
const longestName = 64;
/** Fields that are written under another name, or repeat the type. */
const shown: ReadonlySet<string> = new Set(['name', 'message', 'stack', 'cause', 'errors']);

/**
 * Returns an error as log fields: its type, its message, its fields, and what its causes add to them. Each
 * error is written once.
 *
 * Nested fields are written only with `all`: an HTTP client keeps its request in an error, with its
 * credentials.
 */
export function loggedError(error: unknown, stacks: LoggedStacks): unknown {
  return written(error, { stacks, seen: new Set(), said: '' });
}

function written(error: unknown, { stacks, seen, said }: Writing): unknown {
  if (!isErrorLike(error)) return error;
  seen.add(error);
  const { message, cause, errors } = error;
  const inner: Writing = { stacks, seen, said: `${said}\n${message}` };
  const parts = Array.isArray(errors) ? unseen(errors as unknown[], seen) : [];
  const aggregateErrors = parts.slice(0, mostParts).map((part) => written(part, inner));
  const causes = cause === undefined ? [] : unseen([cause], seen);
  const isOutermost = said === '';
  const isExplained = isOperatorError(error) && (!isOutermost || parts.length + causes.length > 0);
  const hasStack = stacks === 'all' || (stacks === 'own' && !isExplained);
  const limit = stacks === 'all' ? Infinity : longestText;
  return {
    type: typeOf(error),
    ...((isOutermost || !said.includes(message)) && { message: shortened(message, limit) }),
    ...(hasStack && { stack: shortened(framesOf(error), limit) }),
    ...fieldsOf(error, inner),
    ...(aggregateErrors.length > 0 && { aggregateErrors }),
    ...(parts.length > mostParts && { moreErrors: parts.length - mostParts }),
    ...(causes.length > 0 && { cause: written(cause, inner) }),
  };
}

type ErrorLike = Error & { readonly errors?: unknown };

/** Errors of another realm are not instances of this realm's `Error`. */
function isErrorLike(value: unknown): value is ErrorLike {
  if (typeof value !== 'object' || value === null) return false;
  return typeof (value as Partial<Error>).message === 'string';
}

function unseen(errors: readonly unknown[], seen: ReadonlySet<unknown>): readonly unknown[] {
  return [...new Set(errors)].filter((error) => !seen.has(error));
}

function typeOf({ constructor, name }: Error): string {
  return typeof constructor === 'function' ? constructor.name : name;
}

/** Returns the stack without the message before it. */
function framesOf({ stack = '', message }: Error): string {
  const at = stack.indexOf(message);
  return (at < 0 ? stack : stack.slice(at + message.length)).trim();
}

/** Returns the remaining fields, without texts that a message quotes. */
function fieldsOf(error: object, { stacks, said }: Writing): Readonly<Record<string, unknown>> {
  const isNew = (value: unknown): boolean =>
    typeof value !== 'string' || value.length < longestName || !said.includes(value);
  const fields = Object.entries(error).flatMap(([name, value]: [string, unknown]) => {
    if (shown.has(name) || !isNew(value)) return [];
    if (typeof value !== 'object' || value === null || stacks === 'all') return [[name, value]];
    if (Array.isArray(value)) return [];
    const flat = Object.entries(value).filter(
      ([, each]) => typeof each !== 'object' && isNew(each),
    );
    return flat.length === 0 ? [] : [[name, Object.fromEntries(flat)]];
  });
  return Object.fromEntries(fields) as Readonly<Record<string, unknown>>;
}
