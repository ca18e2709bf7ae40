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
  /** Whether this set handles the object; of all sets of a router one may say so. */
  readonly handles: (object: T) => boolean;
  /** Prepares a pass: sets values that resources share. @defaultValue nothing */
  readonly initContext?: ((context: ResourceContext, object: T) => Awaitable<void>) | undefined;
  /** In the order in which they are carried out, at least one, each with a name of its own. */
  readonly resources: readonly Resource<T>[];
  /**
   * The order in which resources are deleted. `creation` is for chains whose resources need values
   * of earlier ones in a deletion, too. @defaultValue 'reverse'
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
   * @throws InvalidConfigError its name or `handles` is missing, it has no resources, two of them
   * have one name, one is no resource, or `deletionOrder` is neither of the two.
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
   * Whether it handles the object.
   * @throws ExecutionFailedError `handles` threw, or returned something else than a boolean, as an
   * async function does.
   */
  handles(object: T): boolean {
    const answer: unknown = this.#ask(object);
    if (typeof answer === 'boolean') return answer;
    const got = answer instanceof Promise ? 'a promise' : `a value of type ${typeof answer}`;
    throw new ExecutionFailedError(`${this.#asked(object)}: want a boolean, got ${got}`);
  }

  /** Prepares a pass: calls the `initContext` that it was given, if any. */
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
