import type { V1MatchResources, V1NamedRuleWithOperations } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ServerCore } from '../server-core.js';
import { notFound } from '../status-error.js';
import { isEmptySelector, selects } from '../validation/label-selector.js';
import type { AdmissionAttributes } from './admission-attributes.js';
import type { ConfiguredWebhook } from './webhook-configurations.js';

/** A rule of a policy or a webhook. Rules of webhooks have no resource names. */
type Rule = Wire<V1NamedRuleWithOperations>;
type Selectors = Pick<Wire<V1MatchResources>, 'objectSelector' | 'namespaceSelector'>;

/**
 * Returns the version of the kind in which `webhook` receives the write; undefined if it does not
 * match.
 * @throws StatusError 404: the namespace for the selector does not exist; 403: a condition fails.
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
 * Returns the version of the kind in which `resources` match a write; undefined if they do not
 * match.
 * @throws StatusError 404: the namespace for the selector does not exist.
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
