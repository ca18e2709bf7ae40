import { ApiError } from '../object/api-error.js';
import { tooDeep } from '../object/depth.js';
import { checkJson } from '../object/json-copy.js';
import { describeCall } from './call.js';
import type { Call } from './call.js';
import type { Answer } from './exchange.js';

/**
 * Parses the JSON of a successful response.
 * @throws ApiError with the response's status: it is not JSON. The message omits the body: truncated JSON may
 * be half a Secret.
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
