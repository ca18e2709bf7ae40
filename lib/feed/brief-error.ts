import { isApiError } from '../object/api-error.js';
import type { ApiError } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import { asError } from '../system/as-error.js';
import { isOperatorError } from '../system/operator-error.js';

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
  const text = answer === undefined ? asError(thrown).message : answerText(answer, subject);
  const line = text.replaceAll(/\s*\n\s*/g, ' ');
  return [line.startsWith(`${subject}: `) ? line.slice(subject.length + 2) : line];
}

/** Returns the API error that is thrown directly or wrapped in a `TerminalError`. */
function answerIn(thrown: unknown): ApiError | undefined {
  if (isApiError(thrown)) return thrown;
  const { message, cause } = asError(thrown);
  if (!isOperatorError(thrown, 'Terminal') || !isApiError(cause)) return undefined;
  return message.includes(cause.message) ? cause : undefined;
}

/** Returns the errors that `thrown` lists, without those of objects that waited for a failed one. */
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
    .map(({ field = '', message: why = '' }) => [field, shortened(why)].filter(Boolean).join(': '));
  if (fields.length > 0) return `${place}${status} ${[...new Set(fields)].join('; ')}`;
  const start = `${verb} ${object}: `;
  return shortened(message.startsWith(start) ? place + message.slice(start.length) : message);
}

/** Returns the fields that strict decoding rejects. Servers list them after a dump of the whole object. */
function unknownFields(text: string): readonly string[] {
  const named =
    /(?:unknown|duplicate) field "[^"\\]+"|\.[\w.[\]"=-]+: field not declared in schema/g;
  return [...new Set(text.match(named) ?? [])];
}

const longestValue = 80;

/** Shortens a long value that the server's reason quotes. */
function shortened(text: string): string {
  const [, before = '', value = '', after = ''] = /^(.*? value: )(.*)(: .*)$/s.exec(text) ?? [];
  if (value.length <= longestValue) return text;
  return `${before}${value.slice(0, longestValue)}…${after}`;
}
