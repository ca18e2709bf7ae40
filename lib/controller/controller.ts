import type { KubernetesObject, TypeReference } from '../object/index.js';
import {
  OperatorError,
  refuseOtherThan,
  refuseUnknownOptions,
  withoutUndefined,
} from '../system/index.js';
import type { MisplacedOptions, OptionNames } from '../system/index.js';
import { enqueueObject, enqueueOwner, kindSource } from './kind-source.js';
import type { EnqueueOwnerOptions, Mapper, Predicate } from './kind-source.js';
import { controllerOptionNames, resolveControllerOptions, resolveRuntime } from './options.js';
import type {
  ControllerDefinition,
  ControllerKind,
  ControllerOptions,
  ControllerRuntime,
  MultiClusterRuntime,
} from './options.js';
import { workKeyOf } from './keys.js';
import type { ReconcileKey } from './keys.js';
import type { Reconciler } from './reconcile.js';
import { shapeOf } from './result.js';
import type { Result } from './result.js';
import { RunningController } from './running-controller.js';
import { reconcileOnce } from './single-reconcile.js';
import type { SingleReconcile } from './single-reconcile.js';
import type { Source } from './sources.js';

/** Options of one watch. */
export interface WatchKindOptions<T extends KubernetesObject = KubernetesObject> {
  /** Selects the events that cause a reconcile. @defaultValue all */
  readonly predicate?: Predicate<T> | undefined;
  /** Watches only `metadata`, which saves traffic and memory. @defaultValue false */
  readonly metadataOnly?: boolean | undefined;
  /**
   * Caches `managedFields`, which reconcilers that apply objects of the kind need.
   * @defaultValue true for owned kinds, else false
   */
  readonly keepManagedFields?: boolean | undefined;
}

/** Options of {@link controllerFor}. */
export interface ControllerForOptions<
  T extends KubernetesObject = KubernetesObject,
> extends WatchKindOptions<T> {
  /**
   * The event source of the reconciled objects, used instead of a watch. The other options do not apply to
   * it, and `client.get` reads from the server. @defaultValue a watch of the kind
   */
  readonly source?: Source | undefined;
}

/** Options of {@link ControllerBuilder.owns}. */
export interface OwnsOptions<T extends KubernetesObject = KubernetesObject>
  extends WatchKindOptions<T>, EnqueueOwnerOptions {}

/**
 * Describes a controller step by step. Every method returns a new builder; nothing runs before
 * `complete(…).start(…)`.
 */
export interface ControllerBuilder {
  /**
   * Reconciles the controller owner of an object of `type` when that object changes.
   * @throws OperatorError `InvalidOption`: the type is missing.
   */
  owns<T extends KubernetesObject>(
    type: TypeReference<T>,
    options?: OwnsOptions<T>,
  ): ControllerBuilder;
  /**
   * Reconciles the keys that `mapper` returns when an object of `type` changes. If the reconciled kind is known to be
   * namespaced, a key without a namespace is dropped, and an error is logged.
   * @throws OperatorError `InvalidOption`: the type or the mapper is missing.
   */
  watches<T extends KubernetesObject>(
    type: TypeReference<T>,
    mapper: Mapper<T>,
    options?: WatchKindOptions<T>,
  ): ControllerBuilder;
  /** Reconciles the keys from another source: a timer, a stream, a callback. */
  from(source: Source): ControllerBuilder;
  /** Sets options; options from earlier calls that are absent here remain. */
  withOptions(options: ControllerOptions): ControllerBuilder;
  /**
   * Completes the description.
   * @throws OperatorError `InvalidOption`: the reconciler is missing, or an option is out of range.
   */
  complete(reconciler: Reconciler): Controller;
}

/**
 * Describes a controller that reconciles objects of `type` when they change.
 * @throws OperatorError `InvalidOption`: the type is missing.
 *
 * @example
 * ```ts
 * const controller = controllerFor(ParseableTenant, { predicate: generationChanged() })
 *   .owns(StatefulSet)
 *   .withOptions({ maxConcurrentReconciles: 4 })
 *   .complete(async ({ key, client, signal }) => done());
 * ```
 */
export function controllerFor<T extends KubernetesObject>(
  type: TypeReference<T>,
  options: ControllerForOptions<T> = {},
): ControllerBuilder {
  refuseNoType('controllerFor', type);
  refuseUnknownOptions('controllerFor', options, controllerForOptionNames, ofTheController);
  checkWatchOptions('controllerFor', options);
  const { source, ...watch } = options;
  const self = source ?? kindSource(type, { ...watch, mapper: enqueueObject() });
  return builder({ type, sources: [self], kinds: [{ type, role: 'reconciled' }], options: {} });
}

const watchOptionNames: OptionNames<WatchKindOptions> = {
  ...{ predicate: true, metadataOnly: true, keepManagedFields: true },
};
const ownsOptionNames: OptionNames<OwnsOptions> = { ...watchOptionNames, matchEveryOwner: true };
const controllerForOptionNames: OptionNames<ControllerForOptions> = {
  ...{ ...watchOptionNames, source: true },
};

const ofTheManager = misplaced(
  { leaderElection: true, shards: true, health: true, inspector: true, webhooks: true },
  (name) => `give it to new Manager({ ${name}: … })`,
);
const ofTheController = {
  ...ofTheManager,
  ...misplaced(controllerOptionNames, (name) => `give it to withOptions({ ${name}: … })`),
};
const ofTheWatch = {
  ...ofTheManager,
  ...misplaced(controllerForOptionNames, (name) => {
    return `give it to controllerFor(type, { ${name}: … })`;
  }),
};

function misplaced(names: object, remedy: (name: string) => string): MisplacedOptions {
  return Object.fromEntries(Object.keys(names).map((name) => [name, remedy(name)]));
}

interface Description {
  readonly type: TypeReference<KubernetesObject>;
  readonly sources: readonly Source[];
  readonly kinds: readonly ControllerKind[];
  readonly options: ControllerOptions;
}

function builder(description: Description): ControllerBuilder {
  const { type, sources, kinds, options } = description;
  const withSource = (source: Source, ...declared: readonly ControllerKind[]): ControllerBuilder =>
    builder({ ...description, sources: [...sources, source], kinds: [...kinds, ...declared] });
  return {
    owns: (owned, owns = {}) => {
      refuseNoType('owns', owned);
      refuseUnknownOptions('owns', owns, ownsOptionNames, ofTheController);
      checkWatchOptions('owns', owns);
      const { keepManagedFields = true, matchEveryOwner, ...watch } = owns;
      const mapper = enqueueOwner(type, { matchEveryOwner });
      const source = kindSource(owned, { ...watch, keepManagedFields, mapper });
      return withSource(source, { type: owned, role: 'owned' });
    },
    watches: (watched, mapper, watches = {}) => {
      refuseNoType('watches', watched);
      refuseNoFunction('watches', mapper);
      refuseUnknownOptions('watches', watches, watchOptionNames, ofTheController);
      checkWatchOptions('watches', watches);
      const source = ofNamespacedKeys(kindSource(watched, { ...watches, mapper }), type);
      return withSource(source, { type: watched, role: 'watched' });
    },
    from: (source) => {
      refuseNoSource(source);
      return withSource(source);
    },
    withOptions: (more) => {
      if ((more as ControllerOptions | undefined) === undefined) {
        throw new OperatorError('InvalidOption', 'withOptions: want an object, got undefined');
      }
      refuseUnknownOptions('withOptions', more, controllerOptionNames, ofTheWatch);
      const all = { ...options, ...withoutUndefined(more) };
      resolveControllerOptions(type.kind, all);
      return builder({ ...description, options: all });
    },
    complete: (reconciler) => {
      refuseNoFunction('complete', reconciler);
      const resolved = resolveControllerOptions(type.kind, options);
      return new Controller({ type, sources, kinds, reconciler, options: resolved });
    },
  };
}

/**
 * Rejects a value that is not a type. Despite the compiler, plain JavaScript can pass one, and a circular import
 * passes undefined.
 */
export function refuseNoType(
  where: string,
  type: TypeReference<KubernetesObject> | undefined,
): void {
  if (typeof type?.kind === 'string') return;
  const remedy = 'pass a built-in kind, a resource of defineResource, or { apiVersion, kind }';
  const given: unknown = type;
  const problem =
    given === undefined
      ? `the type is undefined: ${remedy}; check for circular imports`
      : `want a type, got ${typeof given === 'string' ? JSON.stringify(given) : shapeOf(given)}: ${remedy}`;
  throw new OperatorError('InvalidOption', `${where}: ${problem}`);
}

function refuseNoFunction(where: string, given: unknown): void {
  if (typeof given === 'function') return;
  const wanted = where === 'complete' ? 'the reconciler' : 'a mapper';
  throw new OperatorError(
    'InvalidOption',
    `${where}: want ${wanted}, a function; got ${typeof given}`,
  );
}

/** Refuses the keys without a namespace that a mapper returns for a kind that is known to be namespaced. */
function ofNamespacedKeys(source: Source, type: TypeReference<KubernetesObject>): Source {
  if (!('namespaced' in type) || !type.namespaced) return source;
  const check = (key: ReconcileKey | null | undefined): void => {
    if ((key?.namespace ?? '') !== '') return;
    // Throws if the mapper returned something that is not a key.
    const { text } = workKeyOf(key as ReconcileKey);
    const problem = `the mapper returned the key ${text} without a namespace`;
    const remedy = `${type.kind} is namespaced: return { namespace, name } or keyOf(object)`;
    throw new OperatorError('InvalidValue', `watches(${source.name}): ${problem}; ${remedy}`);
  };
  return {
    ...source,
    start: (context) =>
      source.start({
        ...context,
        enqueue: (key, request) => {
          check(key);
          return context.enqueue(key, request);
        },
      }),
  };
}

function refuseNoSource(source: Source | null | undefined): void {
  if (typeof (source?.start as unknown) === 'function') return;
  const problem = 'from: want a source with a method start, such as timerSource(…)';
  throw new OperatorError('InvalidOption', problem);
}

/**
 * Checks options that plain JavaScript may set wrongly: a predicate that is not a function would accept every event,
 * and the text `'false'` would count as true.
 */
function checkWatchOptions(
  where: string,
  { predicate, metadataOnly, keepManagedFields, matchEveryOwner }: OwnsOptions<never>,
): void {
  if (!['function', 'undefined'].includes(typeof predicate)) {
    const got = (predicate as unknown) === null ? 'null' : typeof predicate;
    const problem = `predicate: want a function such as generationChanged(), got ${got}`;
    throw new OperatorError('InvalidOption', `${where}: ${problem}`);
  }
  const choices = { metadataOnly, keepManagedFields, matchEveryOwner };
  for (const [name, given] of Object.entries(choices)) {
    refuseOtherThan(`${where}: ${name}`, given, [true, false]);
  }
}

/** A controller that is ready to start. It holds no state, so it can be started again or several times. */
export class Controller {
  readonly #definition: ControllerDefinition;

  /** @internal Use `controllerFor`. */
  constructor(definition: ControllerDefinition) {
    this.#definition = definition;
  }

  /** The name in logs and metrics. */
  get name(): string {
    return this.#definition.options.name;
  }

  /** The kind whose objects are reconciled. */
  get type(): TypeReference<KubernetesObject> {
    return this.#definition.type;
  }

  /** The declared kinds: the reconciled kind, then the owned and watched kinds. */
  get kinds(): readonly ControllerKind[] {
    return this.#definition.kinds;
  }

  /**
   * Reconciles one key once, without starting the controller: no watch, no cache, no queue. For tools, such
   * as one that plans changes.
   * @returns the reconciler's result
   * @throws the reconciler's error
   * @throws OperatorError `Timeout`: the reconcile took longer than the controller's `reconcileTimeoutMs`
   * @throws OperatorError `Aborted`: `signal` was aborted
   */
  reconcileOnce(reconcile: SingleReconcile): Promise<Result> {
    return reconcileOnce(this.#definition, reconcile);
  }

  /**
   * Starts the controller. Its sources start at once. Reconciles start per cluster as soon as that cluster's
   * sources are synced; in `standby`, not before `activate`. The caller must start the caches, before or
   * after.
   * @throws OperatorError `InvalidOption`: two clusters share a name, or a name contains a slash.
   * @throws the error of a source that can't be started.
   */
  start(runtime: ControllerRuntime | MultiClusterRuntime): RunningController {
    return new RunningController(this.#definition, resolveRuntime(runtime));
  }
}
