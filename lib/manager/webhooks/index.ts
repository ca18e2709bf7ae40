/*
 * Admission and conversion webhooks.
 *
 *   API server ──► webhook-server.ts ──► webhook-handlers.ts ──► reviews.ts ──► webhook.ts (the user's handler)
 *
 * The certificate comes from `certificate-source.ts`: files, or `generated-certificates.ts` with its Secret;
 * `trust.ts` gives its authority to the API server. `webhook-configurations.ts` builds the objects that
 * register the webhooks.
 */
export {
  allowed,
  denied,
  mutated,
  field,
  invalid,
  conversionWebhook,
  mutatingWebhook,
  validatingWebhook,
} from './webhook.js';
export type {
  AdmissionContext,
  AdmissionOperation,
  AdmissionRequest,
  AdmissionUser,
  Allowed,
  DenialCause,
  DenialOptions,
  Denied,
  Mutated,
  AdmissionWebhook,
  AdmissionWebhookOptions,
  ConversionWebhook,
  FailurePolicy,
  MatchCondition,
  MutatingHandler,
  MutatingWebhookOptions,
  ValidatingHandler,
  Webhook,
} from './webhook.js';
export { certificateFiles } from './certificate-source.js';
export type {
  CertificateFilesOptions,
  CertificateContext,
  CertificateSource,
  ServingCertificate,
} from './certificate-source.js';
export { generatedCertificates } from './generated-certificates.js';
export type { GeneratedCertificatesOptions } from './generated-certificates.js';
export type { TrustTargets } from './trust.js';
export { conversionClientConfig, webhookConfigurations } from './webhook-configurations.js';
export type {
  WebhookAddress,
  WebhookConfiguration,
  WebhookConfigurationsOptions,
  WebhookEntry,
  WebhookRule,
} from './webhook-configurations.js';
export { WebhookServer } from './webhook-server.js';
export type { WebhookServerOptions } from './webhook-server.js';
