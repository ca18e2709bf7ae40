import { readableError } from '../controller/readable-error.js';
import { describeObject } from '../object/describe-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { OperatorError, isOperatorError } from '../system/operator-error.js';
import { messageOf } from './message-of.js';
import { isPermanent } from './permanent-error.js';
import type { ResourceContext } from './resource-context.js';

/** A step of a resource threw; the chain ended there. `cause` is what it threw. */
export class ResourceFailedError extends OperatorError {
  /** `''` outside of a set. */
  readonly resourceSet: string;
  readonly resource: string;
  readonly step: ResourceContext['step'];

  constructor(
    { resourceSet, resource, step }: Pick<ResourceContext, 'resourceSet' | 'resource' | 'step'>,
    object: KubernetesObject,
    cause: unknown,
  ) {
    const set = resourceSet === '' ? '' : `set ${resourceSet}, `;
    const where = resource === '' ? `${set}${step}` : `${set}resource ${resource}, ${step}`;
    super('ResourceFailed', `${describeObject(object)}: ${where}: ${messageOf(cause)}`, { cause });
    this.resourceSet = resourceSet;
    this.resource = resource;
    this.step = step;
  }
}

/**
 * What was thrown in `place`, as a {@link ResourceFailedError}; one that is so already
 * stays as it is, for it knows the place better.
 */
export function resourceFailed(
  place: Pick<ResourceContext, 'resourceSet' | 'resource' | 'step'>,
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
