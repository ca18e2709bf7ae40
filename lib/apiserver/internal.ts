/*
 * The API server in the process: requests in, stored objects and watch events out.
 *
 *   HTTP or in-process ──► requests/ ──► auth/ ──► writes/ with admission/ and rules/ ──► storage/
 *                                                                                            │
 *                          watches and lists  ◄──  reads/ with tables/  ◄────────────────────┘
 *
 * Read `api-server.ts` first, then `http-adapter.ts`, `server-core.ts` (the shared state) and `loopback.ts`
 * (the server's own access). `kinds/` describes the served kinds, `custom/` adds those of
 * CustomResourceDefinitions, `outside/` calls webhooks, and `structured-merge/` tracks the owners of fields.
 * `controllers/` runs the workload controllers on the loopback. `cluster/` adds clients, which the rest of the
 * folder must not import.
 */
export { builtinKinds } from './kinds/builtin-kinds.js';
export { usedRoles } from './auth/used-rules.js';
export { isOpenPath, isSelfReview, ruleAllows, selfReviews } from './auth/policy-rule.js';
export type { PolicyRule, AccessAttributes } from './auth/policy-rule.js';
export { automanagedLabel } from './aggregation/api-services.js';
export { listenHttp } from './http-adapter.js';
export type {
  RequestHandler,
  ConnectionHandler,
  ListenSettings,
  Listener,
} from './http-adapter.js';
export type { Authorizer, Decision } from './auth/authorizer.js';
export type { ListenerAccess, RequestHead, Session } from './auth/asking.js';
export type { UserInfo } from './auth/authenticator.js';
export { EmbeddedApiServer } from './api-server.js';
export type { EmbeddedApiServerOptions, Entrance } from './api-server.js';
export type { FaultRule } from './faults.js';
export type { CommittedChange, Loopback } from './loopback.js';
export { StatusError, failure } from './status-error.js';
export { whenEstablished } from './cluster/established.js';
export { kubeConfigText } from './cluster/kube-config-text.js';
export { errorResponse } from './requests/body.js';
