import type { InformerStatus } from '../cache/informer.js';
import type { ControllerStatus } from '../controller/controller-status.js';
import type { ManagedCluster } from './managed-cluster.js';
import type { ControllerPhase, ManagerEntries } from './manager-entries.js';
import type { ManagerRun } from './manager-run.js';
import type { RunnableState } from './runnable-group.js';
import type { RunnablePhase } from './runnable.js';
import type { Sharding, ShardingStatus } from './sharding/index.js';

/** How far a manager is. */
export type ManagerPhase = 'new' | 'starting' | 'running' | 'stopping' | 'stopped';

/** A cluster of a manager. */
export interface ManagedClusterStatus {
  /** `''`: the only one. */
  readonly name: string;
  /** The kinds in its cache. */
  readonly caches: readonly InformerStatus[];
}

/** A controller of a manager. */
export interface ManagedControllerStatus extends ControllerStatus {
  /** Where it reconciles. */
  readonly phase: ControllerPhase;
}

/** A runnable of a manager. */
export interface RunnableStatus {
  readonly name: string;
  readonly phase: RunnablePhase;
  readonly state: RunnableState;
  /** Where it listens; undefined: it does not. */
  readonly url: string | undefined;
}

/** How the candidature of a manager is doing. */
export interface ElectionStatus {
  /** What the last attempt at the Lease failed with; undefined: it did not, or it is not known. */
  readonly problem: unknown;
  /** How long it has been a candidate without seeing any leader, in milliseconds; 0: it has seen one. */
  readonly leaderlessMs: number;
}

/** What a manager is doing. */
export interface ManagerStatus {
  readonly phase: ManagerPhase;
  /** The controllers of the leader reconcile here. */
  readonly isLeading: boolean;
  /** Who leads, as far as it is known. */
  readonly leader: string | undefined;
  /** Undefined: it is no candidate (yet). */
  readonly election?: ElectionStatus | undefined;
  readonly clusters: readonly ManagedClusterStatus[];
  /** Those that were started; one that is being removed until it has ended. */
  readonly controllers: readonly ManagedControllerStatus[];
  readonly runnables: readonly RunnableStatus[];
  /** How replicas share keys; undefined: they don't. */
  readonly shards?: ShardingStatus | undefined;
}

/** What a {@link ManagerStatus} is read from. */
export interface ManagerStatusParts {
  /** Undefined: it was not started. */
  readonly run: ManagerRun | undefined;
  readonly entries: ManagerEntries;
  readonly clusters: readonly ManagedCluster[];
  readonly sharding: Sharding | undefined;
}

/** What a manager is doing. */
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
