import type { KubernetesObject } from '../object/kubernetes-object.js';
import { CrudResource } from './crud-resource.js';
import type { Awaitable, CrudOperations } from './crud-operations.js';
import type { Resource } from './resource.js';
import type { ResourceContext, StepName } from './resource-context.js';

/** A step that a wrapper surrounds. */
export interface Step<T extends KubernetesObject> {
  readonly name: StepName;
  /** The resource's name. */
  readonly resource: string;
  readonly context: ResourceContext;
  readonly object: T;
}

/** Runs around a step: calls `run` once, several times or not at all. */
export type AroundStep<T extends KubernetesObject> = <R>(
  step: Step<T>,
  run: () => Promise<R>,
) => Promise<R>;

/**
 * Returns a resource that runs `around` around each step of `resource`. All wrappers of this package use it,
 * and yours can too. The steps of a CRUD resource are its operations, and the result is a CRUD resource; the
 * steps of another resource are its two methods. Does not change `resource`.
 */
export function wrapSteps<T extends KubernetesObject, State, Change>(
  resource: CrudResource<T, State, Change>,
  around: AroundStep<T>,
): CrudResource<T, State, Change>;
export function wrapSteps<T extends KubernetesObject>(
  resource: Resource<T>,
  around: AroundStep<T>,
): Resource<T>;
export function wrapSteps<T extends KubernetesObject>(
  resource: Resource<T>,
  around: AroundStep<T>,
): Resource<T> {
  if (!hasOnlyItsSteps(resource)) return wrapMethods(resource, around);
  const { operations, order } = resource;
  return new CrudResource({
    operations: wrapOperations(operations, around),
    ...{ order, wrapped: resource },
  });
}

const methods = ['ensureCreated', 'ensureDeleted'] as const;

// A subclass that overrides the methods does more than its steps.
function hasOnlyItsSteps<T extends KubernetesObject>(
  resource: Resource<T>,
): resource is CrudResource<T> {
  if (!(resource instanceof CrudResource)) return false;
  return methods.every((method) => resource[method] === CrudResource.prototype[method]);
}

function wrapMethods<T extends KubernetesObject>(
  resource: Resource<T>,
  around: AroundStep<T>,
): Resource<T> {
  const { name } = resource;
  return Object.freeze({
    name,
    wrapped: resource,
    ensureCreated: (context: ResourceContext, object: T) =>
      around({ name: 'ensureCreated', resource: name, context, object }, async () =>
        resource.ensureCreated(context, object),
      ),
    ensureDeleted: (context: ResourceContext, object: T) =>
      around({ name: 'ensureDeleted', resource: name, context, object }, async () =>
        resource.ensureDeleted(context, object),
      ),
  });
}

function wrapOperations<T extends KubernetesObject, State, Change>(
  operations: CrudOperations<T, State, Change>,
  around: AroundStep<T>,
): CrudOperations<T, State, Change> {
  const { name: resource } = operations;
  const wrapped = <Rest extends readonly unknown[], R>(
    name: StepName,
    call: (context: ResourceContext, object: T, ...rest: Rest) => Awaitable<R>,
  ) => {
    return (context: ResourceContext, object: T, ...rest: Rest): Promise<R> =>
      around({ name, resource, context, object }, async () => call(context, object, ...rest));
  };
  return {
    name: resource,
    getCurrentState: wrapped('getCurrentState', (...step) => operations.getCurrentState(...step)),
    getDesiredState: wrapped('getDesiredState', (...step) => operations.getDesiredState(...step)),
    newUpdatePatch: wrapped('newUpdatePatch', (...step) => operations.newUpdatePatch(...step)),
    newDeletePatch: wrapped('newDeletePatch', (...step) => operations.newDeletePatch(...step)),
    applyCreateChange: wrapped('applyCreateChange', (...step) =>
      operations.applyCreateChange(...step),
    ),
    applyDeleteChange: wrapped('applyDeleteChange', (...step) =>
      operations.applyDeleteChange(...step),
    ),
    applyUpdateChange: wrapped('applyUpdateChange', (...step) =>
      operations.applyUpdateChange(...step),
    ),
  };
}
