import { isDeepStrictEqual } from 'node:util';
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
      webhooks: own.map((webhook) => ({
        ...entryOf(webhook, options),
        ...matchPolicyOf(webhook, own, webhooks),
      })),
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

function entryOf(webhook: AdmissionWebhook, options: WebhookConfigurationsOptions): object {
  const { name, path, resource, operations, failurePolicy, timeoutSeconds, sideEffects } = webhook;
  const { objectSelector, namespaceSelector, matchConditions, reinvocationPolicy } = webhook;
  return {
    name,
    clientConfig: clientConfigOf(path, options),
    rules: [ruleOf(resource, operations)],
    failurePolicy,
    timeoutSeconds,
    sideEffects,
    admissionReviewVersions: ['v1'],
    ...(reinvocationPolicy !== undefined && { reinvocationPolicy }),
    ...(matchConditions !== undefined && { matchConditions }),
    ...(objectSelector !== undefined && { objectSelector }),
    ...(namespaceSelector !== undefined && { namespaceSelector }),
  };
}

/**
 * `Exact` where each version of the kind has a webhook of its own for the same requests: `Equivalent`
 * would have all of them asked about each request, by way of conversions of objects that the schema
 * has not checked yet.
 */
function matchPolicyOf(
  webhook: AdmissionWebhook,
  own: readonly AdmissionWebhook[],
  all: readonly Webhook[],
): Partial<Pick<AdmissionWebhook, 'matchPolicy'>> {
  if (webhook.matchPolicy !== undefined) return { matchPolicy: webhook.matchPolicy };
  const { group, kind } = webhook.resource;
  const versions = all
    .filter(({ resource }) => resource.group === group && resource.kind === kind)
    .flatMap(({ resource }) => ('versions' in resource ? resource.versions : []));
  if (versions.length === 0) return {};
  const isCovered = versions.every((version) =>
    own.some((each) => each.resource.version === version && asksAsMuch(each, webhook)),
  );
  return isCovered && new Set(versions).size > 1 ? { matchPolicy: 'Exact' } : {};
}

/** Whether one webhook is asked about all that the other is, in its own version. */
function asksAsMuch(one: AdmissionWebhook, other: AdmissionWebhook): boolean {
  const filtersOf = ({ objectSelector, namespaceSelector, matchConditions }: AdmissionWebhook) => [
    ...[objectSelector, namespaceSelector, matchConditions],
  ];
  const { group, kind } = other.resource;
  return (
    one.resource.group === group &&
    one.resource.kind === kind &&
    other.operations.every((operation) => one.operations.includes(operation)) &&
    isDeepStrictEqual(filtersOf(one), filtersOf(other))
  );
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
