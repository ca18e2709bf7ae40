/*
 * Requests to an API server.
 *
 *   caller ──► wrappers ──► http-client.ts ──► exchange.ts ──► transport (system/) ──► API server
 *
 * Read `client.ts`, the interface that all folders use, then `http-client.ts`. `exchange.ts` sends one
 * request, with the retries and limits of `request-limits.ts`; `answers.ts` reads responses, `watch-events.ts` and
 * `event-text.ts` read watches, `list-pages.ts` reads lists in pages and `discovery.ts` finds the path of a kind.
 * `default-client.ts` and `kube-config.ts` find the cluster; `credentials.ts` and `exec-credentials.ts`
 * authenticate. `client-wrappers.ts` and `faulty.ts` wrap a client. Functions on top of a client:
 * `object-changes.ts`, `wait-for.ts`, `ensure-crd.ts`.
 */
export { createClient, isConnected } from './http-client.js';
export type { ConnectedClient } from './http-client.js';
export { checkCallOptions, describeCall, isPathSegment, subresourceParent } from './call.js';
export { packageVersion } from './client-options.js';
export type { ClientSettings } from './client-options.js';
export { anonymous, bearerToken, tokenFile } from './credentials.js';
export type { Credentials } from './credentials.js';
export { defaultClient, clientInCluster, defaultCluster } from './default-client.js';
export type { DefaultCluster } from './default-client.js';
export { clientFromKubeConfig } from './kube-config.js';
export type { KubeConfigClientOptions } from './kube-config.js';
export type { Environment } from './kube-config-file.js';
export {
  createOrPatch,
  createOrUpdate,
  addFinalizer,
  removeFinalizer,
  getIfExists,
  isStaleWrite,
  retryOnConflict,
  setControllerReference,
} from './object-changes.js';
export type { CreateOrUpdateResult } from './object-changes.js';
export { dryRun, fenced, forwarding, routing } from './client-wrappers.js';
export { ensureCrd } from './ensure-crd.js';
export { faulty, errorOf, faultyClientsOf } from './faulty.js';
export type {
  FailingFault,
  Fault,
  FaultRule,
  FaultyClient,
  FaultyVerb,
  InjectedFault,
} from './faulty.js';
export type {
  Fence,
  Applied,
  ApplyOptions,
  CacheLooks,
  CachingClient,
  CallOptions,
  Client,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
  WriteDetails,
} from './client.js';
export { Deadline } from './request-limits.js';
export { TokenBucket } from './request-limits.js';
export { waitFor } from './wait-for.js';
export type { WaitForOptions } from './wait-for.js';
export { inBatches } from './watch-events.js';
