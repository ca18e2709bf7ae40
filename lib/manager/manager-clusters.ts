import type { Cache } from '../cache/cache.js';
import { OperatorError } from '../system/operator-error.js';
import type { ManagedCluster } from './managed-cluster.js';
import { checkClusterName } from './manager-options.js';

/** A cluster on its way out. */
interface Leaving {
  readonly cluster: ManagedCluster;
  readonly ended: Promise<void>;
}

/** The clusters of a manager. */
export class ManagerClusters {
  readonly #clusters = new Map<string, ManagedCluster>();
  readonly #leaving = new Map<string, Leaving>();
  readonly #indexes: ((cache: Cache) => void)[] = [];

  /** Those that are worked on, by name; the first is home. It changes as clusters come and go. */
  get byName(): ReadonlyMap<string, ManagedCluster> {
    return this.#clusters;
  }

  /** With those that are being removed. */
  get all(): readonly ManagedCluster[] {
    const leaving = [...this.#leaving.values()].map(({ cluster }) => cluster);
    return [...this.#clusters.values(), ...leaving];
  }

  /**
   * @throws OperatorError `InvalidOption`: the name is taken, or none; also while the cluster that had
   * it is being removed: reconciles of the one would go on as those of the other begin.
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

  /** Has an index declared in the cache of every cluster, those to come included. */
  index(declareIn: (cache: Cache) => void): void {
    for (const { cache } of this.#clusters.values()) declareIn(cache);
    this.#indexes.push(declareIn);
  }

  /** Takes out a cluster that nothing has begun to work on. */
  drop({ name }: ManagedCluster): void {
    this.#clusters.delete(name);
  }

  /**
   * Takes a cluster out; its name stays taken until `leave` has settled. Asked again it waits for the
   * same. One that is not there is no error.
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

  /** Resolves when those that are being removed are out, however that went. */
  async left(): Promise<void> {
    await Promise.allSettled([...this.#leaving.values()].map(({ ended }) => ended));
  }
}
