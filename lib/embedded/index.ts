/*
 * The entry `operator-builder/apiserver`: the API server of `apiserver/` with its controllers, clients and a
 * clock. Read `embedded-cluster.ts`, then `embedded-cluster-options.ts`.
 */
export {
  EmbeddedApiServer,
  StatusError,
  isStatusError,
  usedRoles,
  usedRolesText,
} from '../apiserver/index.js';
export type {
  AccessAttributes,
  Authorizer,
  CommittedChange,
  Decision,
  EmbeddedApiServerOptions,
  Fault,
  FaultEffect,
  FaultMatch,
  FaultRule,
  Faults,
  ListenAddress,
  ListenOptions,
  ListenTls,
  ListenerAccess,
  PolicyRule,
  RequestHead,
  Session,
  UsedRole,
  UsedRolesOptions,
  UserInfo,
  UserOptions,
  Verb,
  RequestHandler,
  WebhookServices,
  Loopback,
  LoopbackDeleteOptions,
  InProcessOptions,
  LoopbackPutOptions,
  LoopbackWriteOptions,
  PutObject,
  RequestEntry,
  RequestLog,
  RequestMark,
  StoreSnapshot,
} from '../apiserver/index.js';
export {
  controllerNames,
  podBehaviorAnnotation,
  startControllers,
} from '../apiserver/controllers/index.js';
export type {
  ControllerName,
  Controllers,
  ControllersOptions,
  PodBehavior,
  PodOptions,
} from '../apiserver/controllers/index.js';
export { EmbeddedCluster } from './embedded-cluster.js';
export type { EmbeddedClientOptions, SettledOptions } from './embedded-cluster.js';
export type { EmbeddedClusterOptions, WithDefinition } from './embedded-cluster-options.js';
