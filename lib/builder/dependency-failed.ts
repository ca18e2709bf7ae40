import { describeObject } from '../object/describe-object.js';
import type { ObjectReference } from '../object/object-reference.js';
import { OperatorError } from '../system/operator-error.js';

/** An object that failed, and why. */
export interface FailedObject {
  readonly ref: ObjectReference;
  readonly error: OperatorError;
}

/** The error of an object that was not reconciled, for `broken`, which it needs, failed. */
export function dependencyFailed(ref: ObjectReference, broken: FailedObject): OperatorError {
  const message = `${describeObject(ref)} was left as it is: it needs ${describeObject(broken.ref)}, which failed`;
  return new OperatorError('DependencyFailed', message, { cause: broken.error });
}
