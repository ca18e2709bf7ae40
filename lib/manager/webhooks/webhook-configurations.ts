import { isDeepStrictEqual } from 'node:util';
import type { WebhookClientConfig } from '../../crd/definition/custom-resource.js';
import type { ResourceType } from '../../object/resource-type.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { AdmissionWebhook, Webhook } from './webhook.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import type { OptionNames } from '../../system/known-options.js';

/** Address at which the API server reaches the webhooks. */
export type WebhookAddress =
  | {
      /** The Service in front of the webhook server. */
      readonly service: {
        readonly namespace: string;
        readonly name: string;
        /** @defaultValue 443 */
        readonly port?: number | undefined;
      };
    }
  /** Base URL without a path, such as `https://127.0.0.1:9443`. */
  | { readonly url: string };

/** Options of {@link webhookConfigurations}. */
export interface WebhookConfigurationsOptions {
  /** Name of the configurations. */
  readonly name: string;
  readonly address: WebhookAddress;
  /** CA bundle in PEM that the API server trusts. @defaultValue omitted: `generatedCertificates` sets it */
  readonly authorities?: string | undefined;
}

/** A ValidatingWebhookConfiguration or MutatingWebhookConfiguration. */
export interface WebhookConfiguration extends KubernetesObject {
  readonly webhooks: readonly WebhookEntry[];
}

/** A webhook of a {@link WebhookConfiguration}, in the format of the API. */
export interface WebhookEntry {
  readonly name: string;
  readonly rules: readonly WebhookRule[];
  readonly [field: string]: unknown;
}

/** The requests that a {@link WebhookEntry} is called for. */
export interface WebhookRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly resources: readonly string[];
  readonly operations: readonly string[];
  readonly scope?: string;
}

/**
 * Returns the configurations that register the validating and mutating `webhooks`, at most one of each kind.
 * Conversion webhooks are registered in the CRD: see {@link conversionClientConfig}.
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
      webhooks: withMatchPolicies(
        own.map((webhook) => entryOf(webhook, options)),
        webhooks,
      ),
    };
  });
}

/**
 * Returns the entries with `matchPolicy: Exact` where it is not set and each version of the kind has an entry
 * for the same requests. With `Equivalent`, the server's default, each request would be sent to all of them,
 * with conversions of objects that are not validated yet.
 * @param webhooks - webhooks whose resources list their versions, such as `conversionWebhook`
 */
export function withMatchPolicies(
  entries: readonly WebhookEntry[],
  webhooks: readonly Webhook[],
): readonly WebhookEntry[] {
  const versionsOf = (rule: WebhookRule): readonly string[] =>
    webhooks.flatMap(({ resource }) =>
      'versions' in resource && isAbout(rule, resource) ? resource.versions : [],
    );
  return entries.map((entry) => {
    const { rules, matchPolicy } = entry;
    const [rule] = rules;
    if (matchPolicy !== undefined || rule === undefined || rules.length > 1) return entry;
    const versions = new Set(versionsOf(rule));
    const isCovered = [...versions].every((version) =>
      entries.some((each) => asksAsMuch(each, { entry, rule, version })),
    );
    return versions.size > 1 && isCovered ? { ...entry, matchPolicy: 'Exact' } : entry;
  });
}

function isAbout(
  { apiGroups, resources }: WebhookRule,
  { group, plural }: { readonly group: string; readonly plural: string },
): boolean {
  return apiGroups.includes(group) && resources.includes(plural);
}

/** Returns whether an entry covers all requests of another one, in another version. */
function asksAsMuch(
  { rules: [own], ...one }: WebhookEntry,
  other: { readonly entry: WebhookEntry; readonly rule: WebhookRule; readonly version: string },
): boolean {
  const filtersOf = (entry: Omit<WebhookEntry, 'rules'>): unknown => [
    ...[entry['objectSelector'], entry['namespaceSelector'], entry['matchConditions']],
  ];
  const { apiGroups, resources, operations } = other.rule;
  return (
    own !== undefined &&
    isDeepStrictEqual([own.apiGroups, own.resources], [apiGroups, resources]) &&
    own.apiVersions.includes(other.version) &&
    operations.every((operation) => own.operations.includes(operation)) &&
    isDeepStrictEqual(filtersOf(one), filtersOf(other.entry))
  );
}

/** Returns the client config of the conversion webhook, for `crdWithWebhook` of a custom resource. */
export function conversionClientConfig(
  options: Omit<WebhookConfigurationsOptions, 'name'>,
): WebhookClientConfig {
  refuseUnknownOptions('conversionClientConfig', options, addressNames);
  return clientConfigOf('/convert', options);
}

const addressNames: OptionNames<Omit<WebhookConfigurationsOptions, 'name'>> = {
  ...{ address: true, authorities: true },
};

function entryOf(webhook: AdmissionWebhook, options: WebhookConfigurationsOptions): WebhookEntry {
  const { name, path, resource, operations, failurePolicy, timeoutSeconds, sideEffects } = webhook;
  const { objectSelector, namespaceSelector, matchConditions, reinvocationPolicy } = webhook;
  const { matchPolicy } = webhook;
  return {
    name,
    clientConfig: clientConfigOf(path, options),
    rules: [ruleOf(resource, operations)],
    failurePolicy,
    timeoutSeconds,
    sideEffects,
    admissionReviewVersions: ['v1'],
    ...(matchPolicy !== undefined && { matchPolicy }),
    ...(reinvocationPolicy !== undefined && { reinvocationPolicy }),
    ...(matchConditions !== undefined && { matchConditions }),
    ...(objectSelector !== undefined && { objectSelector }),
    ...(namespaceSelector !== undefined && { namespaceSelector }),
  };
}

function ruleOf(
  { group, version, plural, namespaced }: ResourceType<KubernetesObject>,
  operations: readonly string[],
): WebhookRule {
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
