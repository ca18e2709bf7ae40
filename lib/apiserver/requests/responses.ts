import type { TransportResponse } from '../../system/transport.js';
import type { StatusError } from '../status-error.js';

const encoder = new TextEncoder();

/** Returns a response with a complete body. */
export function textResponse(status: number, type: string, text: string): TransportResponse {
  return { status, headers: { 'content-type': type }, body: once(encoder.encode(text)) };
}

/** Returns a JSON response. */
export function jsonResponse(status: number, value: unknown): TransportResponse {
  return jsonTextResponse(status, JSON.stringify(value));
}

/** Returns a JSON response with a serialised body. */
export function jsonTextResponse(status: number, text: string): TransportResponse {
  return textResponse(status, 'application/json', text);
}

/** Returns the `Status` of an error, with `Retry-After` if the error has it. */
export function errorResponse(error: StatusError): TransportResponse {
  const response = jsonResponse(error.status, error.body);
  const seconds = error.body.details?.retryAfterSeconds;
  if (seconds === undefined) return response;
  return { ...response, headers: { ...response.headers, 'retry-after': String(seconds) } };
}

/** Adds a `Warning` header to `response` for each of `warnings` (RFC 7234, code 299). */
export function withWarnings(
  response: TransportResponse,
  warnings: readonly string[],
): TransportResponse {
  if (warnings.length === 0) return response;
  const values = [...new Set(warnings)].map((text) => `299 - ${JSON.stringify(text)}`);
  return { ...response, headers: { ...response.headers, warning: values.join(', ') } };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
