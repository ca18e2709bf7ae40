/** The fields of a log line other than its message. They never hold a Secret's data or a token. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A structured logger; `pino` satisfies it through {@link pinoLogger}. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** An `error` among the fields is written with its stack and causes. */
  error(message: string, fields?: LogFields): void;
  /** Returns a logger that adds `fields` to each of its lines. */
  child(fields: LogFields): Logger;
}

/** Discards all lines. The default of library parts without a logger. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
