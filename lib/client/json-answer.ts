import { ApiError } from '../object/api-error.js';
import { tooDeep } from '../object/depth.js';
import { checkJson } from '../object/json-copy.js';
import { describeCall } from './call.js';
import type { Call } from './call.js';
import type { Answer } from './exchange.js';

/**
 * The JSON of a good answer.
 * @throws ApiError with the answer's status: it is no JSON. What it is instead is not told: where
 * JSON is cut off it may be half a Secret.
 */
export function parseJson(answer: Answer, call: Call): unknown {
  try {
    return JSON.parse(answer.body.toString('utf8')) as unknown;
  } catch {
    const type = answer.headers['content-type'] ?? 'no content type';
    const message = `the answer (${type}, ${answer.body.length} bytes) is not whole JSON`;
    const remedy = 'is this the URL of an API server?';
    const context = { ...call, status: answer.status };
    throw new ApiError({ code: answer.status, message: `${message}; ${remedy}` }, context);
  }
}

/**
 * A body as JSON.
 * @throws OperatorError `InvalidValue`: something in it has no JSON, for example NaN or a Map.
 * @throws OperatorError `TooDeep`: it nests too deeply for `JSON.stringify`.
 */
export function jsonBody(value: object, call: Call): string {
  try {
    checkJson(value, describeCall(call));
    return JSON.stringify(value);
  } catch (error) {
    throw error instanceof RangeError ? tooDeep(describeCall(call)) : error;
  }
}
