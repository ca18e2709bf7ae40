import type { V1PolicyRule } from '@kubernetes/client-node';
import type { Wire } from '../../object/wire.js';
import type { AccessAttributes } from './access-attributes.js';

/** A rule of a role. */
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

/** Formats a list of texts as Go prints it: `["a" "b"]`. */
export function quotedList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}
