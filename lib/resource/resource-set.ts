import { describeObject } from '../object/describe-object.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import type { OptionNames } from '../system/known-options.js';
import { faultInResources, isName } from './check-resources.js';
import type { Awaitable } from './crud-operations.js';
import { ExecutionFailedError } from './execution-failed-error.js';
import { InvalidConfigError } from './invalid-config-error.js';
import { messageOf } from './message-of.js';
import type { Resource } from './resource.js';
import type { ResourceContext } from './resource-context.js';

/** The order of `ensureDeleted`: the last resource first, or as in creation. */
export type DeletionOrder = 'reverse' | 'creation';

/** Options of a {@link ResourceSet}. */
export interface ResourceSetOptions<T extends KubernetesObject> {
  /** For logs, metrics and errors, for example `v1`; not empty. */
  readonly name: string;
  /** Whether this set handles the object. At most one set of a router may return true. */
  readonly handles: (object: T) => boolean;
  /** Prepares a reconcile: sets values that resources share. @defaultValue does nothing */
  readonly initContext?: ((context: ResourceContext, object: T) => Awaitable<void>) | undefined;
  /** At least one, in the order in which they run; names must differ. */
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
