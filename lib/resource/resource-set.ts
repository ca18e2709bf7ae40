import type { KubernetesObject } from '../object/index.js';
import type { ResourceContext } from './resource-context.js';
import { describeObject } from '../object/index.js';
import { refuseUnknownOptions } from '../system/index.js';
import type { OptionNames } from '../system/index.js';
import type { Awaitable } from './crud-resource.js';
import {
  ExecutionFailedError,
  InvalidConfigError,
  messageOf,
  NoResourceSetError,
} from './errors.js';

/**
 * A link of a chain, which brings what it manages, such as a Deployment or a bucket, to its desired state,
 * and deletes it. `T` is the reconciled object. Both methods are called repeatedly and must be idempotent. An
 * error ends the chain and requeues the object.
 */
export interface Resource<T extends KubernetesObject = KubernetesObject> {
  /** Identifies the resource in its set, in logs, metrics and errors; not empty. */
  readonly name: string;
  /** Called for a live `object`: after it was created or changed, and on each resync. */
  ensureCreated(context: ResourceContext, object: T): Promise<void>;
  /** Called while `object` is being deleted; it stays until every resource of its set has returned. */
  ensureDeleted(context: ResourceContext, object: T): Promise<void>;
  /** The resource that a wrapper wraps; absent on other resources. */
  readonly wrapped?: Resource<T> | undefined;
}

/** The order of `ensureDeleted`: the last resource first, or as in creation. */
export type DeletionOrder = 'reverse' | 'creation';

/** Options of a {@link ResourceSet}. */
export interface ResourceSetOptions<T extends KubernetesObject> {
  /** The name in logs, metrics and errors, for example `v1`. It must not be empty. */
  readonly name: string;
  /** Whether this set handles the object. At most one set of a router may return true. */
  readonly handles: (object: T) => boolean;
  /** Prepares a reconcile: sets values that resources share. @defaultValue does nothing */
  readonly initContext?: ((context: ResourceContext, object: T) => Awaitable<void>) | undefined;
  /** The resources, at least one, in the order in which they run. Their names must differ. */
  readonly resources: readonly Resource<T>[];
  /**
   * The order in which resources are deleted. Use `creation` if resources need values of earlier ones during
   * a deletion too. @defaultValue 'reverse'
   */
  readonly deletionOrder?: DeletionOrder | undefined;
}

const resourceSetOptionNames: OptionNames<ResourceSetOptions<never>> = {
  ...{ name: true, handles: true, initContext: true, resources: true, deletionOrder: true },
};

/** A chain of resources for the objects of one version or shape. */
export class ResourceSet<T extends KubernetesObject = KubernetesObject> {
  readonly name: string;
  readonly resources: readonly Resource<T>[];
  readonly deletionOrder: DeletionOrder;
  readonly #options: ResourceSetOptions<T>;

  /**
   * @throws InvalidConfigError the name or `handles` is missing, there are no resources, two have the same
   * name, one is not a resource, or `deletionOrder` is invalid.
   */
  constructor(options: ResourceSetOptions<T>) {
    checkOptions(options);
    refuseUnknownOptions(`ResourceSet ${options.name}`, options, resourceSetOptionNames);
    this.name = options.name;
    this.resources = Object.freeze([...options.resources]);
    this.deletionOrder = options.deletionOrder ?? 'reverse';
    this.#options = options;
  }

  /**
   * Whether the set handles the object.
   * @throws ExecutionFailedError `handles` threw, or did not return a boolean; an async function returns a
   * promise.
   */
  handles(object: T): boolean {
    const answer: unknown = this.#ask(object);
    if (typeof answer === 'boolean') return answer;
    const got = answer instanceof Promise ? 'a promise' : `a value of type ${typeof answer}`;
    throw new ExecutionFailedError(`${this.#asked(object)}: want a boolean, got ${got}`);
  }

  /** Prepares a reconcile: calls the option `initContext`, if set. */
  async initContext(context: ResourceContext, object: T): Promise<void> {
    await this.#options.initContext?.(context, object);
  }

  #ask(object: T): unknown {
    try {
      return this.#options.handles(object);
    } catch (cause) {
      const why = messageOf(cause);
      throw new ExecutionFailedError(`${this.#asked(object)}: ${why}`, { cause });
    }
  }

  #asked(object: T): string {
    return `${describeObject(object)}: set ${this.name}, handles`;
  }
}

function checkOptions(options: ResourceSetOptions<never>): void {
  const { name, handles, initContext, resources, deletionOrder } = options as Partial<
    Record<keyof ResourceSetOptions<never>, unknown>
  >;
  if (!isName(name)) throw new InvalidConfigError('ResourceSet: its name is missing');
  if (typeof handles !== 'function') {
    throw new InvalidConfigError(`ResourceSet ${name}: handles: want a function`);
  }
  if (initContext !== undefined && typeof initContext !== 'function') {
    throw new InvalidConfigError(`ResourceSet ${name}: initContext: want a function, or nothing`);
  }
  if (![undefined, 'reverse', 'creation'].includes(deletionOrder as undefined)) {
    const want = "want 'reverse' or 'creation'";
    throw new InvalidConfigError(`ResourceSet ${name}: deletionOrder: ${want}`);
  }
  const fault = faultInResources(resources);
  if (fault !== undefined) throw new InvalidConfigError(`ResourceSet ${name}: ${fault}`);
}

/** Returns the problem with a list of resources, or undefined. Plain JavaScript can pass anything. */
export function faultInResources(resources: unknown): string | undefined {
  if (!Array.isArray(resources)) return 'resources: want an array';
  if (resources.length === 0) return 'no resources: want at least one';
  const list = resources as readonly unknown[];
  const faults = list.map((resource, index) => faultInResource(resource, `resources[${index}]`));
  return firstOf(faults) ?? faultInNames('resource', list as readonly Named[]);
}

interface Named {
  readonly name: string;
}

/** Returns the problem with the names of `list`, or undefined if all differ. */
function faultInNames(what: string, list: readonly Named[]): string | undefined {
  const names = list.map(({ name }) => name);
  const twice = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  if (twice.size === 0) return undefined;
  return `more than one ${what} is named ${[...twice].join(', ')}: want a name of its own for each`;
}

/** Whether `value` is a valid name: a string that is not empty. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Returns the problem with a resource, or undefined. @param where - names a resource without a name */
export function faultInResource(resource: unknown, where: string): string | undefined {
  if (typeof resource !== 'object' || resource === null) return `${where}: want a resource`;
  const { name } = resource as { readonly name?: unknown };
  if (!isName(name)) return `${where}: its name is missing`;
  const missing = missingMethods(resource, ['ensureCreated', 'ensureDeleted']);
  return missing.length === 0 ? undefined : `resource ${name}: no method ${missing.join(', ')}`;
}

/** Returns those of `methods` that the object lacks. */
export function missingMethods(object: object, methods: readonly string[]): readonly string[] {
  const members = object as Readonly<Record<string, unknown>>;
  return methods.filter((method) => typeof members[method] !== 'function');
}

function firstOf(faults: readonly (string | undefined)[]): string | undefined {
  return faults.find((fault) => fault !== undefined);
}

/** Options of a {@link ResourceRouter}. */
export interface ResourceRouterOptions<T extends KubernetesObject> {
  /** The sets, at least one. Their names must differ. */
  readonly resourceSets: readonly ResourceSet<T>[];
}

/** Selects the set that handles an object, so that chains can have versions. */
export class ResourceRouter<T extends KubernetesObject = KubernetesObject> {
  readonly resourceSets: readonly ResourceSet<T>[];

  /** @throws InvalidConfigError there are no sets, two have the same name, or one is not a set. */
  constructor(options: ResourceRouterOptions<T>) {
    const { resourceSets } = options;
    refuseUnknownOptions<ResourceRouterOptions<T>>('ResourceRouter', options, { resourceSets });
    const fault = faultInSets(options.resourceSets);
    if (fault !== undefined) throw new InvalidConfigError(`ResourceRouter: ${fault}`);
    this.resourceSets = Object.freeze([...options.resourceSets]);
  }

  /**
   * Returns the set that handles the object.
   * @throws NoResourceSetError no set handles it; another framework may.
   * @throws ExecutionFailedError several sets handle it, or the `handles` function of one failed; names the
   * sets.
   */
  resourceSet(object: T): ResourceSet<T> {
    const [set, ...more] = this.resourceSetsOf(object);
    const what = describeObject(object);
    if (set === undefined) {
      const asked = namesOf(this.resourceSets);
      throw new NoResourceSetError(`${what}: no resource set handles it; the sets are ${asked}`);
    }
    if (more.length === 0) return set;
    const remedy = 'let the handles function of only one of them return true';
    const names = namesOf([set, ...more]);
    throw new ExecutionFailedError(`${what}: several resource sets handle it: ${names}; ${remedy}`);
  }

  /**
   * Returns every set that handles the object; there should be one.
   * @throws ExecutionFailedError the `handles` function of a set failed; the error names the set.
   */
  resourceSetsOf(object: T): readonly ResourceSet<T>[] {
    return this.resourceSets.filter((set) => set.handles(object));
  }
}

function namesOf(sets: readonly { readonly name: string }[]): string {
  return sets.map(({ name }) => name).join(', ');
}

function faultInSets(sets: unknown): string | undefined {
  if (!Array.isArray(sets)) return 'resourceSets: want an array';
  if (sets.length === 0) return 'no resource sets: want at least one';
  const list = sets as readonly unknown[];
  const wrong = list.findIndex((set) => !(set instanceof ResourceSet));
  if (wrong >= 0) return `resourceSets[${wrong}]: want a ResourceSet`;
  return faultInNames('resource set', list as readonly ResourceSet[]);
}

/** Returns the resources that reconcile an object. */
export type ResourceFunc<T extends KubernetesObject> = (
  context: ResourceContext,
  object: T,
) => readonly Resource<T>[];

/** Makes a function that returns the same resources for every object. */
export function defaultResourceSetResourceFunc<T extends KubernetesObject>(
  resources: readonly Resource<T>[],
): ResourceFunc<T> {
  return () => resources;
}
