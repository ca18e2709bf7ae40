import pick from 'lodash/pick.js';
import { labelValueOf } from 'operator-builder';
import type { Builder, Container, OperatorBuilderOptions, PodSpec } from 'operator-builder';
import type { K8sConfig, NodeSpec, ParseableTenant, TenantSpec } from './tenant.js';

/** `true` on a tenant: the claims of nodes that are no longer in the list go. */
export const pruneClaimsAnnotation = 'parseable.io/prune-claims';
/** On a tenant: what is done about a workload whose immutable fields differ, one of {@link policies}. */
export const onImmutableAnnotation = 'parseable.io/on-immutable';
export const policies = ['fail', 'recreate', 'recreateOrphan'] as const;

/** The kinds of workload that a node can be, by the spellings that tenants use. */
export const workloadKinds: ReadonlyMap<string, 'Deployment' | 'StatefulSet'> = new Map([
  ['Deployment', 'Deployment'],
  ['Statefulset', 'StatefulSet'],
  ['StatefulSet', 'StatefulSet'],
]);

/** The names of a node's objects. */
export function namesOf({ name, type, k8sConfig, parseableConfig }: NodeSpec) {
  return {
    configMap: `${name}-${parseableConfig}`,
    service: `${name}-${k8sConfig}`,
    workload: `${k8sConfig}-${name}`,
    container: `${name}-${type}`,
  };
}

/** The ConfigMap of `external`. */
export function externalNameOf(tenant: string): string {
  return `${tenant}-ext`;
}

/** The labels of every object of a tenant. */
function tenantLabels({ metadata: { name = '' } }: ParseableTenant) {
  return { app: 'parseable', custom_resource: labelValueOf(name) };
}

/** The nodes of a tenant: types in `deploymentOrder`, nodes in list order. */
export function orderedNodes({ deploymentOrder, nodes }: TenantSpec): readonly NodeSpec[] {
  return [...new Set(deploymentOrder)].flatMap((type) => nodes.filter((one) => one.type === type));
}

/** The wishes of a tenant, as they are now: not as they were when an object was made. */
export function builderOptions(tenant: ParseableTenant): OperatorBuilderOptions {
  const { annotations = {} } = tenant.metadata;
  return {
    labels: tenantLabels(tenant),
    pruneClaims: annotations[pruneClaimsAnnotation] === 'true',
    onImmutable: policies.find((policy) => policy === annotations[onImmutableAnnotation]),
    rolloutOrder: tenant.spec.deploymentOrder,
    // The original operator wrote by updates, as controller-runtime's default manager.
    adoptManagers: ['manager'],
  };
}

/** Chains everything that a tenant without problems becomes. */
export function tenantChain(builder: Builder, tenant: ParseableTenant): Builder {
  const external = externalConfigMap(tenant);
  const first: Builder = external === undefined ? builder : builder.configMap(external);
  return orderedNodes(tenant.spec).reduce((chain, node) => withNode(chain, tenant, node), first);
}

function withNode(chain: Builder, tenant: ParseableTenant, node: NodeSpec): Builder {
  const names = namesOf(node);
  const k8s = named(tenant.spec.k8sConfig, node.k8sConfig);
  const { env = {} } = named(tenant.spec.parseableConfig, node.parseableConfig);
  // Only what the workload's name has, too: a selector can never change, but a node's type and
  // configuration may.
  const selector = {
    ...tenantLabels(tenant),
    k8sConfigGroup: labelValueOf(node.k8sConfig),
    node: labelValueOf(node.name),
  };
  const labels = {
    ...selector,
    nodeType: labelValueOf(node.type),
    parseableConfig: labelValueOf(node.parseableConfig),
  };
  // A node without a `service` is reached on the port that Parseable listens on.
  const service = k8s.service ?? { ports: [{ port: 80, targetPort: 8000, protocol: 'TCP' }] };
  let next: Builder = chain
    .configMap({ name: names.configMap, labels, data: env })
    .service({ name: names.service, labels, spec: { ...service, selector } });
  for (const { name, spec } of k8s.storageConfig ?? []) {
    const claim = { name: claimName(node, name), labels, spec };
    // As the original: the claims of a deleted tenant go with it.
    next = next.persistentVolumeClaim({ ...claim, whenOwnerDeleted: 'delete' });
  }
  const workload = {
    ...{ name: names.workload, labels, selector, nodeType: node.type, replicas: node.replicas },
    podLabels: { ...k8s.podMetadata?.labels, ...labels },
    podAnnotations: k8s.podMetadata?.annotations ?? {},
    podSpec: podSpecOf(tenant, node, k8s),
  };
  return workloadKinds.get(node.kind) === 'StatefulSet'
    ? next.statefulSet({ ...workload, serviceName: names.service })
    : next.deployment(workload);
}

const ids = { runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 };
const securityContext = { ...ids, fsGroupChangePolicy: 'Always' };

function podSpecOf(tenant: ParseableTenant, node: NodeSpec, k8s: K8sConfig): PodSpec {
  const claims = (k8s.storageConfig ?? []).map(({ name }) => ({
    name,
    persistentVolumeClaim: { claimName: claimName(node, name) },
  }));
  const volumes = [...claims, ...(k8s.volumes ?? [])];
  return {
    containers: [containerOf(tenant, node, k8s)],
    securityContext,
    ...(volumes.length > 0 && { volumes }),
    ...pick(k8s, 'tolerations', 'nodeSelector', 'serviceAccountName'),
  };
}

/** The hashes of the ConfigMaps that it takes its environment from are added to it by the builder. */
function containerOf(tenant: ParseableTenant, node: NodeSpec, k8s: K8sConfig): Container {
  const names = namesOf(node);
  const { cliArgs = [] } = named(tenant.spec.parseableConfig, node.parseableConfig);
  const mounts = (k8s.storageConfig ?? []).map(({ name, mountPath }) => ({ name, mountPath }));
  const volumeMounts = [...mounts, ...(k8s.volumeMount ?? [])];
  const external = externalConfigMap(tenant);
  const configMaps = [names.configMap, ...(external === undefined ? [] : [external.name])];
  return {
    name: names.container,
    args: ['parseable', ...cliArgs],
    ports: [{ containerPort: 8000, protocol: 'TCP' }],
    envFrom: configMaps.map((name) => ({ configMapRef: { name } })),
    securityContext: { allowPrivilegeEscalation: false },
    ...pick(k8s, 'image', 'env', 'imagePullPolicy', 'resources'),
    ...(volumeMounts.length > 0 && { volumeMounts }),
  };
}

/**
 * `<tenant>-ext`: the text under `data`, as the original has it, and each of its `NAME=value` lines
 * as an entry of its own, so that the pods have it in their environment.
 */
function externalConfigMap({ metadata: { name = '' }, spec }: ParseableTenant) {
  const text = spec.external?.objectStore?.spec.data;
  if (text === undefined) return undefined;
  const lines = text.matchAll(/^\s*([A-Za-z_]\w*)=(.*)$/gm);
  const entries = [...lines].map(([, key = '', value = '']) => [key, value.trim()] as const);
  return { name: externalNameOf(name), data: { ...Object.fromEntries(entries), data: text } };
}

function claimName(node: NodeSpec, storage: string): string {
  return `${node.name}-${node.k8sConfig}-${storage}`;
}

function named<T extends { name: string }>(entries: readonly T[], name: string): T {
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw new TypeError(`${name} is not there: check tenantProblems first`);
  return found;
}
