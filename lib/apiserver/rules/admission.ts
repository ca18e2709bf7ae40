import type { V1MutatingWebhook } from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { deepEqual, label1035Problems, subdomainProblems } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import { validateMatchConditions, validateRule } from './match-resources.js';
import { validateLabelSelector } from './metadata.js';

/** The type of both webhooks; a validating webhook lacks `reinvocationPolicy`. */
type Webhook = Wire<V1MutatingWebhook>;

interface Webhooks {
  readonly webhooks?: readonly Webhook[];
}

function defaultWebhooks({ webhooks = [] }: Webhooks, mutating: boolean): void {
  for (const webhook of webhooks) {
    webhook.failurePolicy ??= 'Fail';
    webhook.matchPolicy ??= 'Equivalent';
    webhook.namespaceSelector ??= {};
    webhook.objectSelector ??= {};
    webhook.timeoutSeconds ??= 10;
    if (mutating) webhook.reinvocationPolicy ??= 'Never';
    for (const rule of webhook.rules ?? []) rule.scope ??= '*';
    const { service } = webhook.clientConfig;
    if (service !== undefined) service.port ??= 443;
  }
}

const reviewVersions = ['v1', 'v1beta1'];
const sideEffectClasses = ['None', 'NoneOnDryRun'];

function validateWebhooks({ webhooks = [] }: Webhooks, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, webhook] of webhooks.entries()) {
    const field = `webhooks[${index}]`;
    validateName(webhook.name, `${field}.name`, errors);
    if (webhook.name !== '' && names.has(webhook.name)) {
      errors.duplicate(`${field}.name`, webhook.name);
    }
    names.add(webhook.name);
    validateAnswers(webhook, field, errors);
    for (const [at, rule] of (webhook.rules ?? []).entries()) {
      validateRule(rule, `${field}.rules[${at}]`, errors);
    }
    validateChoices(webhook, field, errors);
    validateMatchConditions(webhook.matchConditions ?? [], `${field}.matchConditions`, errors);
    validateLabelSelector(webhook.namespaceSelector, `${field}.namespaceSelector`, errors);
    validateLabelSelector(webhook.objectSelector, `${field}.objectSelector`, errors);
    validateWebhookClient(webhook.clientConfig, `${field}.clientConfig`, errors);
  }
}

function validateName(name: string, field: string, errors: FieldErrors): void {
  if (name === '') {
    errors.required(field);
    return;
  }
  const problems = subdomainProblems(name);
  errors.invalidEach(field, name, problems);
  if (problems.length > 0 || name.split('.').length >= 3) return;
  errors.invalid(field, name, 'should be a domain with at least three segments separated by dots');
}

function validateAnswers(webhook: Webhook, field: string, errors: FieldErrors): void {
  // Go's zero values are null and an empty string.
  const versions = (webhook.admissionReviewVersions as string[] | null) ?? [];
  const path = `${field}.admissionReviewVersions`;
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) errors.invalid(`${path}[${index}]`, version, 'duplicate version');
    else errors.invalidEach(`${path}[${index}]`, version, label1035Problems(version));
    seen.add(version);
  }
  if (versions.length === 0) {
    errors.required(path, `must specify one of ${reviewVersions.join(', ')}`);
  } else if (!versions.some((version) => reviewVersions.includes(version))) {
    const why = `must include at least one of ${reviewVersions.join(', ')}`;
    errors.invalid(path, versions, why);
  }
  const sideEffects = (webhook.sideEffects as string | null) ?? '';
  if (sideEffects === '') {
    const why = `must specify one of ${sideEffectClasses.join(', ')}`;
    errors.required(`${field}.sideEffects`, why);
  } else errors.oneOf(`${field}.sideEffects`, sideEffects, sideEffectClasses);
}

const longestSeconds = 30;

function validateChoices(webhook: Webhook, field: string, errors: FieldErrors): void {
  const choices = {
    failurePolicy: ['Fail', 'Ignore'],
    matchPolicy: ['Equivalent', 'Exact'],
    reinvocationPolicy: ['IfNeeded', 'Never'],
  } as const;
  for (const member of ['failurePolicy', 'matchPolicy', 'reinvocationPolicy'] as const) {
    const { [member]: value } = webhook;
    const supported: readonly string[] = choices[member];
    errors.oneOf(`${field}.${member}`, value, supported);
  }
  const { timeoutSeconds: seconds = 1 } = webhook;
  if (seconds >= 1 && seconds <= longestSeconds) return;
  const why = `the timeout value must be between 1 and ${longestSeconds} seconds`;
  errors.invalid(`${field}.timeoutSeconds`, seconds, why);
}

/** The parts of a webhook's address that are checked. */
interface WebhookClientAddress {
  readonly url?: string | undefined;
  readonly service?:
    | { readonly name: string; readonly namespace: string; readonly path?: string | undefined }
    | undefined;
}

/** Checks the address of a webhook. */
export function validateWebhookClient(
  { url, service }: WebhookClientAddress,
  field: string,
  errors: FieldErrors,
): void {
  if ((url === undefined) === (service === undefined)) {
    errors.required(field, 'exactly one of url or service is required');
    return;
  }
  if (url !== undefined) validateUrl(url, `${field}.url`, errors);
  if (service === undefined) return;
  if (service.name === '') errors.required(`${field}.service.name`);
  if (service.namespace === '') errors.required(`${field}.service.namespace`);
  if (service.path !== undefined && !service.path.startsWith('/')) {
    const why = `must start with a '/'`;
    errors.invalid(`${field}.service.path`, service.path, why);
  }
}

function validateUrl(text: string, field: string, errors: FieldErrors): void {
  const form = 'desired format: https://host[/path]';
  // Go parses a path alone, too, absolute or relative.
  if ((text.startsWith('/') && !text.startsWith('//')) || /^[\w.!-]*$/.test(text)) {
    errors.invalid(field, '', `'https' is the only allowed URL scheme; ${form}`);
    errors.invalid(field, '', `host must be specified; ${form}`);
    return;
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) {
    errors.required(field, `url must be a valid URL: ${text}; ${form}`);
    return;
  }
  if (url.protocol !== 'https:') {
    const why = `'https' is the only allowed URL scheme; ${form}`;
    errors.invalid(field, url.protocol.replace(':', ''), why);
  }
  if (url.username !== '') {
    errors.invalid(field, url.username, `user information is not permitted in the URL; ${form}`);
  }
  if (url.hash !== '') {
    errors.invalid(field, url.hash.slice(1), `fragments are not permitted in the URL; ${form}`);
  }
  if (url.search !== '') {
    const why = `query parameters are not permitted in the URL; ${form}`;
    errors.invalid(field, url.search.slice(1), why);
  }
}

function webhookRules(mutating: boolean): KindRules {
  return typedRules<Webhooks>(
    { defaults: (object) => defaultWebhooks(object, mutating), validate: validateWebhooks },
    {
      unconditionalUpdate: false,
      specChanged: (object, old) => !deepEqual(object['webhooks'], old['webhooks']),
      emptyListsCount: 'webhooks',
    },
  );
}

const group = 'admissionregistration.k8s.io/v1';

/** The rules of webhook configurations. */
export const admissionRules: Readonly<Record<string, KindRules>> = {
  [`${group}/ValidatingWebhookConfiguration`]: webhookRules(false),
  [`${group}/MutatingWebhookConfiguration`]: webhookRules(true),
};
