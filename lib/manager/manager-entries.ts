import type { InformerStatus } from '../cache/index.js';
import type { Controller, ControllerStatus } from '../controller/index.js';
import { OperatorError } from '../system/index.js';
import type { RequiredAccess } from './access/required-access.js';
import type { ManagedCluster } from './managed-cluster.js';
import type { ManagerRun } from './manager-run.js';
import type { Runnable, RunnablePhase, RunnableState } from './runnable.js';
import type { Sharding, ShardingStatus } from './sharding/index.js';

/** Options of `Manager.add`. */
export interface ManagerAddOptions {
  /**
   * Replicas on which a controller reconciles: only the leader, or every replica. The option is for controllers only: a
   * runnable declares its own phase.
   * @defaultValue 'leader'
   */
  readonly phase?: 'replica' | 'leader' | undefined;
  /**
   * Shards the keys of a controller over all replicas: each replica reconciles its own share, and each key
   * has one replica at a time. Not together with `phase`. See `ManagerOptions.shards`. @defaultValue false
   */
  readonly shards?: boolean | undefined;
  /**
   * Access that the item needs besides watching the kinds of a controller; checked by the RBAC preflight.
   * @defaultValue nothing
   */
  readonly requires?: readonly RequiredAccess[] | undefined;
}

/** Handle of an item that was added to a manager. */
export interface Added {
  readonly name: string;
  /**
   * Stops the item if it runs, and removes it. Resolves when it has ended. Reconciles, or the runnable, have
   * `graceMs` milliseconds to end (default: the manager's `gracefulShutdownMs`). The name is free only after
   * the promise settles; otherwise two controllers could reconcile one key.
   */
  remove(graceMs?: number): Promise<void>;
}

/** Place where a controller reconciles; `shards`: every replica reconciles its share of the keys. */
export type ControllerPhase = 'replica' | 'leader' | 'shards';

export interface ControllerEntry {
  readonly type: 'controller';
  readonly controller: Controller;
  readonly phase: ControllerPhase;
  readonly requires: readonly RequiredAccess[];
}

interface RunnableEntry {
  readonly type: 'runnable';
  readonly runnable: Runnable;
  readonly requires: readonly RequiredAccess[];
}

/** An item that was added to a manager. */
export type ManagerEntry = ControllerEntry | RunnableEntry;

/**
 * Plain JavaScript can pass other values, such as a controller description without `complete`.
 * @throws OperatorError `InvalidOption`: `item` is neither a controller nor a runnable.
 */
export function refuseOther(item: unknown): void {
  if (typeof item === 'object' && item !== null) {
    if ('run' in item && typeof item.run === 'function') return;
    if ('start' in item && typeof item.start === 'function') return;
  }
  const isOpen = typeof item === 'object' && item !== null && 'complete' in item;
  const remedy = isOpen ? ': end its description with complete(reconciler)' : '';
  throw new OperatorError('InvalidOption', `add: want a controller or a runnable${remedy}`);
}

/** A controller of an `Operator` gets its name in `for`, since its `withOptions` accepts no name. */
const namings = 'operator.for(type, { name }), or withOptions({ name }) of controllerFor(type)';

function entryName(entry: ManagerEntry): string {
  return entry.type === 'controller' ? entry.controller.name : entry.runnable.name;
}

/** The items of a manager, in the order in which they were added. */
export class ManagerEntries implements Iterable<ManagerEntry> {
  readonly #entries = new Set<ManagerEntry>();
  readonly #leaving = new Set<ManagerEntry>();
  /** True if the manager handed out an event recorder. */
  writesEvents = false;

  /** Entries that are removed but have not ended. */
  get leaving(): readonly ManagerEntry[] {
    return [...this.#leaving];
  }

  /**
   * @throws OperatorError `InvalidOption`: two controllers, or two runnables, share a name. Metrics, logs and checks
   * could not distinguish them. This also applies while one of the two is being removed.
   */
  add(entry: ManagerEntry): void {
    const name = entryName(entry);
    for (const other of [...this.#entries, ...this.#leaving]) {
      if (other.type !== entry.type || entryName(other) !== name) continue;
      if (this.#leaving.has(other)) {
        const message = `${entry.type} ${name} is being removed: wait until remove() has resolved`;
        throw new OperatorError('InvalidOption', message);
      }
      const remedy =
        entry.type === 'controller' ? `; give one of them another name: ${namings}` : '';
      const message = `two ${entry.type}s are called ${name}${remedy}`;
      throw new OperatorError('InvalidOption', message);
    }
    this.#entries.add(entry);
  }

  /** Removes an entry; its name stays taken until `ended` has settled. */
  async delete(entry: ManagerEntry, ended: () => Promise<void> | undefined): Promise<void> {
    const isFirst = this.#entries.delete(entry);
    if (!isFirst && !this.#leaving.has(entry)) return;
    this.#leaving.add(entry);
    try {
      // Call it each time: a second call of `delete` may allow less time.
      const ending = ended();
      if (ending !== undefined) await ending;
    } finally {
      this.#leaving.delete(entry);
    }
  }

  [Symbol.iterator](): Iterator<ManagerEntry> {
    return [...this.#entries].values();
  }
}

/** Lifecycle phase of a manager. */
export type ManagerPhase = 'new' | 'starting' | 'running' | 'stopping' | 'stopped';

/** Status of a cluster of a manager. */
export interface ManagedClusterStatus {
  /** `''` for the only cluster. */
  readonly name: string;
  /** The kinds in the cache of the cluster. */
  readonly caches: readonly InformerStatus[];
}

/** Status of a controller of a manager. */
export interface ManagedControllerStatus extends ControllerStatus {
  /** Place where the controller reconciles. */
  readonly phase: ControllerPhase;
}

/** Status of a runnable of a manager. */
export interface RunnableStatus {
  readonly name: string;
  readonly phase: RunnablePhase;
  readonly state: RunnableState;
  /** Address that the runnable listens on; undefined if it does not listen. */
  readonly url: string | undefined;
}

/** Status of leader election on a candidate. */
export interface ElectionStatus {
  /** Error of the last attempt at the Lease; undefined if it succeeded or is unknown. */
  readonly problem: unknown;
  /**
   * Time since this candidate started without seeing a leader, in milliseconds; 0 once it has seen a leader.
   */
  readonly leaderlessMs: number;
}

/** Status of a manager. */
export interface ManagerStatus {
  readonly phase: ManagerPhase;
  /** True if the leader's controllers reconcile here. */
  readonly isLeading: boolean;
  /** Identity of the leader, if known. */
  readonly leader: string | undefined;
  /** Undefined while this process is not a candidate. */
  readonly election?: ElectionStatus | undefined;
  readonly clusters: readonly ManagedClusterStatus[];
  /** Controllers that were started. A removed controller is listed until it has ended. */
  readonly controllers: readonly ManagedControllerStatus[];
  readonly runnables: readonly RunnableStatus[];
  /** Status of sharding; undefined without sharded controllers. */
  readonly shards?: ShardingStatus | undefined;
}

/** @param run - undefined before the start */
export function managerStatus(
  run: ManagerRun | undefined,
  entries: ManagerEntries,
  clusters: readonly ManagedCluster[],
  sharding: Sharding | undefined,
): ManagerStatus {
  const controllers: ManagedControllerStatus[] = [];
  const runnables: RunnableStatus[] = [];
  for (const entry of [...entries, ...entries.leaving]) {
    if (entry.type === 'controller') {
      const { controller, phase } = entry;
      const status = run?.controllers[phase].running(controller)?.status();
      if (status !== undefined) controllers.push({ ...status, phase });
    } else {
      const { runnable } = entry;
      const { name, phase = 'leader', url } = runnable;
      const state = run?.runnables[phase].state(runnable) ?? 'waiting';
      runnables.push({ name, phase, state, url });
    }
  }
  return {
    phase: run?.phase ?? 'new',
    isLeading: run?.isLeading ?? false,
    leader: run?.leader,
    election: run?.electionStatus,
    clusters: clusters.map(({ name, cache }) => ({ name, caches: cache.status() })),
    ...{ controllers, runnables, shards: sharding?.status() },
  };
}
