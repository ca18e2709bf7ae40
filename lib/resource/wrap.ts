import { isJsonObject } from '../object/index.js';
import type { KubernetesObject } from '../object/index.js';
import { InvalidConfigError, messageOf } from './errors.js';
import { faultInResource } from './resource-set.js';
import type { Resource } from './resource-set.js';
import { CrudResource } from './crud-resource.js';
import type { Awaitable, CrudOperations } from './crud-resource.js';
import type { ResourceContext, StepName } from './resource-context.js';
import { failureKindOf, readableError } from '../controller/index.js';
import { refuseUnknownOptions } from '../system/index.js';

/** Returns a resource that extends the behaviour of another. */
export type Wrapper<T extends KubernetesObject> = (resource: Resource<T>) => Resource<T>;

/**
 * Wraps each of `resources`: the first wrapper is the innermost, the last one the outermost. Changes neither
 * the list nor the resources.
 *
 * @example
 * ```ts
 * wrap(resources, withRetry, (resource) => withMetrics(resource, { metrics, service: 'shop' }));
 * ```
 */
export function wrap<T extends KubernetesObject>(
  resources: readonly Resource<T>[],
  ...wrappers: readonly Wrapper<NoInfer<T>>[]
): readonly Resource<T>[] {
  return resources.map((resource) =>
    wrappers.reduce((wrapped, wrapper) => wrapper(wrapped), resource),
  );
}

/**
 * Returns the innermost resource that `resource` wraps; `resource` itself if it is not a wrapper.
 * @throws InvalidConfigError the wrappers form a cycle.
 */
export function unwrap<T extends KubernetesObject>(resource: Resource<T>): Resource<T> {
  const seen = new Set<Resource<T>>();
  let inner = resource;
  while (inner.wrapped) {
    seen.add(inner);
    inner = inner.wrapped;
    if (!seen.has(inner)) continue;
    const names = [...seen].map(({ name }) => name).join(', ');
    throw new InvalidConfigError(`unwrap: resources wrap each other in a circle: ${names}`);
  }
  return inner;
}

/** A step that a wrapper surrounds. */
export interface Step<T extends KubernetesObject> {
  readonly name: StepName;
  /** The resource's name. */
  readonly resource: string;
  readonly context: ResourceContext;
  readonly object: T;
}

/**
 * Runs around a step: calls `run` once, several times or not at all. The step gets the context of `step`, unless
 * another one is given.
 */
export type AroundStep<T extends KubernetesObject> = <R>(
  step: Step<T>,
  run: (context?: ResourceContext) => Promise<R>,
) => Promise<R>;

/**
 * Returns a resource that runs `around` around each step of `resource`. All wrappers of this package use it,
 * and yours can too. The steps of a CRUD resource are its operations, and the result is a CRUD resource; the
 * steps of another resource are its two methods. Does not change `resource`.
 * @throws InvalidConfigError `resource` has no name, or lacks a method.
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
  // Check the methods of `resource` here: the wrapper always has both, so later checks would accept it.
  const fault = faultInResource(resource, 'wrapped resource');
  if (fault !== undefined) throw new InvalidConfigError(fault);
  if (!hasOnlyItsSteps(resource)) return wrapMethods(resource, around);
  const { operations, order } = resource;
  return new CrudResource({
    operations: wrapOperations(operations, around),
    ...{ order, wrapped: resource },
  });
}

const methods = ['ensureCreated', 'ensureDeleted'] as const;

// Returns true if the resource does nothing besides its steps. A subclass may override the methods to do more.
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
      around({ name: 'ensureCreated', resource: name, context, object }, async (own) =>
        resource.ensureCreated(given(own) ?? context, object),
      ),
    ensureDeleted: (context: ResourceContext, object: T) =>
      around({ name: 'ensureDeleted', resource: name, context, object }, async (own) =>
        resource.ensureDeleted(given(own) ?? context, object),
      ),
  });
}

/**
 * Returns the context that a wrapper gave to `run`. In plain JavaScript, the wrapper may pass another value, such as
 * the number of the attempt.
 * @throws InvalidConfigError it is not a context.
 */
function given(own: ResourceContext | undefined): ResourceContext | undefined {
  const context: unknown = own;
  if (context === undefined || (isJsonObject(context) && 'client' in context)) return own;
  const got = context === null ? 'null' : typeof context;
  throw new InvalidConfigError(`run of a wrapped step: want a context or nothing, got ${got}`);
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
      around({ name, resource, context, object }, async (own) =>
        call(given(own) ?? context, object, ...rest),
      );
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

/** Options of {@link withLogging}. */
export interface StepLoggingOptions {
  /** The log level of the start and the end of a step. @defaultValue 'debug' */
  readonly level?: 'debug' | 'info' | undefined;
}

/**
 * Logs the start and the end of each step at `level`, and its error as a warning; an expected error, such as
 * a conflict, at `level`. Never logs states and changes: they may contain a Secret.
 *
 * @throws InvalidConfigError `level` is invalid.
 */
export function withLogging<T extends KubernetesObject, State, Change>(
  resource: CrudResource<T, State, Change>,
  options?: StepLoggingOptions,
): CrudResource<T, State, Change>;
export function withLogging<T extends KubernetesObject>(
  resource: Resource<T>,
  options?: StepLoggingOptions,
): Resource<T>;
export function withLogging<T extends KubernetesObject>(
  resource: Resource<T>,
  options: StepLoggingOptions = {},
): Resource<T> {
  const { level = 'debug' } = options;
  refuseUnknownOptions<StepLoggingOptions>('withLogging', options, { level });
  if (!['debug', 'info'].includes(level)) {
    throw new InvalidConfigError(`withLogging: level: want debug or info, got ${level}`);
  }
  return wrapSteps(resource, (step, run) => logged(step, run, level));
}

async function logged<T extends KubernetesObject, R>(
  { context, resource, name }: Step<T>,
  run: () => Promise<R>,
  level: 'debug' | 'info',
): Promise<R> {
  const { logger, clock } = context;
  const what = `${resource}, ${name}`;
  const startedMs = clock.monotonicMs();
  const tookMs = (): number => Math.round(clock.monotonicMs() - startedMs);
  logger[level](`${what}: started`);
  try {
    const result = await run();
    logger[level](`${what}: ended`, { durationMs: tookMs() });
    return result;
  } catch (thrown) {
    const error = readableError(thrown);
    const kind = failureKindOf(error);
    const loud = kind === 'conflict' || kind === 'waiting' ? level : 'warn';
    // The stack is logged when the object is requeued.
    logger[loud](`${what}: failed: ${messageOf(error)}`, { durationMs: tookMs() });
    throw error;
  }
}
