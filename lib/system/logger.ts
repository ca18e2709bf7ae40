/** What a log line carries beside its message. Never a Secret's data, never a token. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A structured logger; `pino` satisfies it through {@link pinoLogger}. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** An `error` among the fields is written with its stack and causes. */
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to each of its lines. */
  child(fields: LogFields): Logger;
}

/** Drops everything. The default of library parts that were given no logger. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
