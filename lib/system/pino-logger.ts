import { pino, stdSerializers } from 'pino';
import type { DestinationStream, Logger as Pino } from 'pino';
import type { Logger } from './logger.js';
import { refuseUnknownOptions } from './known-options.js';

/** Options of {@link pinoLogger}. */
export interface PinoLoggerOptions {
  /** The least severe level written. @defaultValue 'info' */
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent' | undefined;
  /** Where the JSON lines go. @defaultValue standard output */
  readonly destination?: DestinationStream | undefined;
  /** Whether errors are written with their stacks. @defaultValue true */
  readonly stacks?: boolean | undefined;
}

/** A {@link Logger} that writes JSON lines by pino. */
export function pinoLogger(options: PinoLoggerOptions = {}): Logger {
  const { level = 'info', destination, stacks = true } = options;
  const names = { level, destination, stacks };
  refuseUnknownOptions<PinoLoggerOptions>('pinoLogger', options, names);
  const settings = {
    level,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    base: null,
    serializers: { error: stacks ? stdSerializers.errWithCause : withoutStack },
  };
  return adapt(destination === undefined ? pino(settings) : pino(settings, destination));
}

/** An error as `errWithCause` writes it, without the stacks of itself and its causes. */
function withoutStack(error: Error): unknown {
  return strip(stdSerializers.errWithCause(error));
}

function strip(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { cause, aggregateErrors, ...rest } = value as Record<string, unknown>;
  delete rest['stack'];
  return {
    ...rest,
    ...(cause !== undefined && { cause: strip(cause) }),
    ...(Array.isArray(aggregateErrors) && { aggregateErrors: aggregateErrors.map(strip) }),
  };
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
