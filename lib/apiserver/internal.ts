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
export { usedRoles, usedRolesText } from './auth/used-rules.js';
export type { UsedRole, UsedRolesOptions } from './auth/used-rules.js';
export { isOpenPath, isSelfReview, ruleAllows, selfReviews } from './auth/policy-rule.js';
export type { PolicyRule, AccessAttributes } from './auth/policy-rule.js';
export { automanagedLabel } from './aggregation/api-services.js';
export type { WebhookServices } from './outside/connections.js';
export { listenHttp } from './http-adapter.js';
export type {
  RequestHandler,
  ConnectionHandler,
  ListenAddress,
  ListenOptions,
  ListenSettings,
  ListenTls,
  Listener,
  InProcessOptions,
} from './http-adapter.js';
export type { StoreSnapshot } from './storage/mvcc-log.js';
export type { Authorizer, Decision } from './auth/authorizer.js';
export type { ListenerAccess, RequestHead, Session, Visitor } from './auth/asking.js';
export type { UserInfo, UserOptions } from './auth/authenticator.js';
export type { Verb } from './requests/request-info.js';
export { EmbeddedApiServer } from './api-server.js';
export type { EmbeddedApiServerOptions, Entrance } from './api-server.js';
export type { Fault, FaultEffect, FaultMatch, FaultRule, Faults } from './faults.js';
export type {
  CommittedChange,
  Loopback,
  LoopbackDeleteOptions,
  LoopbackPutOptions,
  LoopbackWriteOptions,
  PutObject,
} from './loopback.js';
export type { RequestEntry, RequestLog, RequestMark } from './request-log.js';
export { StatusError, isStatusError, failure } from './status-error.js';
export { whenEstablished } from './cluster/established.js';
export { kubeConfigText } from './cluster/kube-config-text.js';
export { errorResponse } from './requests/body.js';
