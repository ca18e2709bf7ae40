import { OperatorError } from '../system/operator-error.js';
import { isJsonObject } from './json.js';

/** A strategic merge patch that is malformed or does not fit, with the server's own message. */
export class StrategicMergePatchError extends OperatorError {
  /** What the server answers: 400 and 422 for malformed directives, else 500 without a reason. */
  readonly status: 400 | 422 | 500;

  constructor(message: string, status: 400 | 422 | 500) {
    super('InvalidPatch', message);
    this.status = status;
  }
}

/** A directive that is not written as it has to be. */
export function badPatch(message: string): StrategicMergePatchError {
  return new StrategicMergePatchError(message, 400);
}

/** Lists in lists can't be merged. */
export function listOfLists(): StrategicMergePatchError {
  return new StrategicMergePatchError('lists of lists are not supported', 422);
}

/** Anything else that does not fit. */
export function misfit(message: string): StrategicMergePatchError {
  return new StrategicMergePatchError(message, 500);
}

/** A value of another type than the field's. */
export function badArgument(expected: string, value: unknown): StrategicMergePatchError {
  return misfit(`expected a ${expected}, but received a ${goType(value)}`);
}

/** An entry without the field that names it. */
export function noMergeKey(item: unknown, key: string): StrategicMergePatchError {
  return misfit(`map: ${goText(item)} does not contain declared merge key: ${key}`);
}

/** `$patch` with another word than it knows. */
export function unknownDirective(how: unknown, patch: unknown): StrategicMergePatchError {
  return misfit(`unknown patch type: ${goText(how)} in map: ${goText(patch)}`);
}

function goType(value: unknown): string {
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'string' ? 'string' : 'map[string]interface {}';
}

/** A JSON value as Go's `%v` prints it: `map[a:1 b:[x y]]`, `<nil>`. */
export function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).toSorted();
  return `map[${members.map((name) => `${name}:${goText(value[name])}`).join(' ')}]`;
}
