import type { Client } from '../../client/client.js';
import { Manager } from '../../manager/manager.js';
import type { ManagerOptions } from '../../manager/manager-options.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { groupOfType } from '../../object/resource-type.js';
import type { ResourceType, TypeReference } from '../../object/resource-type.js';
import { systemRandom } from '../../system/random.js';
import type { Random } from '../../system/random.js';
import { isViewGroup } from './routed-client.js';
import { TargetWrites } from './target-writes.js';
import { ViewWriters } from './view-writers.js';
import { Views } from './views.js';

/** Options of {@link DeclarativeManager.create}: those of a `Manager` of one cluster. */
export interface DeclarativeManagerOptions extends Omit<ManagerOptions, 'client' | 'clusters'> {
  /** The cluster of native objects, leases and events; it stays the caller's. */
  readonly client: Client;
}

type CacheScope = Pick<
  NonNullable<ManagerOptions['cacheOptions']>,
  'namespaces' | 'allNamespacesOf'
>;

/**
 * A `Manager` whose clients and caches know views beside the objects of the cluster. The views end
 * with `run`.
 */
export class DeclarativeManager extends Manager {
  /** The views of its operators. */
  readonly views: Views;
  /** Who writes them. @internal */
  readonly viewWriters = new ViewWriters();
  /** What its controllers write. @internal */
  readonly targetWrites = new TargetWrites();
  readonly random: Random;
  readonly #scope: CacheScope;
  #hasRun = false;

  private constructor(options: ManagerOptions, views: Views) {
    super(options);
    this.#scope = options.cacheOptions ?? {};
    const { random = systemRandom } = options;
    this.views = views;
    this.random = random;
  }

  /** @throws OperatorError `InvalidOption`: as `Manager`. */
  static async create(options: DeclarativeManagerOptions): Promise<DeclarativeManager> {
    const { clock, random, logger, cacheOptions = {} } = options;
    const views = await Views.start({ clock, random, logger });
    try {
      const client = views.route(options.client);
      // A view may be in a namespace that is none of the cluster, and in none at all.
      const allNamespacesOf = (type: TypeReference<KubernetesObject>): boolean =>
        isViewGroup(groupOfType(type)) || cacheOptions.allNamespacesOf?.(type) === true;
      const own = { client, cacheOptions: { ...cacheOptions, allNamespacesOf } };
      return new DeclarativeManager({ ...options, ...own }, views);
    } catch (error) {
      await views.stop();
      throw error;
    }
  }

  /**
   * The namespaces to which it is limited, as far as objects of `type` are concerned: beyond them nothing
   * is its own. undefined: all of them.
   */
  namespacesOf(type: ResourceType): readonly string[] | undefined {
    const { namespaces, allNamespacesOf } = this.#scope;
    const isLimited = type.namespaced && allNamespacesOf?.(type) !== true;
    return isLimited ? namespaces : undefined;
  }

  /** As `Manager.run`; when it has ended, the views are gone. */
  override async run(signal: AbortSignal): Promise<void> {
    // A second call is refused, and must not end what the first one works with.
    if (this.#hasRun) return super.run(signal);
    this.#hasRun = true;
    try {
      await super.run(signal);
    } finally {
      await this.views.stop();
    }
  }

  /** Ends the views of a manager that is not run. What is run ends with its signal; then this waits for nothing. */
  async stop(): Promise<void> {
    if (!this.#hasRun) await this.views.stop();
  }
}
