import { isApiError } from '../object/api-error.js';
import type { ApiError } from '../object/api-error.js';
import { describeObject } from '../object/describe-object.js';
import { asError } from '../system/as-error.js';
import { isOperatorError } from '../system/operator-error.js';

/**
 * An error in one line: of an answer of the API server the object, the status, and each refused field
 * with the reason.
 * @param subject - the object that the line begins with, as `Widget default/x`: it is not repeated
 */
export function briefError(thrown: unknown, subject = ''): string {
  return [...new Set(reasonsOf(thrown, subject, new Set()))].join('; ');
}

/**
 * The message of an error; answers of the API server in it as {@link briefError} has them. Other messages
 * stay as they are, with all their lines.
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

/** Milliseconds for people: `20 ms`, `1.3 s`, `16 min`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 120_000 ? `${Number((ms / 1_000).toFixed(1))} s` : `${Math.round(ms / 60_000)} min`;
}

/** @param seen - the errors that `thrown` is part of: one may contain itself */
function reasonsOf(thrown: unknown, subject: string, seen: Set<unknown>): readonly string[] {
  seen.add(thrown);
  const parts = partsOf(thrown).filter((part) => !seen.has(part));
  if (parts.length > 0) return parts.flatMap((part) => reasonsOf(part, subject, seen));
  const answer = answerIn(thrown);
  const text = answer === undefined ? asError(thrown).message : answerText(answer, subject);
  const line = text.replaceAll(/\s*\n\s*/g, ' ');
  return [line.startsWith(`${subject}: `) ? line.slice(subject.length + 2) : line];
}

/** The answer of the API server that an error is, or that it only calls final. */
function answerIn(thrown: unknown): ApiError | undefined {
  if (isApiError(thrown)) return thrown;
  const { message, cause } = asError(thrown);
  if (!isOperatorError(thrown, 'Terminal') || !isApiError(cause)) return undefined;
  return message.includes(cause.message) ? cause : undefined;
}

/** The errors that `thrown` lists. Objects that only waited for a failed one say nothing of their own. */
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

/** The fields that strict decoding refuses: servers name them at the end of the whole object. */
function unknownFields(text: string): readonly string[] {
  const named =
    /(?:unknown|duplicate) field "[^"\\]+"|\.[\w.[\]"=-]+: field not declared in schema/g;
  return [...new Set(text.match(named) ?? [])];
}

const longestValue = 80;

/** A server's reason, without the rest of a long value that it quotes. */
function shortened(text: string): string {
  const [, before = '', value = '', after = ''] = /^(.*? value: )(.*)(: .*)$/s.exec(text) ?? [];
  if (value.length <= longestValue) return text;
  return `${before}${value.slice(0, longestValue)}…${after}`;
}
