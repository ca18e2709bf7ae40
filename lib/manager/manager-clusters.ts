import type { Cache } from '../cache/cache.js';
import { OperatorError } from '../system/operator-error.js';
import type { ManagedCluster } from './managed-cluster.js';
import { checkClusterName } from './manager-options.js';

/** A cluster that is being removed. */
interface Leaving {
  readonly cluster: ManagedCluster;
  readonly ended: Promise<void>;
}

/** The clusters of a manager. */
export class ManagerClusters {
  readonly #clusters = new Map<string, ManagedCluster>();
  readonly #leaving = new Map<string, Leaving>();
  readonly #indexes: ((cache: Cache) => void)[] = [];

  /** Active clusters by name; the first is home. The map changes as clusters are added and removed. */
  get byName(): ReadonlyMap<string, ManagedCluster> {
    return this.#clusters;
  }

  /** All clusters, including those that are being removed. */
  get all(): readonly ManagedCluster[] {
    const leaving = [...this.#leaving.values()].map(({ cluster }) => cluster);
    return [...this.#clusters.values(), ...leaving];
  }

  /**
   * @throws OperatorError `InvalidOption`: the name is taken or invalid. A name stays taken while its cluster
   * is being removed; otherwise reconciles of both clusters would overlap.
   */
  checkName(name: string): void {
    checkClusterName(name, this.#clusters);
    if (!this.#leaving.has(name)) return;
    const message = `cluster ${name} is being removed: wait until removeCluster() has resolved`;
    throw new OperatorError('InvalidOption', `manager: ${message}`);
  }

  add(cluster: ManagedCluster): void {
    for (const declareIn of this.#indexes) declareIn(cluster.cache);
    this.#clusters.set(cluster.name, cluster);
  }

  /** Declares an index in the cache of every cluster, including clusters added later. */
  index(declareIn: (cache: Cache) => void): void {
    for (const { cache } of this.#clusters.values()) declareIn(cache);
    this.#indexes.push(declareIn);
  }

  /** Removes a cluster that no controller has started to use. */
  drop({ name }: ManagedCluster): void {
    this.#clusters.delete(name);
  }

  /**
   * Removes a cluster; its name stays taken until `leave` has settled. A repeated call waits for the first
   * one. An unknown name is not an error.
   */
  async remove(name: string, leave: (cluster: ManagedCluster) => Promise<void>): Promise<void> {
    const cluster = this.#clusters.get(name);
    if (cluster === undefined) {
      await this.#leaving.get(name)?.ended;
      return;
    }
    this.#clusters.delete(name);
    const ended = leave(cluster).finally(() => this.#leaving.delete(name));
    this.#leaving.set(name, { cluster, ended });
    await ended;
  }

  /** Resolves when all removals have ended, even if they failed. */
  async left(): Promise<void> {
    await Promise.allSettled([...this.#leaving.values()].map(({ ended }) => ended));
  }
}
