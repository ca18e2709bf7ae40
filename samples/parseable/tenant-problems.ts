import isEqual from 'lodash/isEqual.js';
import {
  allowed,
  denied,
  dns1035LabelProblem,
  dns1123LabelProblem,
  dns1123SubdomainProblem,
  validatingWebhook,
} from 'operator-builder';
import {
  externalNameOf,
  namesOf,
  onImmutableAnnotation,
  policies,
  workloadKinds,
} from './tenant-chain.js';
import { ParseableTenant } from './tenant.js';
import type { NodeSpec, TenantSpec } from './tenant.js';

/** An invalid field of a tenant. */
export interface TenantProblem {
  /** For example `spec.nodes[1].k8sConfig`. */
  readonly path: string;
  readonly message: string;
}

/** Returns all problems of a tenant. The operator changes and deletes no object of a tenant with problems. */
export function tenantProblems(tenant: ParseableTenant): TenantProblem[] {
  const { nodes, k8sConfig, parseableConfig } = tenant.spec;
  return [
    ...Object.entries({ nodes, k8sConfig, parseableConfig }).flatMap(duplicates),
    ...nodes.flatMap((node, at) => nodeProblems(tenant.spec, node, `spec.nodes[${at}]`)),
    ...nameProblems(tenant),
    ...annotationProblems(tenant),
  ];
}

/** Returns the problems in one line, for conditions and Events. */
export function problemText(problems: readonly TenantProblem[]): string {
  return problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
}

/** Refuses a tenant with problems before it is stored. */
export const tenantWebhook = validatingWebhook(ParseableTenant, ({ object, oldObject }) => {
  const problems = object === undefined ? [] : tenantProblems(object);
  if (problems.length === 0) return allowed();
  const text = problemText(problems);
  // Allow writes that keep an invalid spec, such as new labels or the removal of a finalizer.
  if (oldObject !== undefined && isEqual(oldObject.spec, object?.spec)) return allowed([text]);
  return denied(text, {
    causes: problems.map(({ path: field, message }) => ({ field, message })),
  });
});

function duplicates([list, entries]: [string, readonly { name: string }[]]): TenantProblem[] {
  return entries.flatMap(({ name }, at) => {
    const first = entries.findIndex((entry) => entry.name === name);
    const message = `${name} is the name of spec.${list}[${first}] already`;
    return first === at ? [] : [{ path: `spec.${list}[${at}].name`, message }];
  });
}

function annotationProblems({ metadata: { annotations = {} } }: ParseableTenant): TenantProblem[] {
  const { [onImmutableAnnotation]: given } = annotations;
  if (given === undefined || policies.some((policy) => policy === given)) return [];
  const path = `metadata.annotations[${onImmutableAnnotation}]`;
  return [{ path, message: `want ${policies.join(', ')}, got ${given}` }];
}

function nodeProblems(spec: TenantSpec, node: NodeSpec, path: string): TenantProblem[] {
  const lists = [
    ['type', 'deploymentOrder', spec.deploymentOrder],
    ['k8sConfig', 'k8sConfig', spec.k8sConfig.map(({ name }) => name)],
    ['parseableConfig', 'parseableConfig', spec.parseableConfig.map(({ name }) => name)],
  ] as const;
  const missing = lists.flatMap(([field, list, known]) => {
    const message = `${node[field]} is not in spec.${list}: it has ${known.join(', ') || 'no entry'}`;
    return known.includes(node[field]) ? [] : [{ path: `${path}.${field}`, message }];
  });
  const message = `${node.kind} is not a kind of node: use Deployment or StatefulSet`;
  return workloadKinds.has(node.kind) ? missing : [...missing, { path: `${path}.kind`, message }];
}

const nameRules = [
  ['configMap', 'ConfigMap', dns1123SubdomainProblem],
  ['service', 'Service', dns1035LabelProblem],
  ['workload', 'workload', dns1123SubdomainProblem],
  ['container', 'container', dns1123LabelProblem],
] as const;

/** Returns names that Kubernetes refuses, and nodes whose objects would have the same name. */
function nameProblems({ metadata, spec }: ParseableTenant): TenantProblem[] {
  const { name: tenant = '' } = metadata;
  const taken = new Map<string, { readonly path: string; readonly node: string | undefined }>();
  if (spec.external !== undefined) {
    taken.set(`ConfigMap ${externalNameOf(tenant)}`, { path: 'spec.external', node: undefined });
  }
  return spec.nodes.flatMap((node, at) => {
    const path = `spec.nodes[${at}]`;
    return nameRules.flatMap(([role, kind, check]) => {
      const name = namesOf(node)[role];
      const id = `${kind} ${name}`;
      const problem = check(name);
      if (problem !== undefined) return [{ path: `${path}.name`, message: `${id}: ${problem}` }];
      const other = role === 'container' ? undefined : taken.get(id);
      taken.set(id, { path, node: node.name });
      // `duplicates` reports two nodes with the same name.
      if (other === undefined || other.node === node.name) return [];
      return [{ path, message: `its ${id} has the name of that of ${other.path}` }];
    });
  });
}
