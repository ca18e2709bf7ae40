import { isViewGroup } from '../spec/operator-spec.js';
import type { Client } from '../../client/index.js';
import { Manager } from '../../manager/index.js';
import type { ManagerOptions } from '../../manager/index.js';
import type { KubernetesObject, ResourceType, TypeReference } from '../../object/index.js';
import { groupOfType } from '../../object/index.js';
import { systemRandom } from '../../system/index.js';
import type { Random } from '../../system/index.js';
import { TargetWrites, ViewWriters } from './view-writers.js';
import { Views } from './views.js';

/** Options of {@link DeclarativeManager.create}: those of a `Manager` of one cluster. */
export interface DeclarativeManagerOptions extends Omit<ManagerOptions, 'client' | 'clusters'> {
  /** The client of the cluster, for all objects except views, and for leases and events. The caller closes it. */
  readonly client: Client;
}

type CacheScope = Pick<
  NonNullable<ManagerOptions['cacheOptions']>,
  'namespaces' | 'allNamespacesOf'
>;

/**
 * A `Manager` whose clients and caches also serve views, besides the objects of the cluster. The views end
 * with `run`.
 */
export class DeclarativeManager extends Manager {
  /** The views of its operators. */
  readonly views: Views;
  /** The controllers that write the views. @internal */
  readonly viewWriters = new ViewWriters();
  /** The writes of its controllers. @internal */
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

  /**
   * Starts the views and creates a manager.
   * @throws OperatorError `InvalidOption`: as for `Manager`.
   */
  static async create(options: DeclarativeManagerOptions): Promise<DeclarativeManager> {
    const { clock, random, logger, cacheOptions = {} } = options;
    const views = await Views.start({ clock, random, logger });
    try {
      const client = views.route(options.client);
      // A view may have a namespace that does not exist in the cluster, or no namespace.
      const allNamespacesOf = (type: TypeReference<KubernetesObject>): boolean =>
        isViewGroup(groupOfType(type)) || cacheOptions.allNamespacesOf?.(type) === true;
      const own = { client, cacheOptions: { ...cacheOptions, allNamespacesOf } };
      return new DeclarativeManager({ ...options, ...own }, views);
    } catch (error) {
      await views.stop();
      throw error;
    }
  }

  /** Returns the namespaces to which the manager is limited for objects of `type`; undefined: no limit. */
  namespacesOf(type: ResourceType): readonly string[] | undefined {
    const { namespaces, allNamespacesOf } = this.#scope;
    const isLimited = type.namespaced && allNamespacesOf?.(type) !== true;
    return isLimited ? namespaces : undefined;
  }

  /** Runs as `Manager.run` does, then stops the views. */
  override async run(signal: AbortSignal): Promise<void> {
    // `Manager` rejects a second call, which must not stop the views of the first one.
    if (this.#hasRun) return super.run(signal);
    this.#hasRun = true;
    try {
      await super.run(signal);
    } finally {
      await this.views.stop();
    }
  }

  /**
   * Stops the views of a manager that was never run. After `run` it does nothing: the signal of `run` ends
   * both.
   */
  async stop(): Promise<void> {
    if (!this.#hasRun) await this.views.stop();
  }
}
