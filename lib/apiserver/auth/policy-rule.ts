import type { V1PolicyRule } from '@kubernetes/client-node';
import { parseFieldSelector } from '../../object/index.js';
import type { Wire } from '../../object/index.js';
import { isOperatorError } from '../../system/index.js';
import type { RequestInfo } from '../requests/request-info.js';

export type PolicyRule = Wire<V1PolicyRule>;

const all = '*';

function has(values: readonly string[] | undefined, value: string): boolean {
  return values?.includes(value) === true;
}

function hasOrAll(values: readonly string[] | undefined, value: string): boolean {
  return has(values, all) || has(values, value);
}

function resourceMatches(
  { resources = [] }: PolicyRule,
  resource: string,
  subresource: string,
): boolean {
  if (has(resources, all) || has(resources, resource)) return true;
  return subresource !== '' && has(resources, `*/${subresource}`);
}

function pathMatches({ nonResourceURLs = [] }: PolicyRule, path: string): boolean {
  return nonResourceURLs.some((url) => urlCovers(url, path));
}

function urlCovers(owner: string, path: string): boolean {
  if (owner === all || owner === path) return true;
  return owner.endsWith(all) && path.startsWith(owner.replace(/\*+$/, ''));
}

/** Returns whether `rule` allows a request with these `attributes`. */
export function ruleAllows(rule: PolicyRule, attributes: AccessAttributes): boolean {
  if (!hasOrAll(rule.verbs, attributes.verb)) return false;
  if (attributes.path !== undefined) return pathMatches(rule, attributes.path);
  const { group, resource, subresource, name } = attributes;
  const combined = subresource === '' ? resource : `${resource}/${subresource}`;
  if (!hasOrAll(rule.apiGroups, group) || !resourceMatches(rule, combined, subresource)) {
    return false;
  }
  const { resourceNames = [] } = rule;
  return resourceNames.length === 0 || resourceNames.includes(name);
}

/** Returns the parts of `wanted`, each with one verb and one resource, that no rule of `owned` covers. */
export function uncovered(
  owned: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] {
  return wanted
    .flatMap((rule) => breakDown(rule))
    .filter((part) => !owned.some((rule) => covers(rule, part)));
}

function breakDown(rule: PolicyRule): PolicyRule[] {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const verbs = (rule.verbs as string[] | null) ?? [];
  const parts: PolicyRule[] = [];
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const part = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (resourceNames.length === 0) parts.push(part);
        else parts.push(...resourceNames.map((name) => ({ ...part, resourceNames: [name] })));
      }
    }
  }
  for (const url of nonResourceURLs) {
    for (const verb of verbs) parts.push({ nonResourceURLs: [url], verbs: [verb] });
  }
  return parts;
}

/** Returns whether `owner` allows everything in `part`, which has at most one value per field. */
function covers(owner: PolicyRule, part: PolicyRule): boolean {
  const [verb = ''] = part.verbs;
  if (!hasOrAll(owner.verbs, verb)) return false;
  const [url] = part.nonResourceURLs ?? [];
  if (url !== undefined) return (owner.nonResourceURLs ?? []).some((own) => urlCovers(own, url));
  const [group = ''] = part.apiGroups ?? [];
  const [resource = ''] = part.resources ?? [];
  if (!hasOrAll(owner.apiGroups, group)) return false;
  const slash = resource.indexOf('/');
  if (!resourceMatches(owner, resource, slash < 0 ? '' : resource.slice(slash + 1))) return false;
  const { resourceNames: owned = [] } = owner;
  const [name] = part.resourceNames ?? [];
  return owned.length === 0 || (name !== undefined && owned.includes(name));
}

/** Formats rules for messages: one rule per resource with all its verbs, sorted. */
export function describeRules(parts: readonly PolicyRule[]): string {
  const merged = new Map<string, PolicyRule>();
  for (const { verbs, ...rest } of parts) {
    const key = JSON.stringify(rest);
    // Rules for paths are not merged.
    const id = rest.nonResourceURLs === undefined ? key : `${key} ${verbs.join()}`;
    const known = merged.get(id);
    merged.set(id, { ...rest, verbs: [...(known?.verbs ?? []), ...verbs] });
  }
  const texts = [...merged.values()].map((rule) => describe(rule));
  return [...new Set(texts)].sort().join('\n');
}

const shown = [
  ['APIGroups', 'apiGroups'],
  ['Resources', 'resources'],
  ['NonResourceURLs', 'nonResourceURLs'],
  ['ResourceNames', 'resourceNames'],
  ['Verbs', 'verbs'],
] as const;

function describe(rule: PolicyRule): string {
  const members = shown.flatMap(([name, member]) => {
    const values = rule[member] ?? [];
    return values.length === 0 ? [] : [`${name}:${quotedList(values)}`];
  });
  return `{${members.join(', ')}}`;
}

/** Formats a list of strings as Go prints it: `["a" "b"]`. */
export function quotedList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}

/** The attributes of a request that authorization checks. */
export interface AccessAttributes {
  readonly verb: string;
  readonly group: string;
  /** The plural of the resource. */
  readonly resource: string;
  /** The subresource; empty for the resource itself. */
  readonly subresource: string;
  /** The namespace; empty for the whole cluster. */
  readonly namespace: string;
  /** The name of the object; empty for a collection. */
  readonly name: string;
  /** A path that names no resource, such as `/healthz`. If it is set, the verb is the only other field that counts. */
  readonly path?: string | undefined;
}

export function attributesOf(info: RequestInfo): AccessAttributes {
  if (info.type === 'plain') {
    return pathAttributes(info.method.toLowerCase(), info.path);
  }
  const { verb, group, resource, subresource = '', name } = info;
  // A Namespace counts as an object in itself: a role in the namespace can allow reading it.
  const own = group === '' && resource === 'namespaces';
  return {
    verb,
    group,
    resource,
    subresource,
    namespace: own ? name : info.namespace,
    name: name === '' ? selectedName(verb, info.query) : name,
  };
}

/** Returns the attributes of a request for a path that names no resource. */
export function pathAttributes(verb: string, path: string): AccessAttributes {
  return { verb, path, group: '', resource: '', subresource: '', namespace: '', name: '' };
}

/**
 * Returns the name in the field selector of a list or watch: a rule for that name also allows the
 * request.
 */
function selectedName(verb: string, query: URLSearchParams): string {
  const selector = query.get('fieldSelector') ?? '';
  if (selector === '' || (verb !== 'list' && verb !== 'watch')) return '';
  try {
    const term = parseFieldSelector(selector).find(({ field }) => field === 'metadata.name');
    return term?.operator === '=' ? term.value : '';
  } catch (error) {
    // Another part of the server reads the selector again, and reports its error.
    if (isOperatorError(error, 'InvalidSelector')) return '';
    throw error;
  }
}

/**
 * Returns the message of a refusal:
 * `User "x" cannot list resource "pods" in API group "" in the namespace "n"`.
 */
export function describeAccess(username: string, attributes: AccessAttributes): string {
  const { verb, group, resource, subresource, namespace, path } = attributes;
  const who = `User ${JSON.stringify(username)} cannot ${verb}`;
  if (path !== undefined) return `${who} path ${JSON.stringify(path)}`;
  const what = JSON.stringify(subresource === '' ? resource : `${resource}/${subresource}`);
  const where =
    namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} resource ${what} in API group ${JSON.stringify(group)} ${where}`;
}

/** Reviews that a client may create about itself: resources by group. */
export const selfReviews: Readonly<Record<string, readonly string[]>> = {
  'authorization.k8s.io': ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
  'authentication.k8s.io': ['selfsubjectreviews'],
};

const openPath = /^\/(api|apis|openapi)(\/|$)|^\/(healthz|livez|readyz|version)\/?$/;

/** Returns whether every known client may read a path: discovery, schemas, the version, health. */
export function isOpenPath(path: string): boolean {
  return openPath.test(path);
}

/**
 * Returns whether a request is a client's review of its own identity or rights, which every known
 * client may create.
 */
export function isSelfReview(
  asked: Pick<AccessAttributes, 'verb' | 'group' | 'resource'>,
): boolean {
  return asked.verb === 'create' && selfReviews[asked.group]?.includes(asked.resource) === true;
}
