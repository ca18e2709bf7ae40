import omit from 'lodash/omit.js';
import picocolors from 'picocolors';
import type { DefaultCluster, Environment } from '../client/index.js';
import { isApiError, describeObject } from '../object/index.js';
import type { ApiError } from '../object/index.js';
import { asError, isOperatorError, jsonOrInspected, oneLine, shortened } from '../system/index.js';
import type { LogFields, Logger } from '../system/index.js';

/** Minimum level of a {@link textLogger}. */
export type TextLogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Options of {@link textLogger}. */
export interface TextLoggerOptions {
  /** The lowest level written. At `debug`, lines include every field and the stack of errors. */
  readonly level: TextLogLevel;
  readonly write: (text: string) => void;
  readonly color: boolean;
}

type Level = 'debug' | 'info' | 'warn' | 'error';

const severities: Readonly<Record<TextLogLevel, number>> = {
  ...{ debug: 0, info: 1, warn: 2, error: 3, silent: 4 },
};

/** Returns a logger for people: one line per message, starting with the object concerned. */
export function textLogger(options: TextLoggerOptions, fields: LogFields = {}): Logger {
  const log = (level: Level) => {
    return (message: string, more: LogFields = {}): void => {
      if (severities[level] < severities[options.level]) return;
      options.write(lineOf({ level, message, fields: { ...fields, ...more } }, options));
    };
  };
  return {
    ...{ debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    child: (more) => textLogger(options, { ...fields, ...more }),
  };
}

interface Entry {
  readonly level: Level;
  readonly message: string;
  readonly fields: LogFields;
}

/** Fields with a fixed place in the line. */
const shownFields = [
  ...['kind', 'namespace', 'name', 'key', 'controller', 'cluster', 'reconcileID'],
  ...['error', 'againInMs'],
];

function lineOf(entry: Entry, { level, color }: TextLoggerOptions): string {
  const { message, fields } = entry;
  const { controller, cluster, reconcileID, error, againInMs } = fields;
  const others = omit(fields, shownFields);
  const colors = picocolors.createColors(color);
  const isDebug = level === 'debug';
  const subject = subjectOf(fields);
  const place = isDebug ? { controller, reconcileID } : {};
  const rest = { ...place, ...(textOf(cluster) !== '' && { cluster }), ...others };
  const parts = [
    ...(subject === '' ? [] : [subject]),
    message,
    ...(error === undefined ? [] : [briefError(error, subject)]),
  ];
  const again = typeof againInMs === 'number' ? ` (again in ${durationText(againInMs)})` : '';
  const details = colors.dim(`${again}${pairs(rest)}`);
  const stack = isDebug && error !== undefined ? `\n${colors.dim(stackOf(error))}` : '';
  return `${markOf(entry.level, colors)} ${oneLine(parts.join(': '))}${details}${stack}\n`;
}

/** Returns the object of the message, or its controller if it has no object. */
function subjectOf({ kind, namespace, name, key, controller }: LogFields): string {
  const named = { kind: textOf(kind), namespace: textOf(namespace), name: textOf(name) };
  if (named.kind !== '' && named.name !== '') return describeObject(named);
  return [named.kind || textOf(controller), textOf(key)].filter((part) => part !== '').join(' ');
}

function markOf(level: Level, colors: ReturnType<typeof picocolors.createColors>): string {
  if (level === 'error') return colors.red('!');
  return level === 'warn' ? colors.yellow('!') : colors.dim('·');
}

function pairs(fields: LogFields): string {
  const shown = Object.entries(fields).filter(([, value]) => value !== undefined);
  return shown
    .map(([name, value]) => {
      const text = value instanceof Error ? value.message : value;
      return oneLine(` ${name}=${typeof text === 'string' ? text : jsonOrInspected(text)}`);
    })
    .join('');
}

function stackOf(thrown: unknown): string {
  const { stack = '', cause } = asError(thrown);
  return cause === undefined ? stack : `${stack}\ncaused by ${stackOf(cause)}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * Formats an error as one line. For an API error: the object, the status, and each rejected field with its
 * reason.
 * @param subject - the object that the line begins with, such as `Widget default/x`; it is not repeated
 */
export function briefError(thrown: unknown, subject = ''): string {
  return [...new Set(reasonsOf(thrown, subject, new Set()))].join('; ');
}

/**
 * Returns the message of an error. API errors in it are formatted by {@link briefError}; other messages keep
 * all their lines.
 */
export function readableMessage(error: Error): string {
  const parts = partsOf(error);
  if (parts.length > 1) {
    const title = `${parts.length} errors:`;
    return [title, ...parts.map((part) => briefError(part))].join('\n- ');
  }
  const [only = error] = parts;
  return answerIn(only) === undefined ? error.message : briefError(only);
}

/** Formats milliseconds: `20 ms`, `1.3 s`, `16 min`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 120_000 ? `${Number((ms / 1_000).toFixed(1))} s` : `${Math.round(ms / 60_000)} min`;
}

/** @param seen - the enclosing errors; an error may contain itself */
function reasonsOf(thrown: unknown, subject: string, seen: Set<unknown>): readonly string[] {
  seen.add(thrown);
  const parts = partsOf(thrown).filter((part) => !seen.has(part));
  if (parts.length > 0) return parts.flatMap((part) => reasonsOf(part, subject, seen));
  const answer = answerIn(thrown);
  const text = answer === undefined ? ownText(asError(thrown), seen) : answerText(answer, subject);
  const line = oneLine(text);
  return [line.startsWith(`${subject}: `) ? line.slice(subject.length + 2) : line];
}

/** Returns the message of an error, or its class if it has none, and the cause of a failed connection. */
function ownText(error: Error, seen: Set<unknown>): string {
  const { message, name, constructor, cause } = error;
  const text = message === '' ? (name === 'Error' ? constructor.name : name) : message;
  if (!isConnectionCause(error) || seen.has(cause)) return text;
  const why = reasonsOf(cause, '', seen).join('; ');
  return text.includes(why) ? text : `${text}: ${why}`;
}

/**
 * Returns true if the cause shows why a connection or a file failed: `fetch` itself only says that it failed. The
 * messages of other causes may quote data, for example of a Secret that can't be parsed.
 */
function isConnectionCause({ message, cause }: Error): boolean {
  return cause instanceof Error && (message === 'fetch failed' || 'syscall' in cause);
}

/** Returns the API error that is thrown directly or wrapped in a `TerminalError`. */
function answerIn(thrown: unknown): ApiError | undefined {
  if (isApiError(thrown)) return thrown;
  const { message, cause } = asError(thrown);
  if (!isOperatorError(thrown, 'Terminal') || !isApiError(cause)) return undefined;
  return message.includes(cause.message) ? cause : undefined;
}

/** Returns the errors that `thrown` lists, except the errors of objects that only waited for a failed object. */
function partsOf(thrown: unknown): readonly unknown[] {
  const { errors } = asError(thrown) as { readonly errors?: unknown };
  if (!Array.isArray(errors)) return [];
  return (errors as unknown[]).filter((part) => !isOperatorError(part, 'DependencyFailed'));
}

function answerText(error: ApiError, subject: string): string {
  const { context, causes, status, message } = error;
  const { verb, kind, namespace, name = '' } = context;
  const object = describeObject({ kind, namespace, name });
  const place = object === subject ? '' : `${verb} ${object}: `;
  const unknown = unknownFields(
    [message, ...causes.map((cause) => cause.message ?? '')].join('\n'),
  );
  if (unknown.length > 0) {
    return `${place}${status} ${unknown.join('; ')} (correct the name, or leave the field out)`;
  }
  const fields = causes
    .filter(({ field = '' }) => field !== '' && field !== '<nil>')
    .map(({ field = '', message: why = '' }) =>
      [field, withShortValue(why)].filter(Boolean).join(': '),
    );
  if (fields.length > 0) return `${place}${status} ${[...new Set(fields)].join('; ')}`;
  const start = `${verb} ${object}: `;
  return withShortValue(message.startsWith(start) ? place + message.slice(start.length) : message);
}

/** Returns the fields that strict decoding rejects. Servers list them after a dump of the whole object. */
function unknownFields(text: string): readonly string[] {
  const named =
    /(?:unknown|duplicate) field "[^"\\]+"|\.[\w.[\]"=-]+: field not declared in schema/g;
  return [...new Set(text.match(named) ?? [])];
}

const longestValue = 80;

/** Shortens a long value that the server's reason quotes. */
function withShortValue(text: string): string {
  const [, before = '', value = '', after = ''] = /^(.*? value: )(.*)(: .*)$/s.exec(text) ?? [];
  return value === '' ? text : `${before}${shortened(value, longestValue)}${after}`;
}

/** Destination of text output. */
export interface TextOutput {
  write(text: string): unknown;
  /** Characters per line of the terminal; undefined if the output is not a terminal. */
  readonly columns?: number | undefined;
}

/**
 * Returns whether text for `output` has colours: it is a terminal or `FORCE_COLOR` is set, and `NO_COLOR` is
 * not set.
 */
export function usesColors(
  { env }: { readonly env: Environment },
  { columns }: TextOutput,
): boolean {
  const { NO_COLOR: never = '', FORCE_COLOR: always = '' } = env;
  if (never !== '') return false;
  return always === '' ? columns !== undefined : always !== '0' && always !== 'false';
}

/** Returns the context and server of a cluster: `context kind-dev: https://127.0.0.1:6443`. */
export function clusterText({ context, server }: DefaultCluster): string {
  return `${context === undefined ? 'the cluster of this Pod' : `context ${context}`}: ${server}`;
}
