import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import {
  ApiError,
  tooDeep,
  checkJson,
  assignMembers,
  isJsonObject,
  apiVersionOf,
} from '../object/index.js';
import type { Status, KubernetesObject, ObjectList, ResourceType } from '../object/index.js';
import { ConnectionError, WholeBody } from '../system/index.js';
import type { Logger, TransportResponse } from '../system/index.js';
import { describeCall } from './call.js';
import type { Call } from './call.js';
import type { DeleteOptions } from './client.js';
import type { Answer } from './exchange.js';

/**
 * Parses the JSON object of a successful response.
 * @throws ApiError with the response's status: it is not a JSON object. The message omits the body: truncated
 * JSON may be half a Secret.
 * @throws ApiError with the status of the body: it is the `Status` of a failure, in spite of its HTTP status.
 */
export function parseJson(answer: Answer, call: Call): object {
  let value: unknown;
  try {
    value = JSON.parse(answer.text);
  } catch {
    const type = answer.headers['content-type'] ?? 'no content type';
    const message = `the answer (${type}, ${Buffer.byteLength(answer.text)} bytes) is not whole JSON`;
    const remedy = 'is this the URL of an API server?';
    const context = { ...call, status: answer.status };
    throw new ApiError({ code: answer.status, message: `${message}; ${remedy}` }, context);
  }
  if (!isJsonObject(value)) throw malformed(call, 'it is not a JSON object');
  if (isStatus(value) && value.status !== 'Success') throw failureIn(value, call);
  return value;
}

/**
 * Returns the items of a list.
 * @throws ApiError: the answer is not a list; it must not count as an empty one.
 */
export function itemsOf<T extends KubernetesObject>(
  { metadata, items }: Pick<ObjectList<T>, 'metadata' | 'items'>,
  call: Call,
): readonly T[] {
  if (!isJsonObject(metadata)) throw malformed(call, 'the list has no metadata');
  // Go encodes a nil slice as null.
  if ((items as unknown) === null) return [];
  if (!Array.isArray(items)) throw malformed(call, 'the list has no array of items');
  return items;
}

/** Returns the error for a response that does not have the form that `call` expects. */
function malformed(call: Call, problem: string): ApiError {
  const message = `the server sent a malformed answer: ${problem}`;
  return new ApiError({ code: 200, message }, { ...call, status: 200 });
}

/** Returns the error that a `Status` in a successful response or in a watch reports. */
export function failureIn(status: Status, call: Call): ApiError {
  const { code } = status;
  const isError = typeof code === 'number' && code >= 400;
  return new ApiError(status, { ...call, status: isError ? code : 500 });
}

/**
 * Serializes a body to JSON.
 * @throws OperatorError `InvalidValue`: a value has no JSON form, for example NaN or a Map.
 * @throws OperatorError `TooDeep`: the value nests too deeply for `JSON.stringify`.
 */
export function jsonBody(value: object, call: Call): string {
  try {
    checkJson(value, describeCall(call));
    return JSON.stringify(value);
  } catch (error) {
    throw error instanceof RangeError ? tooDeep(describeCall(call)) : error;
  }
}

const longestText = 1_000;

/**
 * Returns the error of a response. Not every response is a `Status`: the answer for an unknown group is a plain-text
 * 404, and a proxy in between answers in HTML.
 */
export function apiErrorOf(call: Call, answer: Answer, retryAfterMs?: number): ApiError {
  const { status, text } = answer;
  const context = { ...call, status, retryAfterMs };
  const parsed = statusIn(text);
  if (parsed !== undefined) return new ApiError(parsed, context);
  const cut = text.trim().slice(0, longestText);
  return new ApiError({ code: status }, { ...context, text: cut === '' ? undefined : cut });
}

function isStatus(value: unknown): value is Status {
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

export function deleteBody(options: DeleteOptions): object {
  const { propagationPolicy, gracePeriodSeconds, preconditions, dryRun = false } = options;
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...{ propagationPolicy, gracePeriodSeconds, preconditions },
    ...(dryRun && { dryRun: ['All'] }),
  };
}

/**
 * Returns the query of a delete. The server uses the body; the query shows a dry run in request logs, which
 * omit bodies.
 */
export function dryRunQuery({ dryRun = false }: DeleteOptions): { readonly dryRun?: 'All' } {
  return dryRun ? { dryRun: 'All' } : {};
}

/**
 * Returns the object if it still exists after a delete, else undefined. For most kinds the server answers
 * with a `Status` once an object is deleted, but for some (Pods, Services) with its last state.
 * @throws ApiError: the answer is neither.
 */
export function remainingObject<T extends KubernetesObject>(
  answer: object,
  call: Call,
): T | undefined {
  if (isStatus(answer)) return undefined;
  if (!('metadata' in answer) || !isJsonObject(answer.metadata)) {
    throw malformed(call, 'the object has no metadata');
  }
  const object = answer as T & { spec?: { finalizers?: readonly string[] } };
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined) return undefined;
  // A Namespace has its finalizers in its spec.
  const held = finalizers.length > 0 || (object.spec?.finalizers ?? []).length > 0;
  return held || (deletionGracePeriodSeconds ?? 0) > 0 ? object : undefined;
}

/**
 * Returns `object` with the apiVersion and kind of its type. Lists of built-in objects omit them, and an
 * object read without its spec has `PartialObjectMetadata`.
 */
export function withTypeOf<T extends KubernetesObject>(object: T, type: ResourceType<T>): T {
  // A broken server may send anything.
  if (!isJsonObject(object)) return object;
  const { kind } = object as Partial<T>;
  if (kind !== undefined && kind !== 'PartialObjectMetadata') return object;
  const typed: object = { apiVersion: apiVersionOf(type), kind: type.kind };
  return assignMembers(typed, object, ['apiVersion', 'kind']) as T;
}

const inflate = promisify(gunzip);

/**
 * Reads a response body to its end, decompresses it and decodes it.
 * @throws OperatorError `ConnectionFailed`: the connection broke, or the gzip data of the body is invalid.
 */
export async function readText(response: TransportResponse): Promise<string> {
  if (response.body instanceof WholeBody && response.body.text !== undefined) {
    return response.body.text;
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  const [only] = chunks;
  const packed =
    chunks.length === 1 && only !== undefined
      ? Buffer.from(only.buffer, only.byteOffset, only.byteLength)
      : Buffer.concat(chunks);
  if (response.headers['content-encoding'] !== 'gzip') return packed.toString('utf8');
  try {
    return (await inflate(packed)).toString('utf8');
  } catch (cause) {
    throw new ConnectionError('the response is not valid gzip data', { cause, requestSent: true });
  }
}

// Warnings may contain times or names, so the number of warnings in memory is bounded.
const mostRemembered = 1_000;

/** Logs each warning of an API server (deprecated versions, unknown fields) once. */
export class WarningLog {
  readonly #logger: Logger;
  readonly #seen = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** @param header - the `Warning` header; several are joined by commas. */
  add(header: string | undefined, call: Call): void {
    if (header === undefined) return;
    for (const warning of warningsIn(header)) {
      if (this.#seen.has(warning)) continue;
      if (this.#seen.size >= mostRemembered) this.#seen.clear();
      this.#seen.add(warning);
      const { verb, kind, namespace, name } = call;
      this.#logger.warn(`API server warns: ${warning}`, { verb, kind, namespace, name });
    }
  }
}

/**
 * Returns the texts of `299 - "text", 299 - "text"` (RFC 7234, 5.5); quotes in them are escaped. Each character of
 * `header` is a byte of UTF-8.
 */
export function warningsIn(header: string): string[] {
  const given = Buffer.from(header, 'latin1').toString();
  const matches = given.matchAll(/\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g);
  return Array.from(matches, ([, text = '']) => text.replaceAll(/\\(.)/g, '$1'));
}
