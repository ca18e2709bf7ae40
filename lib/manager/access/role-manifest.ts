import type { MissingAccess } from './missing-access.js';

/** A rule that combines resources with equal names and verbs. */
interface Rule {
  readonly group: string;
  readonly resources: string[];
  /** Empty for all objects. */
  readonly names: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * Returns the roles that grant the missing access, as YAML: a ClusterRole for cluster-wide access and a Role
 * for each namespace.
 */
export function roleManifest(missing: readonly MissingAccess[], name: string): string {
  const namespaces = [...new Set(missing.map(({ namespace }) => namespace))];
  const roles = namespaces.map((namespace) => {
    const own = missing.filter((access) => access.namespace === namespace);
    return roleOf(own, { name, namespace });
  });
  return roles.join('---\n');
}

function roleOf(
  missing: readonly MissingAccess[],
  { name, namespace }: { readonly name: string; readonly namespace: string },
): string {
  const lines = [
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${namespace === '' ? 'ClusterRole' : 'Role'}`,
    'metadata:',
    `  name: ${name}`,
    ...(namespace === '' ? [] : [`  namespace: ${namespace}`]),
    'rules:',
  ];
  for (const { group, resources, names, verbs } of rulesOf(missing)) {
    lines.push(
      `- apiGroups: ${list([group])}`,
      `  resources: ${list(resources)}`,
      ...(names.length === 0 ? [] : [`  resourceNames: ${list(names)}`]),
      `  verbs: ${list(verbs)}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

function rulesOf(missing: readonly MissingAccess[]): readonly Rule[] {
  const places = new Map<string, { access: MissingAccess; verbs: string[] }>();
  for (const access of missing) {
    const { group, resource, name = '', verb } = access;
    const place = `${group}/${resource}/${name}`;
    const entry = places.get(place) ?? { access, verbs: [] };
    entry.verbs.push(verb);
    places.set(place, entry);
  }
  const rules = new Map<string, Rule>();
  for (const { access, verbs } of places.values()) {
    const { group, resource, name = '' } = access;
    const alike = `${group} ${name} ${verbs.join()}`;
    const names = name === '' ? [] : [name];
    const rule = rules.get(alike) ?? { group, resources: [], names, verbs };
    rule.resources.push(resource);
    rules.set(alike, rule);
  }
  return [...rules.values()];
}

function list(items: readonly string[]): string {
  return `[${items.map((item) => JSON.stringify(item)).join(', ')}]`;
}
