/*
 * Managers: everything that runs in the process of an operator.
 *
 * Read `manager.ts` (what users add), `manager-entries.ts` (the added items and their status), then
 * `manager-run.ts`, which starts in order: servers, webhooks, caches, items of each replica, items of the
 * leader. `runnable.ts` and `controller-group.ts` are the started groups, `managed-cluster.ts` is a cluster
 * with its cache. `leader-election.ts`, on `lease-claim.ts` and `lease.ts`, decides who leads;
 * `manager-health.ts` answers probes, on `http-endpoint.ts`. Folders: `access/` (RBAC), `inspector/`,
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
export type { HealthOptions } from './manager-health.js';
export { LeaderElector, electionAccess } from './leader-election.js';
export { Manager } from './manager.js';
export { untilSignal } from './manager-run.js';
export { refuseOther } from './manager-entries.js';
export type { Added, ManagerAddOptions, ManagerStatus } from './manager-entries.js';
export type { OperatorDefinition, OperatorResource } from './operator-webhooks.js';
export { operatorWebhooks, operatorWebhookNames } from './operator-webhooks.js';
export { misplacedManagerOptions } from './manager-options.js';
export type { ManagerOptions } from './manager-options.js';
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
export type { Runnable, RunnableContext } from './runnable.js';
export { migrationAccess, storageMigration } from './storage-migration.js';
export {
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
  AdmissionWebhookOptions,
  Allowed,
  CertificateSource,
  ConversionWebhook,
  DenialCause,
  Denied,
  Mutated,
  Webhook,
  WebhookConfiguration,
  WebhookEntry,
} from './webhooks/index.js';
export { OperatorRole, accessRules } from './access/operator-role.js';
export type { AccessRules, MissingRule } from './access/operator-role.js';
export { allowTheSame, normalRules, ruleLines } from './access/role-rules.js';
export { isLoopback } from './inspector/bind-inspector.js';
export { serveLocalWebhooks, withMatchPolicies } from './webhooks/webhook-configurations.js';
export type { LocalWebhooks } from './webhooks/webhook-configurations.js';
export { WebhookHandlers, WebhookMetrics } from './webhooks/webhook-handlers.js';
