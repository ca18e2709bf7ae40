import type {
  ConfigMap,
  CronJob,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  Job,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
} from '../../../lib/object/kinds.js';
import type {
  KubernetesObject,
  OwnerReference,
  UnstructuredObject,
} from '../../../lib/object/kubernetes-object.js';

const namespace = 'default';

/** A pod template with one container. */
export function podTemplate(app: string, image = 'registry/app:1') {
  return { metadata: { labels: { app } }, spec: { containers: [{ name: 'main', image }] } };
}

/** A merge patch that changes the image of a workload. */
export function imagePatch(image: string): object {
  return { spec: { template: { spec: { containers: [{ name: 'main', image }] } } } };
}

export function deployment(name: string, spec: object = {}, image?: string): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      selector: { matchLabels: { app: name } },
      template: podTemplate(name, image),
      ...spec,
    },
  };
}

export function statefulSet(name: string, spec: object = {}, image?: string): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace },
    spec: {
      serviceName: name,
      selector: { matchLabels: { app: name } },
      template: podTemplate(name, image),
      ...spec,
    },
  };
}

/** `volumeClaimTemplates` with one template. */
export function claimTemplates(name = 'data') {
  const resources = { requests: { storage: '1Gi' } };
  return [{ metadata: { name }, spec: { accessModes: ['ReadWriteOnce'], resources } }];
}

export function daemonSet(name: string, spec: object = {}): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace },
    spec: { selector: { matchLabels: { app: name } }, template: podTemplate(name), ...spec },
  };
}

export function job(name: string, spec: object = {}, image = 'registry/app:1'): Job {
  const template = {
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image }] },
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace },
    spec: { template, ...spec },
  };
}

export function cronJob(name: string, schedule: string, spec: object = {}): CronJob {
  const jobTemplate = { spec: job(name).spec! };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace },
    spec: { schedule, jobTemplate, ...spec },
  };
}

export function pod(name: string, spec: object = {}, metadata: object = {}): Pod {
  const containers = [{ name: 'main', image: 'registry/app:1' }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ...metadata },
    spec: { containers, ...spec },
  };
}

export function claim(name: string, spec: object = {}): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: 'standard',
      ...spec,
    },
  };
}

/** A ConfigMap, as the simplest kind of owner and dependent. */
export function configMap(name: string, metadata: object = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...metadata } };
}

/** A custom resource `Shop` without a schema. */
export function shopDefinition(): CustomResourceDefinition {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'shops.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'shops', singular: 'shop', kind: 'Shop', listKind: 'ShopList' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

/** A {@link shopDefinition} resource. */
export function shop(name: string, metadata: object = {}): KubernetesObject {
  const apiVersion = 'example.com/v1';
  return { apiVersion, kind: 'Shop', metadata: { name, namespace, ...metadata } };
}

/** A reference to a live object. */
export function ownedBy(
  owner: KubernetesObject,
  more: Partial<OwnerReference> = {},
): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  return { apiVersion, kind, name: metadata.name ?? '', uid: metadata.uid ?? '', ...more };
}

/** A policy and its binding. They refuse an operation of the controllers on a resource of version v1. */
export function refusalOf(
  operation: 'CREATE' | 'UPDATE' | 'DELETE',
  { group = '', resource }: { readonly group?: string; readonly resource: string },
): readonly UnstructuredObject[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = { name: 'refusal' };
  const rule = { apiGroups: [group], apiVersions: ['v1'], resources: [resource] };
  const expression = "request.userInfo.username != 'system:kube-controller-manager'";
  return [
    {
      ...{ apiVersion, kind: 'ValidatingAdmissionPolicy', metadata },
      spec: {
        matchConstraints: { resourceRules: [{ ...rule, operations: [operation] }] },
        validations: [{ expression, message: 'not now' }],
      },
    },
    {
      ...{ apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata },
      spec: { policyName: 'refusal', validationActions: ['Deny'] },
    },
  ];
}
