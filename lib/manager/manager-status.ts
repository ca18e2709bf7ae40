import type { InformerStatus } from '../cache/informer.js';
import type { ControllerStatus } from '../controller/index.js';
import type { ManagedCluster } from './managed-cluster.js';
import type { ControllerPhase, ManagerEntries } from './manager-entries.js';
import type { ManagerRun } from './manager-run.js';
import type { RunnableState, RunnablePhase } from './runnable.js';
import type { Sharding, ShardingStatus } from './sharding/index.js';

/** Lifecycle phase of a manager. */
export type ManagerPhase = 'new' | 'starting' | 'running' | 'stopping' | 'stopped';

/** Status of a cluster of a manager. */
export interface ManagedClusterStatus {
  /** `''` for the only cluster. */
  readonly name: string;
  /** The kinds in its cache. */
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
  /** Address it listens on; undefined if it does not listen. */
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

/** Sources of a {@link ManagerStatus}. */
export interface ManagerStatusParts {
  /** Undefined before the start. */
  readonly run: ManagerRun | undefined;
  readonly entries: ManagerEntries;
  readonly clusters: readonly ManagedCluster[];
  readonly sharding: Sharding | undefined;
}

/** Collects the status of a manager. */
export function managerStatus(parts: ManagerStatusParts): ManagerStatus {
  const { run, entries, clusters, sharding } = parts;
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
