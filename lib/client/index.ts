export { createClient } from './http-client.js';
export type { ConnectedClient } from './http-client.js';
export type { Call } from './call.js';
export type { ClientOptions, ClientSettings } from './client-options.js';
export { anonymous, basicAuth, bearerToken, tokenFile } from './credentials.js';
export type { CredentialHeaders, Credentials } from './credentials.js';
export { defaultClient, clientInCluster } from './default-client.js';
export type { InClusterClientOptions } from './default-client.js';
export { clientFromKubeConfig } from './kube-config.js';
export type { KubeConfigClientOptions } from './kube-config.js';
export type { Environment, KubeConfigSource } from './kube-config-file.js';
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
export type {
  CreateOrUpdateOptions,
  CreateOrUpdateResult,
  FinalizerOptions,
  RetryOnConflictOptions,
} from './object-changes.js';
export { dryRun, fenced, forwarding, namespaced, withFieldManager } from './client-wrappers.js';
export { ensureCrd } from './ensure-crd.js';
export type { EnsureCrdOptions } from './ensure-crd.js';
export { faulty, writeVerbs } from './faulty.js';
export type {
  FailingFault,
  Fault,
  FaultRule,
  FaultyClient,
  FaultyOptions,
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
  StreamOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.js';
export { podLog, podLogLines } from './pod-log.js';
export type { PodLogLinesOptions, PodLogOptions } from './pod-log.js';
export type { RateLimit, RetryLimits } from './request-limits.js';
export { waitFor } from './wait-for.js';
export type { WaitForOptions } from './wait-for.js';
