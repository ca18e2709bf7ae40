import { OperatorError } from '../system/operator-error.js';
import { goText, goTypeOf } from './go-text.js';

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
  return misfit(`expected a ${expected}, but received a ${typeName(value)}`);
}

// Go has no type for nothing, and says so.
function typeName(value: unknown): string {
  return value === null || value === undefined ? '%!s(<nil>)' : goTypeOf(value);
}

/** An entry without the field that names it. */
export function noMergeKey(item: unknown, key: string): StrategicMergePatchError {
  return misfit(`map: ${goText(item)} does not contain declared merge key: ${key}`);
}

/** `$patch` with another word than it knows. */
export function unknownDirective(how: unknown, patch: unknown): StrategicMergePatchError {
  return misfit(`unknown patch type: ${goText(how)} in map: ${goText(patch)}`);
}
