import type { WebhookClientConfig } from '../../crd/definition/custom-resource.js';
import type { ResourceType } from '../../object/resource-type.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { AdmissionWebhook, Webhook } from './webhook.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import type { OptionNames } from '../../system/known-options.js';

/** Where the API server finds the webhooks. */
export type WebhookAddress =
  | {
      /** The Service in front of them. */
      readonly service: {
        readonly namespace: string;
        readonly name: string;
        /** @defaultValue 443 */
        readonly port?: number | undefined;
      };
    }
  /** For example `https://127.0.0.1:9443`, without a path. */
  | { readonly url: string };

/** Options of {@link webhookConfigurations}. */
export interface WebhookConfigurationsOptions {
  /** The name of the configurations. */
  readonly name: string;
  readonly address: WebhookAddress;
  /** Whom the API server trusts, in PEM. @defaultValue left out: `generatedCertificates` fills it in */
  readonly authorities?: string | undefined;
}

/** A ValidatingWebhookConfiguration or MutatingWebhookConfiguration. */
export interface WebhookConfiguration extends KubernetesObject {
  readonly webhooks: readonly unknown[];
}

/**
 * The objects that make the API server ask the validating and mutating ones of `webhooks`; at most
 * one of each kind. What is converted is said in the CRD: see {@link conversionClientConfig}.
 */
export function webhookConfigurations(
  webhooks: readonly Webhook[],
  options: WebhookConfigurationsOptions,
): readonly WebhookConfiguration[] {
  const names = { name: true, ...addressNames };
  refuseUnknownOptions<WebhookConfigurationsOptions>('webhookConfigurations', options, names);
  return (['mutating', 'validating'] as const).flatMap((type) => {
    const own = webhooks.filter((each) => each.type === type) as readonly AdmissionWebhook[];
    if (own.length === 0) return [];
    const kind =
      type === 'mutating' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration';
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind,
      metadata: { name: options.name },
      webhooks: own.map((webhook) => entryOf(webhook, options)),
    };
  });
}

/** How the API server reaches the conversion webhook, for `crdWithWebhook` of a custom resource. */
export function conversionClientConfig(
  options: Omit<WebhookConfigurationsOptions, 'name'>,
): WebhookClientConfig {
  refuseUnknownOptions('conversionClientConfig', options, addressNames);
  return clientConfigOf('/convert', options);
}

const addressNames: OptionNames<Omit<WebhookConfigurationsOptions, 'name'>> = {
  ...{ address: true, authorities: true },
};

function entryOf(webhook: AdmissionWebhook, options: WebhookConfigurationsOptions): unknown {
  const { name, path, resource, operations, failurePolicy, timeoutSeconds } = webhook;
  const { objectSelector, namespaceSelector } = webhook;
  return {
    name,
    clientConfig: clientConfigOf(path, options),
    rules: [ruleOf(resource, operations)],
    failurePolicy,
    timeoutSeconds,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...(objectSelector !== undefined && { objectSelector }),
    ...(namespaceSelector !== undefined && { namespaceSelector }),
  };
}

function ruleOf(
  { group, version, plural, namespaced }: ResourceType<KubernetesObject>,
  operations: readonly string[],
): unknown {
  return {
    apiGroups: [group],
    apiVersions: [version],
    resources: [plural],
    operations,
    scope: namespaced ? 'Namespaced' : 'Cluster',
  };
}

function clientConfigOf(
  path: string,
  { address, authorities }: Omit<WebhookConfigurationsOptions, 'name'>,
): WebhookClientConfig {
  const caBundle =
    authorities === undefined ? {} : { caBundle: Buffer.from(authorities).toString('base64') };
  if ('url' in address) return { url: `${address.url}${path}`, ...caBundle };
  const { namespace, name, port = 443 } = address.service;
  return { service: { namespace, name, port, path }, ...caBundle };
}
