import omit from 'lodash/omit.js';
import picocolors from 'picocolors';
import { describeObject } from '../object/describe-object.js';
import { asError } from '../system/as-error.js';
import type { LogFields, Logger } from '../system/logger.js';
import { briefError, durationText } from './brief-error.js';

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
      return oneLine(` ${name}=${typeof text === 'string' ? text : JSON.stringify(text)}`);
    })
    .join('');
}

function stackOf(thrown: unknown): string {
  const { stack = '', cause } = asError(thrown);
  return cause === undefined ? stack : `${stack}\ncaused by ${stackOf(cause)}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
