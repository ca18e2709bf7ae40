import type { InformerStatus } from '../cache/informer.js';
import type { ControllerStatus } from '../controller/controller-status.js';
import type { RunnableState } from './runnable-group.js';
import type { RunnablePhase } from './runnable.js';

/** How far a manager is. */
export type ManagerPhase = 'new' | 'starting' | 'running' | 'stopping' | 'stopped';

/** A cluster of a manager. */
export interface ClusterStatus {
  /** `''`: the only one. */
  readonly name: string;
  /** The kinds in its cache. */
  readonly caches: readonly InformerStatus[];
}

/** A controller of a manager. */
export interface ManagedControllerStatus extends ControllerStatus {
  readonly phase: 'replica' | 'leader';
}

/** A runnable of a manager. */
export interface RunnableStatus {
  readonly name: string;
  readonly phase: RunnablePhase;
  readonly state: RunnableState;
}

/** What a manager is doing. */
export interface ManagerStatus {
  readonly phase: ManagerPhase;
  /** The controllers of the leader reconcile here. */
  readonly isLeading: boolean;
  /** Who leads, as far as it is known. */
  readonly leader: string | undefined;
  readonly clusters: readonly ClusterStatus[];
  readonly controllers: readonly ManagedControllerStatus[];
  readonly runnables: readonly RunnableStatus[];
}
