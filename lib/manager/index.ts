export type { HealthCheck } from './health-check.js';
export type { Leadership, LeadershipCallbacks } from './leadership.js';
export type { ManagerCacheOptions, ManagerCluster } from './managed-cluster.js';
export { Manager } from './manager.js';
export type { Added, ManagerAddOptions } from './manager-entries.js';
export type { ManagerOptions } from './manager-options.js';
export type {
  ClusterStatus,
  ManagedControllerStatus,
  ManagerPhase,
  ManagerStatus,
  RunnableStatus,
} from './manager-status.js';
export type { Runnable, RunnableContext, RunnablePhase } from './runnable.js';
export type { RunnableState } from './runnable-group.js';
