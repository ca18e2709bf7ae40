import { Builder, labelValueOf } from 'operator-builder';
import type { BuilderOptions, Container, PodSpec } from 'operator-builder';
import type { K8sConfig, NodeSpec, ParseableConfig, ParseableTenant } from './tenant.js';
import { claimNameOf, externalNameOf, namesOfNode } from './tenant-names.js';
import type { NodeNames } from './tenant-names.js';
import { workloadKinds } from './tenant-problems.js';

/** A node with what its names stand for, and the names of its objects. */
export interface TenantNode {
  readonly spec: NodeSpec;
  readonly kind: 'Deployment' | 'StatefulSet';
  readonly k8s: K8sConfig;
  readonly parseable: ParseableConfig;
  readonly names: NodeNames;
}

/** The nodes of a tenant without problems: types in `deploymentOrder`, nodes in list order. */
export function tenantNodes(tenant: ParseableTenant): TenantNode[] {
  const { deploymentOrder, nodes } = tenant.spec;
  const types = [...new Set(deploymentOrder)];
  return types.flatMap((type) =>
    nodes.filter((node) => node.type === type).map((node) => tenantNode(tenant, node)),
  );
}

function tenantNode({ spec }: ParseableTenant, node: NodeSpec): TenantNode {
  return {
    spec: node,
    kind: workloadKinds.get(node.kind) ?? 'Deployment',
    k8s: named(spec.k8sConfig, node.k8sConfig),
    parseable: named(spec.parseableConfig, node.parseableConfig),
    names: namesOfNode(node),
  };
}

function named<T extends { name: string }>(entries: readonly T[], name: string): T {
  const found = entries.find((entry) => entry.name === name);
  if (found === undefined) throw new TypeError(`${name} is not there: check tenantProblems first`);
  return found;
}

/** Everything that `options.owner` becomes, as a chain to plan or reconcile. */
export function tenantChain(options: BuilderOptions & { owner: ParseableTenant }): Builder {
  const { owner: tenant } = options;
  const labels = { app: 'parseable', custom_resource: labelValueOf(nameOf(tenant)) };
  let chain: Builder = new Builder({ ...options, labels });
  const external = externalConfigMap(tenant);
  if (external !== undefined) chain = chain.configMap(external);
  for (const node of tenantNodes(tenant)) {
    chain = withNode(chain, tenant, node);
  }
  return chain;
}

function withNode(chain: Builder, tenant: ParseableTenant, node: TenantNode): Builder {
  const { spec, k8s, parseable } = node;
  const labels = nodeLabels(tenant, node);
  const selector = nodeSelector(tenant, node);
  let next: Builder = chain.configMap({
    name: node.names.configMap,
    labels,
    data: parseable.env ?? {},
  });
  next = next.service({
    name: node.names.service,
    labels,
    spec: { ...serviceSpec(k8s), selector },
  });
  for (const storage of k8s.storageConfig ?? []) {
    next = next.persistentVolumeClaim({
      name: claimNameOf(node.spec, storage.name),
      labels,
      spec: storage.spec,
      // As the original: the claims of a deleted tenant go with it.
      whenOwnerDeleted: 'delete',
    });
  }
  const workload = {
    name: node.names.workload,
    labels,
    selector,
    nodeType: spec.type,
    replicas: spec.replicas,
    podLabels: { ...k8s.podMetadata?.labels, ...labels },
    podAnnotations: k8s.podMetadata?.annotations ?? {},
    podSpec: podSpecOf(tenant, node),
  };
  return node.kind === 'Deployment'
    ? next.deployment(workload)
    : next.statefulSet({ ...workload, serviceName: node.names.service });
}

/**
 * What selects a node's pods and nobody else's. Only what its workload's name has, too: a selector can
 * never change, but a node's type and configuration may.
 */
function nodeSelector(tenant: ParseableTenant, { spec }: TenantNode): Record<string, string> {
  return {
    app: 'parseable',
    custom_resource: labelValueOf(nameOf(tenant)),
    k8sConfigGroup: labelValueOf(spec.k8sConfig),
    node: labelValueOf(spec.name),
  };
}

/** The labels of a node's objects and pods. */
function nodeLabels(tenant: ParseableTenant, { spec }: TenantNode): Record<string, string> {
  return {
    app: 'parseable',
    custom_resource: labelValueOf(nameOf(tenant)),
    nodeType: labelValueOf(spec.type),
    parseableConfig: labelValueOf(spec.parseableConfig),
    k8sConfigGroup: labelValueOf(spec.k8sConfig),
    node: labelValueOf(spec.name),
  };
}

function podSpecOf(tenant: ParseableTenant, node: TenantNode): PodSpec {
  const { k8s } = node;
  const storages = k8s.storageConfig ?? [];
  const claims = storages.map((storage) => ({
    name: storage.name,
    persistentVolumeClaim: { claimName: claimNameOf(node.spec, storage.name) },
  }));
  const volumes = [...claims, ...(k8s.volumes ?? [])];
  return {
    containers: [containerOf(tenant, node)],
    securityContext: {
      runAsUser: 1000,
      runAsGroup: 1000,
      fsGroup: 1000,
      fsGroupChangePolicy: 'Always',
    },
    ...(volumes.length > 0 && { volumes }),
    ...(k8s.tolerations !== undefined && { tolerations: k8s.tolerations }),
    ...(k8s.nodeSelector !== undefined && { nodeSelector: k8s.nodeSelector }),
    ...(k8s.serviceAccountName !== undefined && { serviceAccountName: k8s.serviceAccountName }),
  };
}

function containerOf(tenant: ParseableTenant, node: TenantNode): Container {
  const { k8s, parseable } = node;
  const mounts = (k8s.storageConfig ?? []).map(({ name, mountPath }) => ({ name, mountPath }));
  const volumeMounts = [...mounts, ...(k8s.volumeMount ?? [])];
  const external = externalConfigMap(tenant);
  const configMaps = [node.names.configMap, ...(external === undefined ? [] : [external.name])];
  return {
    name: node.names.container,
    image: k8s.image,
    args: ['parseable', ...(parseable.cliArgs ?? [])],
    ports: [{ containerPort: 8000, protocol: 'TCP' }],
    envFrom: configMaps.map((name) => ({ configMapRef: { name } })),
    securityContext: { allowPrivilegeEscalation: false },
    ...(k8s.env !== undefined && { env: k8s.env }),
    ...(k8s.imagePullPolicy !== undefined && { imagePullPolicy: k8s.imagePullPolicy }),
    ...(k8s.resources !== undefined && { resources: k8s.resources }),
    ...(volumeMounts.length > 0 && { volumeMounts }),
  };
}

/**
 * `<tenant>-ext`: the text under `data`, as the original has it, and each of its `NAME=value` lines
 * as an entry of its own, so that the pods have it in their environment.
 */
function externalConfigMap(
  tenant: ParseableTenant,
): { name: string; data: Record<string, string> } | undefined {
  const text = tenant.spec.external?.objectStore?.spec.data;
  if (text === undefined) return undefined;
  const lines = text.split('\n').map((line) => /^\s*([A-Za-z_]\w*)=(.*)$/.exec(line));
  const entries = lines.flatMap((match) => (match ? [[match[1], match[2]?.trim()] as const] : []));
  return {
    name: externalNameOf(nameOf(tenant)),
    data: { ...(Object.fromEntries(entries) as Record<string, string>), data: text },
  };
}

/** A node without a `service` is reached on the port that Parseable listens on. */
function serviceSpec(k8s: K8sConfig): NonNullable<K8sConfig['service']> {
  return k8s.service ?? { ports: [{ port: 80, targetPort: 8000, protocol: 'TCP' }] };
}

function nameOf(tenant: ParseableTenant): string {
  return tenant.metadata.name ?? '';
}
