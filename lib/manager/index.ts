/*
 * Managers: everything that runs in the process of an operator.
 *
 * Read `manager.ts` (what users add), `manager-entries.ts` (the added items and their status), then
 * `manager-run.ts`, which starts in order: servers, webhooks, caches, items of each replica, items of the
 * leader. `runnable.ts` and `controller-group.ts` are the started groups, `managed-cluster.ts` is a cluster
 * with its cache. `leader-election.ts`, on `lease-claim.ts` and `lease.ts`, decides who leads;
 * `manager-health.ts` answers probes, on `http-endpoint.ts`. Rooms: `access/` (RBAC), `inspector/`,
 * `metrics/`, `sharding/` and `webhooks/`.
 */
export {
  builderAccess,
  checkRequiredAccess,
  ownVerbs,
  watchVerbs,
} from './access/required-access.js';
export type { AccessVerb, RequiredAccess } from './access/required-access.js';
export { missingAccess } from './access/preflight.js';
export type { PreflightMode } from './access/preflight.js';
export type { HealthCheck, HealthOptions } from './manager-health.js';
export type { InspectorOptions } from './inspector/index.js';
export { LeaderElector, electionAccess } from './leader-election.js';
export type {
  LeaderCallbacks,
  LeaderContext,
  LeaderElectionOptions,
  Leadership,
  LeadershipCallbacks,
} from './leader-election.js';
export type { LeaderElectorOptions } from './leader-election-options.js';
export { isLeaseForbidden, LeaseForbiddenError } from './lease.js';
export type { ManagerCacheOptions, ManagerCluster } from './managed-cluster.js';
export { Manager } from './manager.js';
export { untilSignal } from './manager-run.js';
export type {
  Added,
  ControllerPhase,
  ManagerAddOptions,
  ElectionStatus,
  ManagedClusterStatus,
  ManagedControllerStatus,
  ManagerPhase,
  ManagerStatus,
  RunnableStatus,
} from './manager-entries.js';
export type {
  OperatorDefinition,
  OperatorResource,
  OperatorWebhooksOptions,
} from './operator-webhooks.js';
export { operatorWebhooks, operatorWebhookNames } from './operator-webhooks.js';
export { misplacedManagerOptions } from './manager-options.js';
export type { ManagerOptions, ManagerWebhookOptions } from './manager-options.js';
export type { HttpAnswer, HttpQuestion } from './http-endpoint.js';
export { answerPosts } from './metrics/bind-metrics.js';
export type { MetricsOptions, PostAnswer } from './metrics/bind-metrics.js';
export {
  forwardedTokenHeader,
  metricsCertificate,
  operatorAudience,
} from './metrics/reviewed-access.js';
export type { Reviewed, ReviewedAccess, ReviewedUser } from './metrics/reviewed-access.js';
export { eventAccess, recorderEnd } from './runnable.js';
export type { Runnable, RunnableContext, RunnablePhase, RunnableState } from './runnable.js';
export { migrationAccess, storageMigration } from './storage-migration.js';
export type { MigratedKind, StorageMigrationOptions } from './storage-migration.js';
export { Sharding, shardSelector } from './sharding/index.js';
export type {
  MemberPhase,
  ShardBy,
  ShardingOptions,
  ShardingStatus,
  ShardRange,
  ShardsOptions,
} from './sharding/index.js';
export {
  WebhookServer,
  allowed,
  certificateFiles,
  conversionClientConfig,
  conversionWebhook,
  denied,
  field,
  generatedCertificates,
  invalid,
  mutated,
  mutatingWebhook,
  validatingWebhook,
  webhookConfigurations,
} from './webhooks/index.js';
export type {
  AdmissionContext,
  AdmissionOperation,
  AdmissionRequest,
  AdmissionUser,
  AdmissionWebhook,
  AdmissionWebhookOptions,
  Allowed,
  CertificateContext,
  CertificateFilesOptions,
  CertificateSource,
  ConversionWebhook,
  DenialCause,
  DenialOptions,
  Denied,
  FailurePolicy,
  GeneratedCertificatesOptions,
  Mutated,
  MatchCondition,
  MutatingHandler,
  MutatingWebhookOptions,
  ServingCertificate,
  TrustTargets,
  ValidatingHandler,
  Webhook,
  WebhookAddress,
  WebhookConfiguration,
  WebhookConfigurationsOptions,
  WebhookEntry,
  WebhookRule,
  WebhookServerOptions,
} from './webhooks/index.js';
export { OperatorRole, accessRules } from './access/operator-role.js';
export type { AccessRules, MissingRule } from './access/operator-role.js';
export { isLoopback } from './inspector/bind-inspector.js';
export { serveLocalWebhooks, withMatchPolicies } from './webhooks/webhook-configurations.js';
export type { LocalWebhooks } from './webhooks/webhook-configurations.js';
export { WebhookHandlers, WebhookMetrics } from './webhooks/webhook-handlers.js';
