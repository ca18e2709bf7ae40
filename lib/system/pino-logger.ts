import { pino } from 'pino';
import type { DestinationStream, Logger as Pino } from 'pino';
import { loggedError } from './logged-error.js';
import type { LoggedStacks } from './logged-error.js';
import type { Logger } from './logger.js';
import { refuseUnknownOptions } from './known-options.js';

/** Options of {@link pinoLogger}. */
export interface PinoLoggerOptions {
  /** The lowest level to write. @defaultValue 'info' */
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent' | undefined;
  /** The destination of the JSON lines. @defaultValue standard output */
  readonly destination?: DestinationStream | undefined;
  /**
   * Whether to write errors in full, with stacks and fields of any depth.
   * @defaultValue true at the level `debug`; otherwise stacks only of errors whose message may not explain
   * the failure, so not of an `OperatorError` caused by another error
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
