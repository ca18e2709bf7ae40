import { ApiError } from '../object/api-error.js';
import type { Status } from '../object/api-error.js';
import type { Call } from './call.js';

const longestText = 1_000;

/** An answer that says no. */
export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/**
 * The error that an answer tells. Not every one is a `Status`: an unknown group is a plain-text
 * 404, a proxy between us and the server answers in HTML.
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

/** What a Status is told from. */
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
    return undefined; // No JSON: the caller keeps the text.
  }
}
