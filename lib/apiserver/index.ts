/*
 * The entry `operator-builder/apiserver`: a Kubernetes API server in the process, alone (`api-server.ts`) or with its
 * controllers, clients and a clock (`cluster/embedded-cluster.ts`). `internal.ts` exports what the other folders of
 * `lib/` import, and shows how a request is served.
 */
export { EmbeddedApiServer } from './api-server.js';
export { usedRolesText } from './auth/used-rules.js';
export type { Faults } from './faults.js';
export type { RequestEntry, RequestLog } from './request-log.js';
export type { StoreSnapshot } from './storage/mvcc-log.js';
export { startControllers } from './controllers/index.js';
export type { Controllers } from './controllers/index.js';
export { EmbeddedCluster } from './cluster/embedded-cluster.js';
export type { EmbeddedClusterOptions } from './cluster/embedded-cluster-options.js';
export type { Transport } from '../system/index.js';
