import type { MissingAccess } from './missing-access.js';

/** Rules that differ in their resources only are one. */
interface Rule {
  readonly group: string;
  readonly resources: string[];
  readonly verbs: readonly string[];
}

/**
 * The roles that would give what is missing, as YAML to be added to the operator's own: a ClusterRole
 * for what is wanted everywhere, a Role for each namespace.
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
  for (const { group, resources, verbs } of rulesOf(missing)) {
    lines.push(
      `- apiGroups: ${list([group])}`,
      `  resources: ${list(resources)}`,
      `  verbs: ${list(verbs)}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

function rulesOf(missing: readonly MissingAccess[]): readonly Rule[] {
  const verbsOf = new Map<string, { group: string; resource: string; verbs: string[] }>();
  for (const { group, resource, verb } of missing) {
    const name = `${group}/${resource}`;
    const entry = verbsOf.get(name) ?? { group, resource, verbs: [] };
    entry.verbs.push(verb);
    verbsOf.set(name, entry);
  }
  const rules = new Map<string, Rule>();
  for (const { group, resource, verbs } of verbsOf.values()) {
    const name = `${group} ${verbs.join()}`;
    const rule = rules.get(name) ?? { group, resources: [], verbs };
    rule.resources.push(resource);
    rules.set(name, rule);
  }
  return [...rules.values()];
}

function list(items: readonly string[]): string {
  return `[${items.map((item) => JSON.stringify(item)).join(', ')}]`;
}
