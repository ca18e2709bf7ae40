import type { V1MutatingWebhook } from '@kubernetes/client-node';
import { parseUrl } from '../../crd/internal.js';
import type { FieldErrors } from '../../crd/internal.js';
import { deepEqual, label1035Problems, subdomainProblems } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import type { WebhookAddress } from '../outside/webhook-client.js';
import { validateServicePort } from './field-values.js';
import { typedRules } from './kind-rules.js';
import type { KindRules } from './kind-rules.js';
import { validateMatchConditions, validateRule } from './match-resources.js';
import { validateLabelSelector } from './metadata.js';

/** A mutating or validating webhook; a validating webhook has no `reinvocationPolicy`. */
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
  errors.each('webhooks', webhooks, (webhook, errors) => {
    validateName(webhook.name, errors.at('name'));
    if (webhook.name !== '' && names.has(webhook.name)) errors.duplicate('name', webhook.name);
    names.add(webhook.name);
    validateAnswers(webhook, errors);
    errors.each('rules', webhook.rules, validateRule);
    validateChoices(webhook, errors);
    validateMatchConditions(webhook.matchConditions ?? [], errors.at('matchConditions'));
    validateLabelSelector(webhook.namespaceSelector, errors.at('namespaceSelector'));
    validateLabelSelector(webhook.objectSelector, errors.at('objectSelector'));
    validateWebhookClient(webhook.clientConfig, errors.at('clientConfig'));
  });
}

function validateName(name: string, errors: FieldErrors): void {
  if (name === '') {
    errors.required('');
    return;
  }
  const problems = subdomainProblems(name);
  errors.invalidEach('', name, problems);
  if (problems.length > 0 || name.split('.').length >= 3) return;
  errors.invalid('', name, 'should be a domain with at least three segments separated by dots');
}

/**
 * Checks the list of review versions that a webhook declares, such as `admissionReviewVersions`.
 * @param missing - the detail of the error for an empty list
 */
export function validateReviewVersions(
  versions: readonly string[],
  missing: string,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  errors.each('', versions, (version, errors) => {
    if (seen.has(version)) errors.invalid('', version, 'duplicate version');
    else errors.invalidEach('', version, label1035Problems(version));
    seen.add(version);
  });
  if (versions.length === 0) {
    errors.required('', missing);
  } else if (!versions.some((version) => reviewVersions.includes(version))) {
    errors.invalid('', versions, `must include at least one of ${reviewVersions.join(', ')}`);
  }
}

function validateAnswers(webhook: Webhook, errors: FieldErrors): void {
  // The decoder sets a missing list to null, as Go does.
  const versions = (webhook.admissionReviewVersions as string[] | null) ?? [];
  const missing = `must specify one of ${reviewVersions.join(', ')}`;
  validateReviewVersions(versions, missing, errors.at('admissionReviewVersions'));
  const sideEffects = (webhook.sideEffects as string | null) ?? undefined;
  if (sideEffects === undefined) {
    errors.required('sideEffects', `must specify one of ${sideEffectClasses.join(', ')}`);
  } else errors.oneOf('sideEffects', sideEffects, sideEffectClasses);
}

const longestSeconds = 30;

function validateChoices(webhook: Webhook, errors: FieldErrors): void {
  const choices = {
    failurePolicy: ['Fail', 'Ignore'],
    matchPolicy: ['Equivalent', 'Exact'],
    reinvocationPolicy: ['IfNeeded', 'Never'],
  } as const;
  for (const member of ['failurePolicy', 'matchPolicy', 'reinvocationPolicy'] as const) {
    const { [member]: value } = webhook;
    const supported: readonly string[] = choices[member];
    errors.oneOf(member, value, supported);
  }
  const { timeoutSeconds: seconds = 1 } = webhook;
  if (seconds >= 1 && seconds <= longestSeconds) return;
  const why = `the timeout value must be between 1 and ${longestSeconds} seconds`;
  errors.invalid('timeoutSeconds', seconds, why);
}

export function validateWebhookClient(
  { url, service }: Pick<WebhookAddress, 'url' | 'service'>,
  errors: FieldErrors,
): void {
  if ((url === undefined) === (service === undefined)) {
    errors.required('', 'exactly one of url or service is required');
    return;
  }
  if (url !== undefined) validateUrl(url, errors.at('url'));
  if (service === undefined) return;
  if (service.name === '') errors.required('service.name');
  if (service.namespace === '') errors.required('service.namespace');
  validateServicePort(service.port ?? 443, errors.at('service.port'));
  validateServicePath(service.path ?? '', errors.at('service.path'));
}

function validateUrl(text: string, errors: FieldErrors): void {
  const form = '; desired format: https://host[/path]';
  const url = parseUrl(text);
  if (typeof url === 'string') {
    errors.required('', `url must be a valid URL: ${url}${form}`);
    return;
  }
  const { scheme, host, user, fragment, query } = url;
  if (scheme !== 'https') {
    errors.invalid('', scheme, `'https' is the only allowed URL scheme${form}`);
  }
  if (host === '') errors.invalid('', host, `host must be specified${form}`);
  const forbid = (part: string, what: string): void =>
    errors.invalid('', part, `${what} not permitted in the URL`);
  if (user !== undefined) forbid(user, 'user information is');
  if (fragment !== '') forbid(fragment, 'fragments are');
  if (query !== '') forbid(query, 'query parameters are');
}

/** Checks a path of a Service: names between slashes. */
function validateServicePath(path: string, errors: FieldErrors): void {
  if (path === '' || path === '/') return;
  if (path === '//') {
    errors.invalid('', path, 'segment[0] may not be empty');
    return;
  }
  if (!path.startsWith('/')) errors.invalid('', path, "must start with a '/'");
  // Like the real server, drop the first character, whatever it is.
  const steps = path.slice(1).replace(/\/$/, '').split('/');
  for (const [index, step] of steps.entries()) {
    const at = `segment[${index}]`;
    if (step === '') errors.invalid('', path, `${at} may not be empty`);
    else
      for (const problem of subdomainProblems(step)) errors.invalid('', path, `${at}: ${problem}`);
  }
}

function webhookRules(mutating: boolean): KindRules {
  return typedRules<Webhooks>({
    defaults: (object) => defaultWebhooks(object, mutating),
    validate: validateWebhooks,
    unconditionalUpdate: false,
    specChanged: (object, old) => !deepEqual(object.webhooks, old.webhooks),
    emptyListsCount: { member: 'webhooks', defaulted: [] },
  });
}

const group = 'admissionregistration.k8s.io/v1';

export const admissionRules: Readonly<Record<string, KindRules>> = {
  [`${group}/ValidatingWebhookConfiguration`]: webhookRules(false),
  [`${group}/MutatingWebhookConfiguration`]: webhookRules(true),
};
