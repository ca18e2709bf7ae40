import * as kinds from '../../object/kinds.js';
import type { ResourceType } from '../../object/resource-type.js';

/** Returns a built-in kind by its group (`core` or empty for that of Pods); undefined if unknown. */
export function builtInType(named: {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}): ResourceType | undefined {
  const group = named.group === 'core' ? '' : named.group;
  const all: readonly unknown[] = Object.values(kinds);
  return (all as readonly ResourceType[]).find(
    (one) => one.group === group && one.version === named.version && one.kind === named.kind,
  );
}

const containers = [{ name: 'app', image: 'registry.example/app:1' }];
const labels = { app: 'sample' };
const template = { metadata: { labels }, spec: { containers } };
const workload = { spec: { selector: { matchLabels: labels }, template } };
const jobTemplate = { spec: { template: { spec: { containers, restartPolicy: 'Never' } } } };
const role = { apiGroup: 'rbac.authorization.k8s.io', name: 'sample' };
const metricsOf = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'sample' };

/** Minimal content of built-in kinds with required fields, for tests. */
const contents: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  ClusterRoleBinding: { roleRef: { ...role, kind: 'ClusterRole' } },
  ControllerRevision: { revision: 1, data: {} },
  CronJob: { spec: { schedule: '@daily', jobTemplate } },
  DaemonSet: workload,
  Deployment: workload,
  EndpointSlice: { addressType: 'IPv4', endpoints: [] },
  Event: {
    ...{ eventTime: '2026-01-01T00:00:00.000000Z', type: 'Normal', reason: 'Sample' },
    ...{ action: 'Sample', reportingController: 'example.com/sample', reportingInstance: 'a' },
  },
  HorizontalPodAutoscaler: { spec: { scaleTargetRef: metricsOf, maxReplicas: 2 } },
  Ingress: { spec: { defaultBackend: { service: { name: 'sample', port: { number: 80 } } } } },
  Job: jobTemplate,
  NetworkPolicy: { spec: { podSelector: {} } },
  PersistentVolume: {
    spec: {
      ...{ accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
      hostPath: { path: '/tmp' },
    },
  },
  PersistentVolumeClaim: {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  Pod: { spec: { containers } },
  PodDisruptionBudget: { spec: { selector: { matchLabels: labels } } },
  ReplicaSet: workload,
  RoleBinding: { roleRef: { ...role, kind: 'Role' } },
  Service: { spec: { ports: [{ port: 80 }] } },
  StatefulSet: { spec: { ...workload.spec, serviceName: 'sample' } },
  StorageClass: { provisioner: 'example.com/sample' },
};

/** Returns the minimal content of a built-in kind beside its metadata. */
export function builtInContent(kind: string): Readonly<Record<string, unknown>> {
  return contents[kind] ?? {};
}
