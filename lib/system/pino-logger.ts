import { pino } from 'pino';
import type { DestinationStream, Logger as Pino } from 'pino';
import { loggedError } from './logged-error.js';
import type { LoggedStacks } from './logged-error.js';
import type { Logger } from './logger.js';
import { refuseUnknownOptions } from './known-options.js';

/** Options of {@link pinoLogger}. */
export interface PinoLoggerOptions {
  /** The least severe level written. @defaultValue 'info' */
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent' | undefined;
  /** Where the JSON lines go. @defaultValue standard output */
  readonly destination?: DestinationStream | undefined;
  /**
   * Whether errors are written with all that they have: their stacks, and fields of any depth.
   * @defaultValue at the level `debug`; else with the stacks of errors whose message may not say what
   * failed: not those of an `OperatorError` that another error has caused
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
