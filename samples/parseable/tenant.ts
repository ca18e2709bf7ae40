import type { KubernetesObject, ResourceType } from 'operator-builder';
import type {
  Condition,
  Container,
  PersistentVolumeClaim,
  PodSpec,
  Service,
} from 'operator-builder';

/** One node of a tenant: a workload of its own, with its Service, ConfigMap and claims. */
export interface NodeSpec {
  name: string;
  /** One of `deploymentOrder`. */
  type: string;
  /** `Deployment`, or `Statefulset` as people have it, or `StatefulSet` as Kubernetes spells it. */
  kind: string;
  replicas: number;
  /** Names an entry of `spec.k8sConfig`. */
  k8sConfig: string;
  /** Names an entry of `spec.parseableConfig`. */
  parseableConfig: string;
}

/** A claim and where the pods mount it. */
export interface StorageConfig {
  name: string;
  mountPath: string;
  spec: NonNullable<PersistentVolumeClaim['spec']>;
}

/** How a node runs. */
export interface K8sConfig {
  name: string;
  image: string;
  imagePullPolicy?: string;
  serviceAccountName?: string;
  env?: NonNullable<Container['env']>;
  tolerations?: NonNullable<PodSpec['tolerations']>;
  nodeSelector?: Record<string, string>;
  podMetadata?: { annotations?: Record<string, string>; labels?: Record<string, string> };
  volumes?: NonNullable<PodSpec['volumes']>;
  volumeMount?: NonNullable<Container['volumeMounts']>;
  storageConfig?: StorageConfig[];
  service?: NonNullable<Service['spec']>;
  resources?: NonNullable<Container['resources']>;
}

/** What a node runs. */
export interface ParseableConfig {
  name: string;
  cliArgs?: string[];
  /** The data of the node's ConfigMap, and so its environment. */
  env?: Record<string, string>;
}

/** `spec` of a {@link ParseableTenant}. */
export interface TenantSpec {
  /** Node types, in the order of their rollouts. */
  deploymentOrder: string[];
  nodes: NodeSpec[];
  k8sConfig: K8sConfig[];
  parseableConfig: ParseableConfig[];
  external?: { objectStore?: { spec: { type: string; data: string } } };
}

/** What a node is at. */
export interface NodeStatus {
  name: string;
  type: string;
  desiredReplicas: number;
  readyReplicas: number;
  updatedReplicas: number;
  /** The hash of the ConfigMap that the workload's pod template carries. */
  configHash?: string;
}

/** `status` of a {@link ParseableTenant}. */
export interface TenantStatus {
  observedGeneration?: number;
  /** Ready nodes of all, for `kubectl get`: `2/3`. */
  ready?: string;
  nodes?: readonly NodeStatus[];
  conditions?: readonly Condition[];
}

/** A log store: one custom resource, many nodes. */
export interface ParseableTenant extends KubernetesObject {
  spec: TenantSpec;
  status?: TenantStatus;
}

/** Where tenants are served. */
export const ParseableTenant: ResourceType<ParseableTenant> = {
  group: 'parseable.io',
  version: 'v1beta1',
  kind: 'ParseableTenant',
  plural: 'parseabletenants',
  namespaced: true,
};
