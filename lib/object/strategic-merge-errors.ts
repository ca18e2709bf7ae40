import { OperatorError } from '../system/index.js';
import { goText, goTypeOf } from './go-text.js';

/** A malformed or unfitting strategic merge patch, with the server's own message. */
export class StrategicMergePatchError extends OperatorError {
  /** The server's status: 400 and 422 for malformed directives, else 500 without a reason. */
  readonly status: 400 | 422 | 500;

  constructor(message: string, status: 400 | 422 | 500) {
    super('InvalidPatch', message);
    this.status = status;
  }
}

/** Returns the error for a malformed directive. */
export function badPatch(message: string): StrategicMergePatchError {
  return new StrategicMergePatchError(message, 400);
}

/** Returns the error for lists of lists, which cannot be merged. */
export function listOfLists(): StrategicMergePatchError {
  return new StrategicMergePatchError('lists of lists are not supported', 422);
}

/** Returns the error for any other mismatch. */
export function misfit(message: string): StrategicMergePatchError {
  return new StrategicMergePatchError(message, 500);
}

/** Returns the error for a value of another type than the field's. */
export function badArgument(expected: string, value: unknown): StrategicMergePatchError {
  return misfit(`expected a ${expected}, but received a ${typeName(value)}`);
}

// Go has no type for nil and prints this.
function typeName(value: unknown): string {
  return value === null || value === undefined ? '%!s(<nil>)' : goTypeOf(value);
}

/** Returns the error for an entry without its merge key. */
export function noMergeKey(item: unknown, key: string): StrategicMergePatchError {
  return misfit(`map: ${goText(item)} does not contain declared merge key: ${key}`);
}

export function unknownDirective(how: unknown, patch: unknown): StrategicMergePatchError {
  return misfit(`unknown patch type: ${goText(how)} in map: ${goText(patch)}`);
}
