import { readableError } from '../controller/index.js';
import { describeObject } from '../object/describe-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { OperatorError, isOperatorError } from '../system/operator-error.js';
import { describePlace } from './describe-place.js';
import { messageOf } from './message-of.js';
import type { Place } from './pass.js';
import { isPermanent } from './permanent-error.js';
import type { ResourceContext } from './resource-context.js';

/** A step of a resource threw, which ended the chain. `cause` is the thrown value. */
export class ResourceFailedError extends OperatorError {
  /** `''` without a set. */
  readonly resourceSet: string;
  readonly resource: string;
  readonly step: ResourceContext['step'];

  constructor(
    place: Pick<ResourceContext, 'resourceSet' | 'resource' | 'step'>,
    object: KubernetesObject,
    cause: unknown,
  ) {
    const where = `${describeObject(object)}: ${describePlace(place)}`;
    super('ResourceFailed', `${where}: ${messageOf(cause)}`, { cause });
    this.resourceSet = place.resourceSet;
    this.resource = place.resource;
    this.step = place.step;
  }
}

/**
 * Wraps the value thrown in `place` in a {@link ResourceFailedError}; an existing one is returned unchanged,
 * because its place is more precise.
 */
export function resourceFailed(
  place: Place,
  object: KubernetesObject,
  thrown: unknown,
): ResourceFailedError {
  const error = readableError(thrown);
  if (isResourceFailed(error)) return error;
  return new ResourceFailedError(place, object, isPermanent(error) ? error.cause : error);
}

/** Whether `error` is a {@link ResourceFailedError}. */
export function isResourceFailed(error: unknown): error is ResourceFailedError {
  return isOperatorError(error, 'ResourceFailed');
}
