import type {
  V1MatchResources,
  V1MutatingWebhook,
  V1NamedRuleWithOperations,
} from '@kubernetes/client-node';
import type { CelProgram } from '../../crd/internal.js';
import { CelError } from '../../crd/internal.js';
import type { UnstructuredObject, Wire } from '../../object/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import { aggregated, forbidden, notFound } from '../status-error.js';
import type { Collection, MvccLog } from '../storage/mvcc-log.js';
import { isEmptySelector, selects } from '../rules/metadata.js';
import { admissionReview, compileAdmission, jsonValue, rightsOf } from './admission-review.js';
import type { AdmissionAttributes } from './admission-review.js';

/** A rule of a policy or a webhook. Rules of webhooks have no resource names. */
type Rule = Wire<V1NamedRuleWithOperations>;
type Selectors = Pick<Wire<V1MatchResources>, 'objectSelector' | 'namespaceSelector'>;

/**
 * Returns the kind in the version in which `webhook` receives the written object; undefined if the webhook does not
 * match the write.
 * @throws StatusError 404: the namespace of the write does not exist; 403: a match condition fails to evaluate.
 */
export function invokedKind(
  core: ServerCore,
  { webhook, conditions }: ConfiguredWebhook,
  attributes: AdmissionAttributes,
): ServedKind | undefined {
  const { rules = [] } = webhook;
  const kind = matchedKind(core, { ...webhook, resourceRules: rules }, attributes);
  return kind !== undefined && conditions.hold(attributes, kind) ? kind : undefined;
}

/**
 * Returns the kind of a write in the version that a rule of `resources` matches; undefined if `resources` do not match
 * the write.
 * @throws StatusError 404: `resources` select namespaces by label, and the namespace of the write does not exist.
 */
export function matchedKind(
  core: ServerCore,
  resources: Wire<V1MatchResources>,
  attributes: AdmissionAttributes,
): ServedKind | undefined {
  if (isExempt(attributes.kind) || !objectSelected(resources, attributes)) return undefined;
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = resources;
  const kind = ruledKind(core, { rules: resourceRules, matchPolicy }, attributes);
  if (kind === undefined || !namespaceSelected(core, resources, attributes)) return undefined;
  const excluded = ruledKind(core, { rules: excludeResourceRules, matchPolicy }, attributes);
  return excluded === undefined ? kind : undefined;
}

/**
 * Returns whether a kind skips admission: an administrator must be able to remove a webhook or
 * policy that blocks everything.
 */
function isExempt({ type }: ServedKind): boolean {
  return (
    type.group === 'admissionregistration.k8s.io' &&
    /^(Validating|Mutating)(WebhookConfiguration|AdmissionPolicy(Binding)?)$/.test(type.kind)
  );
}

function ruledKind(
  core: ServerCore,
  {
    rules,
    matchPolicy,
  }: { readonly rules: readonly Rule[]; readonly matchPolicy: string | undefined },
  attributes: AdmissionAttributes,
): ServedKind | undefined {
  const { kind } = attributes;
  if (rules.some((rule) => ruleMatches(rule, kind, attributes))) return kind;
  if (matchPolicy === 'Exact') return undefined;
  const others = [...core.kinds.all()].filter(
    (other) => other !== kind && other.collection === kind.collection,
  );
  for (const rule of rules) {
    const other = others.find((one) => ruleMatches(rule, one, attributes));
    if (other !== undefined) return other;
  }
  return undefined;
}

function ruleMatches(rule: Rule, { type }: ServedKind, attributes: AdmissionAttributes): boolean {
  const has = (values: readonly string[] | undefined, value: string): boolean =>
    values?.includes('*') === true || values?.includes(value) === true;
  return (
    has(rule.operations, attributes.operation) &&
    has(rule.apiGroups, type.group) &&
    has(rule.apiVersions, type.version) &&
    scopeMatches(rule, type, attributes) &&
    nameMatches(rule, attributes) &&
    (rule.resources ?? []).some((text) => resourceMatches(text, type.plural, attributes))
  );
}

function nameMatches({ resourceNames = [] }: Rule, { name }: AdmissionAttributes): boolean {
  return resourceNames.length === 0 || resourceNames.includes(name);
}

function scopeMatches(
  { scope = '*' }: Rule,
  { group, plural }: ServedKind['type'],
  { namespace }: AdmissionAttributes,
): boolean {
  if (scope === '*') return true;
  const clusterScoped = namespace === '' || (group === '' && plural === 'namespaces');
  return (scope === 'Cluster') === clusterScoped;
}

function resourceMatches(
  text: string,
  plural: string,
  { subresource }: AdmissionAttributes,
): boolean {
  const slash = text.indexOf('/');
  const [resource, sub] = slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)];
  const resourceFits = resource === '*' || resource === plural;
  return resourceFits && (sub === '*' || sub === subresource);
}

function objectSelected(
  { objectSelector = {} }: Selectors,
  attributes: AdmissionAttributes,
): boolean {
  if (isEmptySelector(objectSelector)) return true;
  // The object of a CONNECT is its options, which have no labels.
  if (attributes.operation === 'CONNECT') return false;
  return [attributes.object, attributes.old].some(
    (object) => object !== undefined && selects(objectSelector, object.metadata.labels) === true,
  );
}

function namespaceSelected(
  core: ServerCore,
  { namespaceSelector = {} }: Selectors,
  attributes: AdmissionAttributes,
): boolean {
  const { namespace, kind, object, operation, subresource } = attributes;
  const own = kind.type.group === '' && kind.type.plural === 'namespaces';
  if (namespace === '' && !own) return true;
  if (isEmptySelector(namespaceSelector)) return true;
  if (own && subresource === '' && operation !== 'DELETE') {
    return selects(namespaceSelector, object?.metadata.labels) === true;
  }
  const found = core.log.collection('namespaces').get(namespace);
  if (found === undefined) throw notFound({ group: '', plural: 'namespaces', name: namespace });
  return selects(namespaceSelector, found.metadata.labels) === true;
}

/** A mutating or validating webhook; a validating webhook has no `reinvocationPolicy`. */
export type Webhook = Wire<V1MutatingWebhook>;

/** A webhook and its identity in the configuration. */
export interface ConfiguredWebhook {
  /** The identity: the name of the configuration, the index in it, and the webhook's name. */
  readonly id: string;
  readonly webhook: Webhook;
  readonly conditions: MatchConditions;
}

const group = 'admissionregistration.k8s.io';

/** The currently configured webhooks. */
export class WebhookConfigurations {
  readonly #stored: Readonly<Record<'mutating' | 'validating', Collection>>;
  readonly #known = new Map<string, { end: number; webhooks: readonly ConfiguredWebhook[] }>();

  constructor(log: MvccLog) {
    this.#stored = {
      mutating: log.collection(`${group}/mutatingwebhookconfigurations`),
      validating: log.collection(`${group}/validatingwebhookconfigurations`),
    };
  }

  /** True if no webhook is configured. */
  get empty(): boolean {
    const { mutating, validating } = this.#stored;
    return mutating.size === 0 && validating.size === 0;
  }

  /** Returns all webhooks of a kind, ordered by the names of their configurations. */
  all(type: 'mutating' | 'validating'): readonly ConfiguredWebhook[] {
    const collection = this.#stored[type];
    const known = this.#known.get(type);
    if (known?.end === collection.end) return known.webhooks;
    const webhooks = collection.keys('').flatMap((key) => webhooksOf(collection.get(key)));
    this.#known.set(type, { end: collection.end, webhooks });
    return webhooks;
  }
}

function webhooksOf(configuration: UnstructuredObject | undefined): ConfiguredWebhook[] {
  if (configuration === undefined) return [];
  const { name = '' } = configuration.metadata;
  const webhooks = (configuration['webhooks'] ?? []) as readonly Webhook[];
  return webhooks.map((webhook, index) => ({
    id: `${name}/${index}/${webhook.name}`,
    webhook,
    conditions: new MatchConditions(webhook),
  }));
}

/** The `matchConditions` of a webhook, compiled at their first use. */
class MatchConditions {
  readonly #webhook: Webhook;
  #programs: readonly CelProgram[] | undefined;

  constructor(webhook: Webhook) {
    this.#webhook = webhook;
  }

  /**
   * Returns whether all conditions are true.
   * @throws StatusError 403: a condition fails to evaluate, no condition is false, and the failure
   *   policy is Fail.
   */
  hold(attributes: AdmissionAttributes, kind: ServedKind): boolean {
    const { matchConditions = [], failurePolicy } = this.#webhook;
    if (matchConditions.length === 0) return true;
    this.#programs ??= matchConditions.map(({ expression }) => compileAdmission(expression));
    const { request } = admissionReview(attributes, { webhook: this.#webhook, kind });
    const { object, oldObject, ...rest } = request;
    const values = {
      object: jsonValue(object),
      oldObject: jsonValue(oldObject),
      request: jsonValue(rest),
      // Conditions of webhooks have no access to the namespace.
      namespaceObject: null,
      ...rightsOf(attributes),
    };
    const problems: string[] = [];
    for (const [index, program] of this.#programs.entries()) {
      try {
        if (program.evaluate(values) === false) return false;
      } catch (error) {
        if (!(error instanceof CelError)) throw error;
        const { expression = '' } = matchConditions[index] ?? {};
        problems.push(`expression '${expression}' resulted in error: ${error.message}`);
      }
    }
    if (problems.length === 0) return true;
    if (failurePolicy === 'Ignore') return false;
    const { group, plural } = attributes.kind.type;
    throw forbidden({ group, plural, name: attributes.name }, aggregated(problems));
  }
}
