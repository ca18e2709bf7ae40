import type { Convertible } from '../../crd/index.js';
import { FieldErrors } from '../../crd/internal.js';
import type { KubernetesObject, LabelSelector, ResourceType } from '../../object/index.js';
import { groupOf } from '../../object/index.js';
import { refuseUnknownOptions, OperatorError } from '../../system/index.js';
import type { Logger, Resolved } from '../../system/index.js';

/** The API server's reaction to a webhook that is unreachable or fails. */
export type FailurePolicy = 'Fail' | 'Ignore';

/**
 * A CEL expression over `object`, `oldObject` and `request` that must be true for the webhook to be called.
 */
export interface MatchCondition {
  /** A qualified name, unique in its webhook, such as `not-by-the-operator`. */
  readonly name: string;
  /** Such as `request.userInfo.username != 'system:serviceaccount:shop:operator'`. */
  readonly expression: string;
}

/** Options of {@link validatingWebhook}. */
export interface AdmissionWebhookOptions {
  /** Operations to call the webhook for; at least one. @defaultValue CREATE and UPDATE */
  readonly operations?: readonly AdmissionOperation[] | undefined;
  /**
   * Calls the webhook for this subresource in place of the object, for example `eviction` of Pods or `scale`. The
   * handler gets the object of the request, such as an `Eviction`. @defaultValue the object itself
   */
  readonly subresource?: string | undefined;
  /** Full name in the configuration. @defaultValue generated, such as `vparseabletenant.parseable.io` */
  readonly name?: string | undefined;
  /** URL path. @defaultValue kubebuilder's, such as `/validate-parseable-io-v1beta1-parseabletenant` */
  readonly path?: string | undefined;
  /**
   * Whether requests are refused (`Fail`) or admitted (`Ignore`) if the call of the webhook fails: its handler
   * throws, or does not answer in time.
   * @defaultValue 'Fail'
   */
  readonly failurePolicy?: FailurePolicy | undefined;
  /** Timeout of the API server's call, in seconds, 1 to 30. @defaultValue 10 */
  readonly timeoutSeconds?: number | undefined;
  /**
   * Treatment of requests in other versions of the kind. `Equivalent`: the API server converts the object and
   * calls this webhook too. `Exact`: it calls the webhook only for its own version.
   * @defaultValue 'Exact' if every version of a defined resource has such a webhook with the same operations,
   * selectors and conditions; otherwise 'Equivalent', so that no version evades it
   */
  readonly matchPolicy?: 'Equivalent' | 'Exact' | undefined;
  /** Call the webhook only if all these conditions are true; up to 64. @defaultValue all requests */
  readonly matchConditions?: readonly MatchCondition[] | undefined;
  /** Select objects by their labels. @defaultValue all */
  readonly objectSelector?: LabelSelector | undefined;
  /** Select objects by the labels of their namespace. @defaultValue all */
  readonly namespaceSelector?: LabelSelector | undefined;
  /**
   * Effects of the handler outside of the request. `NoneOnDryRun`: it has such effects, except if the
   * request's `dryRun` is set. @defaultValue 'None'
   */
  readonly sideEffects?: 'None' | 'NoneOnDryRun' | undefined;
}

/** Options of {@link mutatingWebhook}. */
export interface MutatingWebhookOptions extends AdmissionWebhookOptions {
  /**
   * `IfNeeded`: the API server calls the webhook again if another webhook changes the object after it.
   * @defaultValue 'Never'
   */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded' | undefined;
}

/** Allows or denies a request. It must not change anything, and must be fast: the client waits. */
export type ValidatingHandler<T extends KubernetesObject> = (
  request: AdmissionRequest<T>,
  context: AdmissionContext,
) => Allowed | Denied | Promise<Allowed | Denied>;

/** Completes the object of a request. It may be called twice for one request, so it must be idempotent. */
export type MutatingHandler<T extends KubernetesObject> = (
  request: AdmissionRequest<T>,
  context: AdmissionContext,
) => Allowed | Denied | Mutated<T> | Promise<Allowed | Denied | Mutated<T>>;

/** A webhook that validates requests or mutates their objects. */
export interface AdmissionWebhook extends Resolved<
  MutatingWebhookOptions,
  | 'subresource'
  | 'matchPolicy'
  | 'matchConditions'
  | 'objectSelector'
  | 'namespaceSelector'
  | 'reinvocationPolicy'
> {
  readonly type: 'validating' | 'mutating';
  readonly resource: ResourceType<KubernetesObject>;
  readonly handler: MutatingHandler<KubernetesObject>;
}

/** A webhook that converts a custom resource between its versions. */
export interface ConversionWebhook {
  readonly type: 'conversion';
  readonly name: string;
  readonly path: string;
  readonly resource: Convertible;
}

/** A webhook that a manager serves. */
export type Webhook = AdmissionWebhook | ConversionWebhook;

/**
 * Returns a webhook that decides whether objects of `resource` may be stored.
 * @throws OperatorError `InvalidOption`: an option is out of its range.
 */
export function validatingWebhook<T extends KubernetesObject>(
  resource: ResourceType<T>,
  handler: ValidatingHandler<T>,
  options: AdmissionWebhookOptions = {},
): Webhook {
  return admissionWebhook('validating', resource, handler, options);
}

/**
 * Returns a webhook that completes objects of `resource` before they are validated and stored.
 * @throws OperatorError `InvalidOption`: an option is out of its range.
 */
export function mutatingWebhook<T extends KubernetesObject>(
  resource: ResourceType<T>,
  handler: MutatingHandler<T>,
  options: MutatingWebhookOptions = {},
): Webhook {
  return admissionWebhook('mutating', resource, handler, options);
}

/** Returns a webhook that converts `resource`. All custom resources share the path `/convert`. */
export function conversionWebhook(resource: Convertible): Webhook {
  const name = `${resource.plural}.${resource.group}`;
  return { type: 'conversion', name, path: '/convert', resource };
}

function admissionWebhook<T extends KubernetesObject>(
  type: 'validating' | 'mutating',
  resource: ResourceType<T>,
  handler: MutatingHandler<T>,
  options: MutatingWebhookOptions,
): Webhook {
  // A circular import passes undefined, and a reference of only apiVersion and kind lacks the plural.
  const { plural } = (resource as Partial<ResourceType<KubernetesObject>> | undefined) ?? {};
  if (typeof plural !== 'string' || typeof handler !== 'function') {
    const wanted = 'want a resource, such as ConfigMap, then a handler';
    throw new OperatorError('InvalidOption', `${type}Webhook: ${wanted}`);
  }
  const { operations = ['CREATE', 'UPDATE'], failurePolicy = 'Fail' } = options;
  const { subresource } = options;
  const place = { type, resource, subresource };
  const { name = defaultName(place), path = defaultPath(place) } = options;
  const { timeoutSeconds = 10, objectSelector, namespaceSelector } = options;
  const { sideEffects = 'None', matchPolicy, matchConditions, reinvocationPolicy } = options;
  const rule = { operations, subresource };
  const settings = { name, path, ...rule, failurePolicy, timeoutSeconds, sideEffects };
  const matching = { matchPolicy, matchConditions, objectSelector, namespaceSelector };
  const names = { ...settings, ...matching };
  if (type === 'mutating') {
    const all = { ...names, reinvocationPolicy };
    refuseUnknownOptions<MutatingWebhookOptions>(`webhook ${name}`, options, all);
  } else refuseUnknownOptions<AdmissionWebhookOptions>(`webhook ${name}`, options, names);
  const problem = problemOf({ ...settings, matchConditions });
  if (problem !== undefined)
    throw new OperatorError('InvalidOption', `webhook ${name}: ${problem}`);
  return {
    ...{ type, resource, ...settings, ...matching, reinvocationPolicy },
    // Safe: the webhook server checks group, version and kind before it calls the handler.
    handler: handler as unknown as MutatingHandler<KubernetesObject>,
  };
}

/** Returns a problem that the API server would report only when the configuration is applied. */
function problemOf(
  settings: Pick<
    AdmissionWebhook,
    | ('name' | 'path' | 'operations' | 'subresource')
    | ('failurePolicy' | 'timeoutSeconds' | 'matchConditions')
  >,
): string | undefined {
  const { name, path, operations, failurePolicy, timeoutSeconds } = settings;
  const { matchConditions = [], subresource } = settings;
  if (operations.length === 0) return 'operations is empty: name at least one';
  const known = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT', '*'];
  const other = [...operations].find((operation) => !known.includes(operation));
  if (other !== undefined) {
    return `operations: want CREATE, UPDATE, DELETE or CONNECT, got ${JSON.stringify(other)}`;
  }
  if (subresource !== undefined && !/^[a-z]+$/.test(subresource)) {
    return `subresource: want a name such as eviction, got ${JSON.stringify(subresource)}`;
  }
  if (!['Fail', 'Ignore'].includes(failurePolicy)) {
    return `failurePolicy: want Fail or Ignore, got ${JSON.stringify(failurePolicy)}`;
  }
  if (!path.startsWith('/')) return `path ${path}: it has to begin with /`;
  if (name.split('.').length < 3)
    return 'name: want at least three parts, separated by dots, such as check.shops.example.com';
  if (!(Number.isInteger(timeoutSeconds) && timeoutSeconds >= 1 && timeoutSeconds <= 30)) {
    return `timeoutSeconds ${timeoutSeconds}: want 1 to 30`;
  }
  if (matchConditions.length > 64) return `matchConditions: want 64 at most`;
  const conditions = matchConditions.map((condition) => condition.name);
  const twice = conditions.find((each, index) => conditions.indexOf(each) !== index);
  if (twice !== undefined)
    return `matchConditions: the name ${twice} occurs twice; name each condition differently`;
  const empty = matchConditions.find(({ expression }) => expression.trim() === '');
  return empty && `matchConditions: ${empty.name} has no expression`;
}

interface WebhookPlace {
  readonly type: 'validating' | 'mutating';
  readonly resource: ResourceType<KubernetesObject>;
  readonly subresource: string | undefined;
}

/**
 * Returns kubebuilder's name: prefix `v` for validating, `m` for mutating. Built-in groups such as `apps` get a domain,
 * since the name needs three parts.
 */
function defaultName({ type, resource: { group, kind }, subresource }: WebhookPlace): string {
  const whole = group.includes('.') ? group : `${group || 'core'}.k8s.io`;
  const part = subresource === undefined ? '' : `-${subresource}`;
  return `${type.charAt(0)}${kind.toLowerCase()}${part}.${whole}`;
}

/** Returns kubebuilder's path, so that the manifests of a Go operator fit. */
function defaultPath({ type, resource, subresource }: WebhookPlace): string {
  const { group, version, kind } = resource;
  const verb = type === 'validating' ? 'validate' : 'mutate';
  const part = subresource === undefined ? '' : `-${subresource}`;
  return `/${verb}-${group.replaceAll('.', '-')}-${version}-${kind.toLowerCase()}${part}`;
}

/** Operation on the object of an admission request. */
export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** The user that sent the request. */
export interface AdmissionUser {
  readonly username: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A request for admission (admission.k8s.io/v1 AdmissionRequest). */
export interface AdmissionRequest<T extends KubernetesObject = KubernetesObject> {
  readonly uid: string;
  readonly operation: AdmissionOperation;
  /** The object to be stored; undefined for a DELETE. Frozen. */
  readonly object: T | undefined;
  /** The stored object; undefined for a CREATE. Frozen. */
  readonly oldObject: T | undefined;
  readonly namespace: string | undefined;
  /** Empty if the server has not generated the name yet. */
  readonly name: string;
  /** Such as `status`; undefined for the object itself. */
  readonly subResource: string | undefined;
  readonly user: AdmissionUser;
  /** If true, nothing is stored, and the handler must have no side effects. */
  readonly dryRun: boolean;
}

/** Second argument of an admission handler. */
export interface AdmissionContext {
  /** Aborted when the API server no longer waits for the response. */
  readonly signal: AbortSignal;
  /** Adds the webhook, kind, namespace, name and the request's uid to each line. */
  readonly logger: Logger;
}

/** A field that is a reason for a denial. */
export interface DenialCause {
  /** Path of the field, such as `spec.nodes[0].type`. */
  readonly field: string;
  readonly message: string;
  /** Such as `FieldValueInvalid`. @defaultValue 'FieldValueInvalid' */
  readonly reason?: string | undefined;
}

/** Options of {@link denied}. */
export interface DenialOptions {
  /** HTTP status for the user's client. @defaultValue 403, or 422 with `causes` */
  readonly code?: number | undefined;
  /** Reason in the Status, such as `Conflict`. @defaultValue 'Forbidden', or 'Invalid' with `causes` */
  readonly reason?: string | undefined;
  readonly causes?: readonly DenialCause[] | undefined;
  /** Warnings for the user's client. @defaultValue none */
  readonly warnings?: readonly string[] | undefined;
}

/** Result that allows a request. */
export interface Allowed {
  readonly type: 'allowed';
  readonly warnings: readonly string[];
}

/** Result that denies a request. */
export interface Denied {
  readonly type: 'denied';
  readonly message: string;
  readonly code: number;
  readonly reason: string;
  readonly causes: readonly DenialCause[];
  readonly warnings: readonly string[];
}

/** Result that allows a request with a changed object. */
export interface Mutated<T extends KubernetesObject = KubernetesObject> {
  readonly type: 'mutated';
  readonly object: T;
  readonly warnings: readonly string[];
}

/** Allows a request; `warnings` are shown to the user's client. */
export function allowed(warnings: readonly string[] = []): Allowed {
  return { type: 'allowed', warnings };
}

/** Denies a request; `message` is shown to the user after the webhook's name. */
export function denied(message: string, options: DenialOptions = {}): Denied {
  const { causes = [], warnings = [] } = options;
  const { code = causes.length > 0 ? 422 : 403 } = options;
  const { reason = causes.length > 0 ? 'Invalid' : 'Forbidden' } = options;
  const names = { code, reason, causes, warnings };
  refuseUnknownOptions<DenialOptions>('denied', options, names);
  return { type: 'denied', message, code, reason, causes, warnings };
}

/** Allows a request with `object` instead of the object that was sent. */
export function mutated<T extends KubernetesObject>(
  object: T,
  warnings: readonly string[] = [],
): Mutated<T> {
  return { type: 'mutated', object, warnings };
}

/**
 * Creates the causes of a denial for {@link invalid}, with the reasons and messages of Kubernetes' own
 * validation. The first argument is the path of the field, such as `spec.nodes[0].type`.
 */
export const field = {
  /** The field is missing or empty. */
  required: (path: string, detail?: string): DenialCause =>
    causeOf((errors) => errors.required(path, detail)),
  /** The value breaks the rule in `detail`, such as `must be a cron schedule`. */
  invalid: (path: string, value: unknown, detail: string): DenialCause =>
    causeOf((errors) => errors.invalid(path, value, detail)),
  /** The value is not one of the supported ones. */
  notSupported: (path: string, value: unknown, supported: readonly string[]): DenialCause =>
    causeOf((errors) => errors.notSupported(path, value, supported)),
  /** The field must not be set or changed, for the reason in `detail`. */
  forbidden: (path: string, detail: string): DenialCause =>
    causeOf((errors) => errors.forbidden(path, detail)),
  /** The value occurs twice where values must be unique. */
  duplicate: (path: string, value: unknown): DenialCause =>
    causeOf((errors) => errors.duplicate(path, value)),
  /** The value names an object that does not exist. */
  notFound: (path: string, value: unknown, detail?: string): DenialCause =>
    causeOf((errors) => errors.notFound(path, value, detail)),
  /** The text has more bytes than `limit`. */
  tooLong: (path: string, limit: number): DenialCause =>
    causeOf((errors) => errors.tooLong(path, limit)),
  /** The list has more items than `limit`. */
  tooMany: (path: string, count: number, limit: number): DenialCause =>
    causeOf((errors) => errors.tooMany(path, count, limit)),
} as const;

/**
 * Denies `object` like a schema violation: 422 `Invalid`, with a message that names the object and each
 * field.
 *
 * @example
 * ```ts
 * validatingWebhook(CronJob, ({ object }) => {
 *   if (object === undefined || isCron(object.spec.schedule)) return allowed();
 *   const { schedule } = object.spec;
 *   return invalid(object, [field.invalid('spec.schedule', schedule, 'must be a cron schedule')]);
 * });
 * ```
 */
export function invalid(
  { apiVersion, kind, metadata }: KubernetesObject,
  causes: readonly DenialCause[],
): Denied {
  const group = groupOf(apiVersion);
  const texts = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const text = texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`;
  const subject = `${group === '' ? kind : `${kind}.${group}`} "${metadata.name ?? ''}"`;
  return denied(`${subject} is invalid: ${text}`, { code: 422, reason: 'Invalid', causes });
}

function causeOf(report: (errors: FieldErrors) => void): DenialCause {
  const errors = new FieldErrors();
  report(errors);
  const [{ field: path = '', message = '', reason } = {}] = errors.causes;
  return { field: path, message, reason };
}
