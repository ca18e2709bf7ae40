/*
 * The entry `operator-builder/apiserver`: the API server of `apiserver/` with its controllers, clients and a
 * clock. Read `embedded-cluster.ts`, then `embedded-cluster-options.ts`.
 */
export { EmbeddedApiServer, usedRolesText } from '../apiserver/index.js';
export type { RequestEntry, StoreSnapshot } from '../apiserver/index.js';
export { startControllers } from '../apiserver/controllers/index.js';
export type { Controllers } from '../apiserver/controllers/index.js';
export { EmbeddedCluster } from './embedded-cluster.js';
export type { EmbeddedClusterOptions } from './embedded-cluster-options.js';
