import type { V1MutatingWebhook } from '@kubernetes/client-node';
import { parseUrl } from '../../crd/internal.js';
import type { FieldErrors } from '../../crd/internal.js';
import { deepEqual, label1035Problems, subdomainProblems } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { validateServicePort } from './field-values.js';
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
    errors.each(`${field}.rules`, webhook.rules, validateRule);
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

/**
 * Checks the versions of reviews that a webhook understands.
 * @param missing - the detail of the error for an empty list
 */
export function validateReviewVersions(
  versions: readonly string[],
  path: string,
  { missing, errors }: { readonly missing: string; readonly errors: FieldErrors },
): void {
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) errors.invalid(`${path}[${index}]`, version, 'duplicate version');
    else errors.invalidEach(`${path}[${index}]`, version, label1035Problems(version));
    seen.add(version);
  }
  if (versions.length === 0) {
    errors.required(path, missing);
  } else if (!versions.some((version) => reviewVersions.includes(version))) {
    const why = `must include at least one of ${reviewVersions.join(', ')}`;
    errors.invalid(path, versions, why);
  }
}

function validateAnswers(webhook: Webhook, field: string, errors: FieldErrors): void {
  // Go's zero values are null.
  const versions = (webhook.admissionReviewVersions as string[] | null) ?? [];
  const missing = `must specify one of ${reviewVersions.join(', ')}`;
  validateReviewVersions(versions, `${field}.admissionReviewVersions`, { missing, errors });
  const sideEffects = (webhook.sideEffects as string | null) ?? undefined;
  if (sideEffects === undefined) {
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
    | {
        readonly name: string;
        readonly namespace: string;
        readonly path?: string | undefined;
        readonly port?: number | undefined;
      }
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
  validateServicePort(service.port ?? 443, `${field}.service.port`, errors);
  validateServicePath(service.path ?? '', `${field}.service.path`, errors);
}

function validateUrl(text: string, field: string, errors: FieldErrors): void {
  const form = '; desired format: https://host[/path]';
  const url = parseUrl(text);
  if (typeof url === 'string') {
    errors.required(field, `url must be a valid URL: ${url}${form}`);
    return;
  }
  const { scheme, host, user, fragment, query } = url;
  if (scheme !== 'https') {
    errors.invalid(field, scheme, `'https' is the only allowed URL scheme${form}`);
  }
  if (host === '') errors.invalid(field, host, `host must be specified${form}`);
  const forbid = (part: string, what: string): void =>
    errors.invalid(field, part, `${what} not permitted in the URL`);
  if (user !== undefined) forbid(user, 'user information is');
  if (fragment !== '') forbid(fragment, 'fragments are');
  if (query !== '') forbid(query, 'query parameters are');
}

/** Checks a path of a Service: names between slashes. */
function validateServicePath(path: string, field: string, errors: FieldErrors): void {
  if (path === '' || path === '/') return;
  if (path === '//') {
    errors.invalid(field, path, 'segment[0] may not be empty');
    return;
  }
  if (!path.startsWith('/')) errors.invalid(field, path, "must start with a '/'");
  // As the real server, drop the first character, whatever it is.
  const steps = path.slice(1).replace(/\/$/, '').split('/');
  for (const [index, step] of steps.entries()) {
    const at = `segment[${index}]`;
    if (step === '') errors.invalid(field, path, `${at} may not be empty`);
    else
      for (const problem of subdomainProblems(step))
        errors.invalid(field, path, `${at}: ${problem}`);
  }
}

function webhookRules(mutating: boolean): KindRules {
  return typedRules<Webhooks>(
    { defaults: (object) => defaultWebhooks(object, mutating), validate: validateWebhooks },
    {
      unconditionalUpdate: false,
      specChanged: (object, old) => !deepEqual(object['webhooks'], old['webhooks']),
      emptyListsCount: { member: 'webhooks', defaulted: [] },
    },
  );
}

const group = 'admissionregistration.k8s.io/v1';

/** The rules of webhook configurations. */
export const admissionRules: Readonly<Record<string, KindRules>> = {
  [`${group}/ValidatingWebhookConfiguration`]: webhookRules(false),
  [`${group}/MutatingWebhookConfiguration`]: webhookRules(true),
};
