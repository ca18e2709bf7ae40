import { pino, stdSerializers } from 'pino';
import type { DestinationStream, Logger as Pino } from 'pino';
import type { Logger } from './logger.js';

/** Options of {@link pinoLogger}. */
export interface PinoLoggerOptions {
  /** The least severe level written. @defaultValue 'info' */
  readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'silent' | undefined;
  /** Where the JSON lines go. @defaultValue standard output */
  readonly destination?: DestinationStream | undefined;
}

/** A {@link Logger} that writes JSON lines by pino. */
export function pinoLogger(options: PinoLoggerOptions = {}): Logger {
  const { level = 'info', destination } = options;
  const settings = {
    level,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    base: null,
    serializers: { error: stdSerializers.errWithCause },
  };
  return adapt(destination === undefined ? pino(settings) : pino(settings, destination));
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
