import type {
  EventsV1Event,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1ConfigMap,
  V1ControllerRevision,
  V1CronJob,
  V1CustomResourceDefinition,
  V1DaemonSet,
  V1Deployment,
  V1EndpointSlice,
  V1Ingress,
  V1Job,
  V1Lease,
  V1Namespace,
  V1NetworkPolicy,
  V1Node,
  V1PersistentVolume,
  V1PersistentVolumeClaim,
  V1Pod,
  V1PodDisruptionBudget,
  V1ReplicaSet,
  V1Role,
  V1RoleBinding,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1StatefulSet,
  V1StorageClass,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node';
import type { ObjectMeta } from './kubernetes-object.js';
import { groupOf, versionOf, pluralOf } from './resource-type.js';
import type { ResourceType } from './resource-type.js';
import type { Wire } from './wire.js';

/** A built-in kind: the model of `@kubernetes/client-node` in its wire format. */
export type Kind<ApiVersion extends string, Name extends string, Model> = {
  apiVersion: ApiVersion;
  kind: Name;
  metadata: ObjectMeta;
} & Omit<Wire<Model>, 'apiVersion' | 'kind' | 'metadata'>;

function resource<T extends { apiVersion: string; kind: string; metadata: ObjectMeta }>(
  apiVersion: T['apiVersion'],
  kind: T['kind'],
  namespaced = true,
): ResourceType<T> {
  const plural = pluralOf(kind.toLowerCase());
  return { group: groupOf(apiVersion), version: versionOf(apiVersion), kind, plural, namespaced };
}

/** `v1` ConfigMap. */
export type ConfigMap = Kind<'v1', 'ConfigMap', V1ConfigMap>;
/** The resource type of ConfigMap. */
export const ConfigMap = resource<ConfigMap>('v1', 'ConfigMap');

/** `v1` Secret. */
export type Secret = Kind<'v1', 'Secret', V1Secret>;
/** The resource type of Secret. */
export const Secret = resource<Secret>('v1', 'Secret');

/** `v1` Service. */
export type Service = Kind<'v1', 'Service', V1Service>;
/** The resource type of Service. */
export const Service = resource<Service>('v1', 'Service');

/** `v1` ServiceAccount. */
export type ServiceAccount = Kind<'v1', 'ServiceAccount', V1ServiceAccount>;
/** The resource type of ServiceAccount. */
export const ServiceAccount = resource<ServiceAccount>('v1', 'ServiceAccount');

/** `v1` PersistentVolumeClaim. */
export type PersistentVolumeClaim = Kind<'v1', 'PersistentVolumeClaim', V1PersistentVolumeClaim>;
/** The resource type of PersistentVolumeClaim. */
export const PersistentVolumeClaim = resource<PersistentVolumeClaim>('v1', 'PersistentVolumeClaim');

/** `v1` PersistentVolume. */
export type PersistentVolume = Kind<'v1', 'PersistentVolume', V1PersistentVolume>;
/** The resource type of PersistentVolume. */
export const PersistentVolume = resource<PersistentVolume>('v1', 'PersistentVolume', false);

/** `v1` Pod. */
export type Pod = Kind<'v1', 'Pod', V1Pod>;
/** The resource type of Pod. */
export const Pod = resource<Pod>('v1', 'Pod');

/** `v1` Namespace. */
export type Namespace = Kind<'v1', 'Namespace', V1Namespace>;
/** The resource type of Namespace. */
export const Namespace = resource<Namespace>('v1', 'Namespace', false);

/** `v1` Node. */
export type Node = Kind<'v1', 'Node', V1Node>;
/** The resource type of Node. */
export const Node = resource<Node>('v1', 'Node', false);

/** `apps/v1` Deployment. */
export type Deployment = Kind<'apps/v1', 'Deployment', V1Deployment>;
/** The resource type of Deployment. */
export const Deployment = resource<Deployment>('apps/v1', 'Deployment');

/** `apps/v1` StatefulSet. */
export type StatefulSet = Kind<'apps/v1', 'StatefulSet', V1StatefulSet>;
/** The resource type of StatefulSet. */
export const StatefulSet = resource<StatefulSet>('apps/v1', 'StatefulSet');

/** `apps/v1` DaemonSet. */
export type DaemonSet = Kind<'apps/v1', 'DaemonSet', V1DaemonSet>;
/** The resource type of DaemonSet. */
export const DaemonSet = resource<DaemonSet>('apps/v1', 'DaemonSet');

/** `apps/v1` ReplicaSet. */
export type ReplicaSet = Kind<'apps/v1', 'ReplicaSet', V1ReplicaSet>;
/** The resource type of ReplicaSet. */
export const ReplicaSet = resource<ReplicaSet>('apps/v1', 'ReplicaSet');

/** `apps/v1` ControllerRevision. */
export type ControllerRevision = Kind<'apps/v1', 'ControllerRevision', V1ControllerRevision>;
/** The resource type of ControllerRevision. */
export const ControllerRevision = resource<ControllerRevision>('apps/v1', 'ControllerRevision');

/** `batch/v1` Job. */
export type Job = Kind<'batch/v1', 'Job', V1Job>;
/** The resource type of Job. */
export const Job = resource<Job>('batch/v1', 'Job');

/** `batch/v1` CronJob. */
export type CronJob = Kind<'batch/v1', 'CronJob', V1CronJob>;
/** The resource type of CronJob. */
export const CronJob = resource<CronJob>('batch/v1', 'CronJob');

/** `networking.k8s.io/v1` NetworkPolicy. */
export type NetworkPolicy = Kind<'networking.k8s.io/v1', 'NetworkPolicy', V1NetworkPolicy>;
/** The resource type of NetworkPolicy. */
export const NetworkPolicy = resource<NetworkPolicy>('networking.k8s.io/v1', 'NetworkPolicy');

/** `networking.k8s.io/v1` Ingress. */
export type Ingress = Kind<'networking.k8s.io/v1', 'Ingress', V1Ingress>;
/** The resource type of Ingress. */
export const Ingress = resource<Ingress>('networking.k8s.io/v1', 'Ingress');

/** `policy/v1` PodDisruptionBudget. */
export type PodDisruptionBudget = Kind<'policy/v1', 'PodDisruptionBudget', V1PodDisruptionBudget>;
/** The resource type of PodDisruptionBudget. */
export const PodDisruptionBudget = resource<PodDisruptionBudget>(
  'policy/v1',
  'PodDisruptionBudget',
);

/** `autoscaling/v2` HorizontalPodAutoscaler. */
export type HorizontalPodAutoscaler = Kind<
  'autoscaling/v2',
  'HorizontalPodAutoscaler',
  V2HorizontalPodAutoscaler
>;
/** The resource type of HorizontalPodAutoscaler. */
export const HorizontalPodAutoscaler = resource<HorizontalPodAutoscaler>(
  'autoscaling/v2',
  'HorizontalPodAutoscaler',
);

/** `rbac.authorization.k8s.io/v1` Role. */
export type Role = Kind<'rbac.authorization.k8s.io/v1', 'Role', V1Role>;
/** The resource type of Role. */
export const Role = resource<Role>('rbac.authorization.k8s.io/v1', 'Role');

/** `rbac.authorization.k8s.io/v1` RoleBinding. */
export type RoleBinding = Kind<'rbac.authorization.k8s.io/v1', 'RoleBinding', V1RoleBinding>;
/** The resource type of RoleBinding. */
export const RoleBinding = resource<RoleBinding>('rbac.authorization.k8s.io/v1', 'RoleBinding');

/** `rbac.authorization.k8s.io/v1` ClusterRole. */
export type ClusterRole = Kind<'rbac.authorization.k8s.io/v1', 'ClusterRole', V1ClusterRole>;
/** The resource type of ClusterRole. */
export const ClusterRole = resource<ClusterRole>(
  'rbac.authorization.k8s.io/v1',
  'ClusterRole',
  false,
);

/** `rbac.authorization.k8s.io/v1` ClusterRoleBinding. */
export type ClusterRoleBinding = Kind<
  'rbac.authorization.k8s.io/v1',
  'ClusterRoleBinding',
  V1ClusterRoleBinding
>;
/** The resource type of ClusterRoleBinding. */
export const ClusterRoleBinding = resource<ClusterRoleBinding>(
  'rbac.authorization.k8s.io/v1',
  'ClusterRoleBinding',
  false,
);

/** `coordination.k8s.io/v1` Lease. */
export type Lease = Kind<'coordination.k8s.io/v1', 'Lease', V1Lease>;
/** The resource type of Lease. */
export const Lease = resource<Lease>('coordination.k8s.io/v1', 'Lease');

/** `events.k8s.io/v1` Event. */
export type Event = Kind<'events.k8s.io/v1', 'Event', EventsV1Event>;
/** The resource type of Event. */
export const Event = resource<Event>('events.k8s.io/v1', 'Event');

/** `storage.k8s.io/v1` StorageClass. */
export type StorageClass = Kind<'storage.k8s.io/v1', 'StorageClass', V1StorageClass>;
/** The resource type of StorageClass. */
export const StorageClass = resource<StorageClass>('storage.k8s.io/v1', 'StorageClass', false);

/** `discovery.k8s.io/v1` EndpointSlice. */
export type EndpointSlice = Kind<'discovery.k8s.io/v1', 'EndpointSlice', V1EndpointSlice>;
/** The resource type of EndpointSlice. */
export const EndpointSlice = resource<EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice');

/** `apiextensions.k8s.io/v1` CustomResourceDefinition. */
export type CustomResourceDefinition = Kind<
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  V1CustomResourceDefinition
>;
/** The resource type of CustomResourceDefinition. */
export const CustomResourceDefinition = resource<CustomResourceDefinition>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  false,
);
