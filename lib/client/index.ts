export { createClient } from './http-client.js';
export type { ConnectedClient } from './http-client.js';
export type { Call } from './call.js';
export type { ClientOptions, ClientSettings } from './client-options.js';
export { anonymous, basicAuth, bearerToken } from './credentials.js';
export type { CredentialHeaders, Credentials } from './credentials.js';
export { defaultClient } from './default-client.js';
export { clientInCluster } from './in-cluster.js';
export type { InClusterClientOptions } from './in-cluster.js';
export { clientFromKubeConfig } from './kube-config.js';
export type { KubeConfigClientOptions } from './kube-config.js';
export type { Environment, KubeConfigSource } from './kube-config-file.js';
export { createOrPatch, createOrUpdate } from './create-or-update.js';
export type { CreateOrUpdateOptions, CreateOrUpdateResult } from './create-or-update.js';
export { dryRun } from './dry-run.js';
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
export type { Fence } from './fence.js';
export { fenced } from './fenced.js';
export { addFinalizer, removeFinalizer } from './finalizers.js';
export type { FinalizerOptions } from './finalizers.js';
export { forwarding } from './forwarding.js';
export { getIfExists } from './get-if-exists.js';
export { namespaced } from './namespaced.js';
export { podLog, podLogLines } from './pod-log.js';
export type { PodLogLinesOptions, PodLogOptions } from './pod-log.js';
export type { RateLimit } from './rate-limit.js';
export type { RetryLimits } from './retry-policy.js';
export { isStaleWrite, retryOnConflict } from './retry-on-conflict.js';
export type { RetryOnConflictOptions } from './retry-on-conflict.js';
export { setControllerReference } from './set-controller-reference.js';
export { waitFor } from './wait-for.js';
export type { WaitForOptions } from './wait-for.js';
export { withFieldManager } from './with-field-manager.js';
export type {
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
export { tokenFile } from './token-file.js';
