import { stringify } from 'yaml';
import type { RequestEntry } from '../request-log.js';
import { isOpenPath } from './policy-rule.js';
import type { AccessAttributes, PolicyRule } from './policy-rule.js';
import { refuseUnknownOptions } from '../../system/index.js';

/** Options of `usedRoles` and {@link usedRolesText}. */
export interface UsedRolesOptions {
  /**
   * The user whose requests count, for example `system:serviceaccount:shop:operator`.
   * @defaultValue all users
   */
  readonly user?: string | undefined;
  /** The name of the roles. @defaultValue 'used' */
  readonly name?: string | undefined;
  /**
   * Counts requests that failed for lack of a rule, too: the roles then have all rights that the
   * run needed.
   * @defaultValue false
   */
  readonly denied?: boolean | undefined;
  /**
   * Adds the requested object names to the rules. Such rules are tighter, but correct only for
   * fixed names.
   * @defaultValue false
   */
  readonly names?: boolean | undefined;
  /** Puts all rules into one ClusterRole, whatever the namespace. @defaultValue false */
  readonly clusterWide?: boolean | undefined;
}

/** A Role or a ClusterRole with the used rules. */
export interface UsedRole {
  readonly apiVersion: 'rbac.authorization.k8s.io/v1';
  readonly kind: 'Role' | 'ClusterRole';
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly PolicyRule[];
}

/**
 * Returns the least roles that allow the recorded requests. Requests without a namespace, such as lists of
 * all namespaces, need a ClusterRole. Each namespace that needs more rights has a Role. Requests for paths
 * that everyone may read (discovery, `/version`) need no rule.
 *
 * @param entries - for example `cluster.requests.entries`
 */
export function usedRoles(
  entries: readonly RequestEntry[],
  options: UsedRolesOptions = {},
): readonly UsedRole[] {
  const { user, name = 'used', denied = false, names = false, clusterWide = false } = options;
  refuseUnknownOptions<UsedRolesOptions>('usedRoles', options, {
    ...{ user, name, denied, names, clusterWide },
  });
  const needs = entries
    .filter((entry) => user === undefined || entry.user === user)
    .filter((entry) => entry.code !== 401 && (denied || entry.denied !== true))
    .flatMap((entry) => needsOf(entry, names))
    .map((need) => (clusterWide ? { ...need, namespace: '' } : need));
  const wide = needs.filter(({ namespace }) => namespace === '');
  const namespaces = [...new Set(needs.map(({ namespace }) => namespace))].sort();
  return namespaces.flatMap((namespace) => {
    // Skip what the ClusterRole already grants in every namespace.
    const own = needs.filter((need) => need.namespace === namespace);
    const left =
      namespace === '' ? own : own.filter((need) => !wide.some((one) => covers(one, need)));
    return left.length === 0 ? [] : [roleOf(name, namespace, rulesOf(left))];
  });
}

/**
 * Returns the roles that the recorded requests needed, as YAML documents to apply: a Role for each namespace, and a
 * ClusterRole for the rest.
 */
export function usedRolesText(
  entries: readonly RequestEntry[],
  options: UsedRolesOptions = {},
): string {
  return usedRoles(entries, options)
    .map((role) => stringify(role))
    .join('---\n');
}

/** A needed right. The resource includes the subresource, and is empty for a path. An empty name means any. */
interface Need extends Omit<AccessAttributes, 'subresource' | 'path'> {
  readonly path: string;
}

const nameless = ['create', 'list', 'watch', 'deletecollection'];

function needsOf(entry: RequestEntry, named: boolean): Need[] {
  const { verb, group, resource, subresource, namespace, name, code } = entry;
  if (resource.startsWith('/')) {
    if (isOpenPath(resource)) return [];
    return [{ verb, group: '', resource: '', namespace: '', name: '', path: resource }];
  }
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  const own = group === '' && resource === 'namespaces' ? '' : namespace;
  const byName = named && !nameless.includes(verb) ? name : '';
  const need = { verb, group, resource: full, namespace: own, name: byName, path: '' };
  // An apply or a PUT that created its object also needed the right to create.
  const created = code === 201 && (verb === 'patch' || verb === 'update');
  return created ? [need, { ...need, verb: 'create', name: '' }] : [need];
}

function covers(one: Need, other: Need): boolean {
  const same = one.verb === other.verb && one.group === other.group;
  return same && one.resource === other.resource && (one.name === '' || one.name === other.name);
}

const verbOrder = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
];

/** Merges the resources of a group that need the same verbs into one rule. */
function rulesOf(needs: readonly Need[]): readonly PolicyRule[] {
  const verbs = new Map<string, { need: Need; verbs: Set<string> }>();
  for (const need of needs) {
    const { group, resource, name, path } = need;
    // A rule without names covers this need.
    if (name !== '' && needs.some((one) => one.name === '' && covers(one, need))) continue;
    const key = JSON.stringify([path, group, resource, name]);
    const known = verbs.get(key) ?? { need, verbs: new Set() };
    known.verbs.add(need.verb);
    verbs.set(key, known);
  }
  const rules = new Map<string, PolicyRule>();
  for (const [, { need, verbs: used }] of [...verbs].sort(([one], [other]) =>
    one < other ? -1 : 1,
  )) {
    const { group, name, path } = need;
    const list = verbOrder.filter((verb) => used.has(verb));
    const same = JSON.stringify([path === '', group, name, list]);
    const known = rules.get(same);
    rules.set(
      same,
      path === ''
        ? merged(known, need, list)
        : {
            nonResourceURLs: [...(known?.nonResourceURLs ?? []), path],
            verbs: list,
          },
    );
  }
  return [...rules.values()];
}

function merged(known: PolicyRule | undefined, need: Need, verbs: string[]): PolicyRule {
  const { group, resource, name } = need;
  return {
    apiGroups: [group],
    resources: [...(known?.resources ?? []), resource],
    ...(name !== '' && { resourceNames: [name] }),
    verbs,
  };
}

function roleOf(name: string, namespace: string, rules: readonly PolicyRule[]): UsedRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: namespace === '' ? 'ClusterRole' : 'Role',
    metadata: namespace === '' ? { name } : { name, namespace },
    rules,
  };
}
