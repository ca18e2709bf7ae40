import type { NodeSpec, ParseableTenant } from './tenant.js';

/** Something in a tenant that can't be carried out, and where it stands. */
export interface TenantProblem {
  /** For example `spec.nodes[1].k8sConfig`. */
  readonly path: string;
  readonly message: string;
}

/** The kinds of workload that a node can be, by the spellings that tenants use. */
export const workloadKinds: Readonly<Partial<Record<string, 'Deployment' | 'StatefulSet'>>> = {
  Deployment: 'Deployment',
  Statefulset: 'StatefulSet',
  StatefulSet: 'StatefulSet',
};

/**
 * Everything that is wrong with `tenant`. A tenant with problems is left as it is: nothing half
 * made, nothing deleted.
 */
export function tenantProblems(tenant: ParseableTenant): TenantProblem[] {
  const { nodes, k8sConfig, parseableConfig } = tenant.spec;
  return [
    ...duplicates('spec.nodes', nodes),
    ...duplicates('spec.k8sConfig', k8sConfig),
    ...duplicates('spec.parseableConfig', parseableConfig),
    ...nodes.flatMap((node, index) => nodeProblems(tenant, node, `spec.nodes[${index}]`)),
  ];
}

function nodeProblems(tenant: ParseableTenant, node: NodeSpec, path: string): TenantProblem[] {
  const { deploymentOrder, k8sConfig, parseableConfig } = tenant.spec;
  const missing = (list: string, wanted: string, names: readonly string[]) =>
    `${wanted} is not in spec.${list}: it has ${names.join(', ') || 'no entry'}`;
  const checks: readonly [boolean, string, string][] = [
    [
      deploymentOrder.includes(node.type),
      'type',
      missing('deploymentOrder', node.type, deploymentOrder),
    ],
    [
      workloadKinds[node.kind] !== undefined,
      'kind',
      `${node.kind} is no kind of node: use Deployment or StatefulSet`,
    ],
    [
      k8sConfig.some(({ name }) => name === node.k8sConfig),
      'k8sConfig',
      missing('k8sConfig', node.k8sConfig, namesOf(k8sConfig)),
    ],
    [
      parseableConfig.some(({ name }) => name === node.parseableConfig),
      'parseableConfig',
      missing('parseableConfig', node.parseableConfig, namesOf(parseableConfig)),
    ],
  ];
  return checks
    .filter(([holds]) => !holds)
    .map(([, field, message]) => ({ path: `${path}.${field}`, message }));
}

function duplicates(path: string, entries: readonly { name: string }[]): TenantProblem[] {
  return entries.flatMap(({ name }, index) => {
    const first = entries.findIndex((entry) => entry.name === name);
    if (first === index) return [];
    const message = `${name} is the name of ${path}[${first}] already`;
    return [{ path: `${path}[${index}].name`, message }];
  });
}

function namesOf(entries: readonly { name: string }[]): string[] {
  return entries.map(({ name }) => name);
}
