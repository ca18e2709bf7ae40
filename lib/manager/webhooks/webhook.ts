import type { Convertible } from '../../crd/convertible.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { LabelSelector } from '../../object/label-selector.js';
import type { ResourceType } from '../../object/resource-type.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import { OperatorError } from '../../system/operator-error.js';
import type {
  AdmissionContext,
  AdmissionOperation,
  AdmissionRequest,
  Allowed,
  Denied,
  Mutated,
} from './admission.js';

/** What the API server does with a request when a webhook can't be asked, or fails. */
export type FailurePolicy = 'Fail' | 'Ignore';

/** A CEL expression over `object`, `oldObject` and `request` that must hold before a webhook is asked. */
export interface MatchCondition {
  /** A qualified name, unique in its webhook, for example `not-by-the-operator`. */
  readonly name: string;
  /** For example `request.userInfo.username != 'system:serviceaccount:shop:operator'`. */
  readonly expression: string;
}

/** Options of {@link validatingWebhook}. */
export interface AdmissionWebhookOptions {
  /** Which requests it is asked about; at least one. @defaultValue CREATE and UPDATE */
  readonly operations?: readonly AdmissionOperation[] | undefined;
  /** The full name in its configuration. @defaultValue for example `vparseabletenant.parseable.io` */
  readonly name?: string | undefined;
  /** Where it is served. @defaultValue kubebuilder's, such as `/validate-parseable-io-v1beta1-parseabletenant` */
  readonly path?: string | undefined;
  /** @defaultValue 'Fail' */
  readonly failurePolicy?: FailurePolicy | undefined;
  /** How long the API server waits for it, in seconds, 1 to 30. @defaultValue 10 */
  readonly timeoutSeconds?: number | undefined;
  /**
   * What happens to requests in other versions of the kind. `Equivalent`: the API server converts the
   * object and asks this webhook, too. `Exact`: it asks about the webhook's own version only.
   * @defaultValue 'Exact' where every version of a defined resource has such a webhook, of the same
   * operations, selectors and conditions; otherwise 'Equivalent', so that no version evades it
   */
  readonly matchPolicy?: 'Equivalent' | 'Exact' | undefined;
  /** Only requests for which all of these hold; up to 64. @defaultValue all */
  readonly matchConditions?: readonly MatchCondition[] | undefined;
  /** Only objects that match, by their labels. @defaultValue all */
  readonly objectSelector?: LabelSelector | undefined;
  /** Only objects of namespaces that match, by their labels. @defaultValue all */
  readonly namespaceSelector?: LabelSelector | undefined;
  /**
   * Whether the handler changes anything outside of the request. `NoneOnDryRun`: it does, except when
   * the request's `dryRun` is set. @defaultValue 'None'
   */
  readonly sideEffects?: 'None' | 'NoneOnDryRun' | undefined;
}

/** Options of {@link mutatingWebhook}. */
export interface MutatingWebhookOptions extends AdmissionWebhookOptions {
  /**
   * `IfNeeded`: the API server asks it again if another webhook changes the object after it.
   * @defaultValue 'Never'
   */
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded' | undefined;
}

/** Decides about a request. It must not change anything, and must be quick: a user waits. */
export type ValidatingHandler<T extends KubernetesObject> = (
  request: AdmissionRequest<T>,
  context: AdmissionContext,
) => Allowed | Denied | Promise<Allowed | Denied>;

/**
 * Completes the object of a request. It may be asked twice about one request, so that it must leave
 * alone what it has done already.
 */
export type MutatingHandler<T extends KubernetesObject> = (
  request: AdmissionRequest<T>,
  context: AdmissionContext,
) => Allowed | Denied | Mutated<T> | Promise<Allowed | Denied | Mutated<T>>;

/** A webhook that decides about requests, or completes their objects. */
export interface AdmissionWebhook {
  readonly type: 'validating' | 'mutating';
  readonly name: string;
  readonly path: string;
  readonly resource: ResourceType<KubernetesObject>;
  readonly operations: readonly AdmissionOperation[];
  readonly failurePolicy: FailurePolicy;
  readonly timeoutSeconds: number;
  readonly sideEffects: 'None' | 'NoneOnDryRun';
  readonly matchPolicy: AdmissionWebhookOptions['matchPolicy'];
  readonly matchConditions: AdmissionWebhookOptions['matchConditions'];
  readonly objectSelector: AdmissionWebhookOptions['objectSelector'];
  readonly namespaceSelector: AdmissionWebhookOptions['namespaceSelector'];
  /** Undefined for a validating one. */
  readonly reinvocationPolicy: MutatingWebhookOptions['reinvocationPolicy'];
  readonly handler: MutatingHandler<KubernetesObject>;
}

/** A webhook that converts the objects of a custom resource between its versions. */
export interface ConversionWebhook {
  readonly type: 'conversion';
  readonly name: string;
  readonly path: string;
  readonly resource: Convertible;
}

/** What a {@link WebhookServer} serves. */
export type Webhook = AdmissionWebhook | ConversionWebhook;

/**
 * A webhook that decides whether objects of `resource` may be stored.
 * @throws OperatorError `InvalidOption`: an option is out of its range.
 */
export function validatingWebhook<T extends KubernetesObject>(
  resource: ResourceType<T>,
  handler: ValidatingHandler<T>,
  options: AdmissionWebhookOptions = {},
): Webhook {
  return admissionWebhook({ type: 'validating', resource, handler }, options);
}

/**
 * A webhook that completes objects of `resource` before they are validated and stored.
 * @throws OperatorError `InvalidOption`: an option is out of its range.
 */
export function mutatingWebhook<T extends KubernetesObject>(
  resource: ResourceType<T>,
  handler: MutatingHandler<T>,
  options: MutatingWebhookOptions = {},
): Webhook {
  return admissionWebhook({ type: 'mutating', resource, handler }, options);
}

/** A webhook that converts `resource`; several custom resources share its path `/convert`. */
export function conversionWebhook(resource: Convertible): Webhook {
  const name = `${resource.plural}.${resource.group}`;
  return { type: 'conversion', name, path: '/convert', resource };
}

interface AdmissionParts<T extends KubernetesObject> {
  readonly type: 'validating' | 'mutating';
  readonly resource: ResourceType<T>;
  readonly handler: MutatingHandler<T>;
}

function admissionWebhook<T extends KubernetesObject>(
  { type, resource, handler }: AdmissionParts<T>,
  options: MutatingWebhookOptions,
): Webhook {
  const { operations = ['CREATE', 'UPDATE'], failurePolicy = 'Fail' } = options;
  const { name = defaultName(type, resource), path = defaultPath(type, resource) } = options;
  const { timeoutSeconds = 10, objectSelector, namespaceSelector } = options;
  const { sideEffects = 'None', matchPolicy, matchConditions, reinvocationPolicy } = options;
  const settings = { name, path, operations, failurePolicy, timeoutSeconds, sideEffects };
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
    // Only ever given objects of its own type: the server checks group, version and kind.
    handler: handler as unknown as MutatingHandler<KubernetesObject>,
  };
}

/** The API server would refuse the same, but only when the configuration is applied. */
function problemOf(
  settings: Pick<
    AdmissionWebhook,
    'name' | 'path' | 'operations' | 'timeoutSeconds' | 'matchConditions'
  >,
): string | undefined {
  const { name, path, operations, timeoutSeconds, matchConditions = [] } = settings;
  if (operations.length === 0) return 'operations is empty: name at least one';
  if (!path.startsWith('/')) return `path ${path}: it has to begin with /`;
  if (name.split('.').length < 3) return 'name: the API server wants at least three parts';
  if (!(Number.isInteger(timeoutSeconds) && timeoutSeconds >= 1 && timeoutSeconds <= 30)) {
    return `timeoutSeconds ${timeoutSeconds}: want 1 to 30`;
  }
  if (matchConditions.length > 64) return `matchConditions: want 64 at most`;
  const conditions = matchConditions.map((condition) => condition.name);
  const twice = conditions.find((each, index) => conditions.indexOf(each) !== index);
  if (twice !== undefined) return `matchConditions: ${twice} is there twice; name each differently`;
  const empty = matchConditions.find(({ expression }) => expression.trim() === '');
  return empty && `matchConditions: ${empty.name} has no expression`;
}

/** Kubebuilder's names: `v` for validating, `m` for mutating. */
function defaultName(
  type: 'validating' | 'mutating',
  { group, kind }: ResourceType<KubernetesObject>,
): string {
  return `${type.charAt(0)}${kind.toLowerCase()}.${group === '' ? 'core.k8s.io' : group}`;
}

/** Kubebuilder's paths, so that manifests of a Go operator fit. */
function defaultPath(
  type: 'validating' | 'mutating',
  { group, version, kind }: ResourceType<KubernetesObject>,
): string {
  const verb = type === 'validating' ? 'validate' : 'mutate';
  return `/${verb}-${group.replaceAll('.', '-')}-${version}-${kind.toLowerCase()}`;
}
