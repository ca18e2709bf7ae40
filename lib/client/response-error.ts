import { ApiError } from '../object/api-error.js';
import type { Status } from '../object/api-error.js';
import type { Call } from './call.js';

const longestText = 1_000;

/** A response with an error status. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/**
 * Returns the error of a response. Not every response is a `Status`: an unknown group is a plain-text 404,
 * and a proxy in between answers in HTML.
 */
export function apiErrorOf(call: Call, answer: ErrorAnswer, retryAfterMs?: number): ApiError {
  const { status, body } = answer;
  const context = { ...call, status, retryAfterMs };
  const text = body.toString('utf8');
  const parsed = statusIn(text);
  if (parsed !== undefined) return new ApiError(parsed, context);
  const cut = text.trim().slice(0, longestText);
  return new ApiError({ code: status }, { ...context, text: cut === '' ? undefined : cut });
}

/** Whether `value` is a `Status`. */
export function isStatus(value: unknown): value is Status {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, apiVersion } = value as Status;
  return kind === 'Status' && (apiVersion === 'v1' || apiVersion === undefined);
}

function statusIn(text: string): Status | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isStatus(parsed) ? parsed : undefined;
  } catch {
    return undefined; // Not JSON: the caller keeps the text.
  }
}
