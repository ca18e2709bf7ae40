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
  AdmissionRequest,
  Allowed,
  DenialCause,
  Denied,
  Mutated,
  AdmissionWebhookOptions,
  ConversionWebhook,
  Webhook,
} from './webhook.js';
export { certificateFiles } from './certificate-source.js';
export type {
  CertificateContext,
  CertificateSource,
  ServingCertificate,
} from './certificate-source.js';
export { generatedCertificates } from './generated-certificates.js';
export type { GeneratedCertificatesOptions } from './generated-certificates.js';
export { conversionClientConfig, webhookConfigurations } from './webhook-configurations.js';
export type { WebhookConfiguration, WebhookEntry } from './webhook-configurations.js';
export { WebhookServer } from './webhook-server.js';
export type { WebhookServerOptions } from './webhook-server.js';
