import { isDeepStrictEqual } from 'node:util';
import { getIfExists } from '../../client/index.js';
import type { Client } from '../../client/index.js';
import type { WebhookClientConfig } from '../../crd/internal.js';
import { CustomResourceDefinition, keyOf } from '../../object/index.js';
import type { KubernetesObject } from '../../object/index.js';
import {
  systemClock,
  refuseUnknownOptions,
  silentLogger,
  systemRandom,
  OperatorError,
  createAuthority,
  issueCertificate,
} from '../../system/index.js';
import type { OptionNames, Logger } from '../../system/index.js';
import type { CertificateSource } from './certificate-source.js';
import { WebhookServer } from './webhook-server.js';
import type { AdmissionWebhook, Webhook } from './webhook.js';

/** Address at which the API server reaches the webhooks. */
export type WebhookAddress =
  | {
      /** The Service in front of the webhook server. */
      readonly service: {
        readonly namespace: string;
        readonly name: string;
        /** The port of the Service. @defaultValue 443 */
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
 * @throws OperatorError `InvalidOption`: two webhooks of one configuration have the same name.
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
    refuseSharedNames(own);
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

/** The API server refuses a configuration in which two webhooks have the same name. */
function refuseSharedNames(webhooks: readonly AdmissionWebhook[]): void {
  const seen = new Map<string, AdmissionWebhook>();
  for (const webhook of webhooks) {
    const { name, path } = webhook;
    const other = seen.get(name);
    if (other !== undefined) {
      const message = `webhooks ${other.path} and ${path} are both called ${name}`;
      const remedy = 'give one of them another name, for example with its version';
      throw new OperatorError('InvalidOption', `${message}: ${remedy}`);
    }
    seen.set(name, webhook);
  }
}

/**
 * Returns the entries. An entry without `matchPolicy` gets `Exact` if each other version of its kind has at least as
 * many entries as its own version for the same requests, with the same failure policy. With `Equivalent`, the default,
 * the API server would send each request to the entries of all versions, and convert objects before their validation.
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
    const countOf = (version: string): number =>
      entries.filter((each) => asksAsMuch(each, { entry, rule, version })).length;
    // With `Exact`, requests in a version with fewer webhooks would evade one of the checks.
    const ownCount = Math.max(...rule.apiVersions.map(countOf));
    const isCovered = [...versions].every((version) => countOf(version) >= ownCount);
    return versions.size > 1 && isCovered ? { ...entry, matchPolicy: 'Exact' } : entry;
  });
}

function isAbout(
  { apiGroups, resources }: WebhookRule,
  { group, plural }: { readonly group: string; readonly plural: string },
): boolean {
  return apiGroups.includes(group) && resources.includes(plural);
}

/** Returns whether `one` covers, in the version `other.version`, all requests that `other.entry` covers. */
function asksAsMuch(
  { rules: [own], ...one }: WebhookEntry,
  other: { readonly entry: WebhookEntry; readonly rule: WebhookRule; readonly version: string },
): boolean {
  const filtersOf = (entry: Omit<WebhookEntry, 'rules'>): unknown => [
    ...[entry['objectSelector'], entry['namespaceSelector'], entry['matchConditions']],
    entry['failurePolicy'],
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
  const { name, path, failurePolicy, timeoutSeconds, sideEffects } = webhook;
  const { objectSelector, namespaceSelector, matchConditions, reinvocationPolicy } = webhook;
  const { matchPolicy } = webhook;
  return {
    name,
    clientConfig: clientConfigOf(path, options),
    rules: [ruleOf(webhook)],
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

function ruleOf({ resource, operations, subresource }: AdmissionWebhook): WebhookRule {
  const { group, version, plural, namespaced } = resource;
  return {
    apiGroups: [group],
    apiVersions: [version],
    resources: [subresource === undefined ? plural : `${plural}/${subresource}`],
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

/** Options of {@link serveLocalWebhooks}. */
export interface LocalWebhooksOptions {
  /** Name of the configurations; existing ones are replaced. @defaultValue 'local-webhooks' */
  readonly name?: string | undefined;
  /** @defaultValue no logs */
  readonly logger?: Logger | undefined;
}

/** Webhooks that are served on this machine. */
export interface LocalWebhooks {
  /** Base URL, such as `https://127.0.0.1:41234`. */
  readonly url: string;
  /** Stops serving. The written configurations remain: they are meant to end with the cluster. */
  stop(): Promise<void>;
}

const dayMs = 24 * 60 * 60_000;

/**
 * Serves webhooks on a free port of 127.0.0.1 for an API server on this machine, such as an embedded one in a
 * test. It writes the webhook configurations, and the conversion into the existing CustomResourceDefinitions, in
 * place of those of a deployed operator.
 * @throws the error of a request
 */
export async function serveLocalWebhooks(
  client: Client,
  webhooks: readonly Webhook[],
  options: LocalWebhooksOptions = {},
): Promise<LocalWebhooks> {
  const { name = 'local-webhooks', logger = silentLogger } = options;
  refuseUnknownOptions<LocalWebhooksOptions>('serveLocalWebhooks', options, { name, logger });
  const { authority, certificates } = await localCertificates();
  const server = new WebhookServer({ webhooks, certificates, port: 0, host: '127.0.0.1' });
  const stopping = new AbortController();
  const running = await started(server, stopping.signal, logger);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running.ended;
  };
  try {
    const address = { url: server.url ?? '' };
    const trusted = { address, authorities: authority };
    for (const configuration of webhookConfigurations(webhooks, { name, ...trusted })) {
      await replaceConfiguration(client, configuration, name);
    }
    // The API server accepts a URL or a service, not both. The definition of a deployed operator names a service.
    const clientConfig = { ...conversionClientConfig(trusted), service: null };
    const webhook = { clientConfig, conversionReviewVersions: ['v1'] };
    const body = { spec: { conversion: { strategy: 'Webhook', webhook } } };
    for (const conversion of webhooks.filter(({ type }) => type === 'conversion')) {
      const key = { name: conversion.name };
      await client.patch(CustomResourceDefinition, key, { type: 'merge', body });
    }
    return { url: address.url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Creates a configuration, or replaces all webhooks of one with the same name, such as of a deployed operator. */
async function replaceConfiguration(
  client: Client,
  configuration: WebhookConfiguration,
  fieldManager: string,
): Promise<void> {
  const { webhooks } = configuration;
  const key = keyOf(configuration);
  if ((await getIfExists(client, configuration, key)) === undefined) {
    await client.create(configuration, { fieldManager });
    return;
  }
  // Not an apply, which would keep the address that another field manager has set.
  await client.patch(configuration, key, { type: 'merge', body: { webhooks } }, { fieldManager });
}

async function localCertificates(): Promise<{
  readonly authority: string;
  readonly certificates: CertificateSource;
}> {
  const nowMs = systemClock.now();
  const validity = { fromMs: nowMs - dayMs, untilMs: nowMs + 365 * dayMs };
  const options = { validity, random: systemRandom };
  const authority = await createAuthority('local webhooks', options);
  const issued = await issueCertificate(authority, ['localhost', '127.0.0.1'], options);
  return {
    authority: authority.certificate,
    certificates: { start: () => Promise.resolve(issued) },
  };
}

/** @throws the error that ended the server before it was ready */
async function started(
  server: WebhookServer,
  signal: AbortSignal,
  logger: Logger,
): Promise<{ readonly ended: Promise<void> }> {
  let ended = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    ended = server.run({ signal, logger, ready: resolve });
    ended.catch(reject);
  });
  return { ended };
}
