import pick from 'lodash/pick.js';
import { labelValueOf } from 'operator-builder';
import type { Builder, Container, OperatorBuilderOptions, PodSpec } from 'operator-builder';
import type { K8sConfig, NodeSpec, ParseableTenant, TenantSpec } from './tenant.js';

/** Annotation of a tenant: `true` deletes the claims of nodes that were removed from the spec. */
export const pruneClaimsAnnotation = 'parseable.io/prune-claims';
/** Annotation of a tenant: policy for a workload whose immutable fields differ, one of {@link policies}. */
export const onImmutableAnnotation = 'parseable.io/on-immutable';
export const policies = ['fail', 'recreate', 'recreateOrphan'] as const;

/** Kind of the workload of a node, by the spelling in the tenant. */
export const workloadKinds: ReadonlyMap<string, 'Deployment' | 'StatefulSet'> = new Map([
  ['Deployment', 'Deployment'],
  ['Statefulset', 'StatefulSet'],
  ['StatefulSet', 'StatefulSet'],
]);

/** Returns the names of a node's objects. */
export function namesOf({ name, type, k8sConfig, parseableConfig }: NodeSpec) {
  return {
    configMap: `${name}-${parseableConfig}`,
    service: `${name}-${k8sConfig}`,
    workload: `${k8sConfig}-${name}`,
    container: `${name}-${type}`,
  };
}

/** Returns the name of the ConfigMap for `spec.external`. */
export function externalNameOf(tenant: string): string {
  return `${tenant}-ext`;
}

/** Returns the labels of every object of a tenant. */
function tenantLabels({ metadata: { name = '' } }: ParseableTenant) {
  return { app: 'parseable', custom_resource: labelValueOf(name) };
}

/** Returns the nodes of a tenant: types in `deploymentOrder`, nodes of a type in list order. */
export function orderedNodes({ deploymentOrder, nodes }: TenantSpec): readonly NodeSpec[] {
  return [...new Set(deploymentOrder)].flatMap((type) => nodes.filter((one) => one.type === type));
}

/** Returns the options of the builder from the current tenant. They apply to objects that exist already, too. */
export function builderOptions(tenant: ParseableTenant): OperatorBuilderOptions {
  const { annotations = {} } = tenant.metadata;
  return {
    labels: tenantLabels(tenant),
    pruneClaims: annotations[pruneClaimsAnnotation] === 'true',
    onImmutable: policies.find((policy) => policy === annotations[onImmutableAnnotation]),
    rolloutOrder: tenant.spec.deploymentOrder,
    // The original Go operator wrote by updates; its field manager was the name of its program, `manager`.
    adoptManagers: ['manager'],
  };
}

/** Returns `builder` with all desired objects of a tenant. Call it only if {@link tenantProblems} finds none. */
export function tenantChain(builder: Builder, tenant: ParseableTenant): Builder {
  const external = externalConfigMap(tenant);
  const first: Builder = external === undefined ? builder : builder.configMap(external);
  return orderedNodes(tenant.spec).reduce((chain, node) => withNode(chain, tenant, node), first);
}

function withNode(chain: Builder, tenant: ParseableTenant, node: NodeSpec): Builder {
  const names = namesOf(node);
  const k8s = named(tenant.spec.k8sConfig, node.k8sConfig);
  const { env = {} } = named(tenant.spec.parseableConfig, node.parseableConfig);
  // The selector is immutable, so it has only values that are part of the workload's name. A node's type and
  // parseableConfig may change.
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
  // The default of a node without a `service`: Parseable listens on port 8000.
  const service = k8s.service ?? { ports: [{ port: 80, targetPort: 8000, protocol: 'TCP' }] };
  let next: Builder = chain
    .configMap({ name: names.configMap, labels, data: env })
    .service({ name: names.service, labels, spec: { ...service, selector } });
  for (const { name, spec } of k8s.storageConfig ?? []) {
    const claim = { name: claimName(node, name), labels, spec };
    // The claims are deleted with the tenant, as by the original operator.
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

/** Returns the container of a node. The builder adds the hashes of the ConfigMaps in `envFrom`. */
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
 * Returns the ConfigMap `<tenant>-ext`. Its entry `data` is the whole text, as in the original operator. Each
 * `NAME=value` line is also an entry of its own, so that the pods have it as an environment variable.
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
  if (found === undefined)
    throw new TypeError(`the tenant has no ${name}: check tenantProblems first`);
  return found;
}
