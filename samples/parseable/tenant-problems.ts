import {
  dns1035LabelProblem,
  dns1123LabelProblem,
  dns1123SubdomainProblem,
} from 'operator-builder';
import type { NodeSpec, ParseableTenant } from './tenant.js';
import { externalNameOf, namesOfNode } from './tenant-names.js';
import type { NodeNames } from './tenant-names.js';

/** Something in a tenant that can't be carried out, and where it stands. */
export interface TenantProblem {
  /** For example `spec.nodes[1].k8sConfig`. */
  readonly path: string;
  readonly message: string;
}

/** The kinds of workload that a node can be, by the spellings that tenants use. */
export const workloadKinds: ReadonlyMap<string, 'Deployment' | 'StatefulSet'> = new Map([
  ['Deployment', 'Deployment'],
  ['Statefulset', 'StatefulSet'],
  ['StatefulSet', 'StatefulSet'],
]);

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
    ...nameProblems(tenant),
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
      workloadKinds.has(node.kind),
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

type NameCheck = (name: string) => string | undefined;

const nameRules: readonly [keyof NodeNames, string, NameCheck][] = [
  ['configMap', 'ConfigMap', dns1123SubdomainProblem],
  ['service', 'Service', dns1035LabelProblem],
  ['workload', 'workload', dns1123SubdomainProblem],
  ['container', 'container', dns1123LabelProblem],
];

/** Names that Kubernetes does not take, and different nodes whose objects would have one name. */
function nameProblems({ metadata, spec }: ParseableTenant): TenantProblem[] {
  const taken = new Map<string, string>();
  const { name = '' } = metadata;
  if (spec.external !== undefined) taken.set(`ConfigMap ${externalNameOf(name)}`, 'spec.external');
  return spec.nodes.flatMap((node, index) => {
    const path = `spec.nodes[${index}]`;
    const names = namesOfNode(node);
    return nameRules.flatMap(([role, kind, check]) => {
      const id = `${kind} ${names[role]}`;
      const problem = check(names[role]);
      if (problem !== undefined) return { path: `${path}.name`, message: `${id}: ${problem}` };
      const other = role === 'container' ? undefined : taken.get(id);
      taken.set(id, path);
      if (other === undefined || isSameNode(spec.nodes, other, node)) return [];
      return { path, message: `its ${id} has the name of that of ${other}` };
    });
  });
}

/** Two nodes of one name are a problem of their own. */
function isSameNode(nodes: readonly NodeSpec[], path: string, { name }: NodeSpec): boolean {
  return nodes.some((node, index) => path === `spec.nodes[${index}]` && node.name === name);
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
