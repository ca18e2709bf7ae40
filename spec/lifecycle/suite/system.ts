import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';

/** Returns the usual system: ServiceAccount, Deployment, Service. */
export function system(namespace: string, workload: Workload = {}): UnstructuredObject[] {
  return [account(namespace), deployment(namespace, workload), service(namespace)];
}

export function account(namespace: string): UnstructuredObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'web', namespace } };
}

export function configMap(namespace: string, name = 'settings'): UnstructuredObject {
  const data = { size: 'small' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
}

export function service(namespace: string): UnstructuredObject {
  return {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace } },
    spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80 }] },
  };
}

/** Pod spec that fits no node. */
export const nowhere = { nodeSelector: { zone: 'none' } };

export function deployment(
  namespace: string,
  { name = 'web', image = 'nginx:1', pod = {}, container = {}, ...spec }: Workload = {},
): UnstructuredObject {
  const labels = { app: name };
  const env = [{ name: 'MODE', value: 'fast' }];
  const containers = [{ name: 'web', image, env, ...container }];
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace } },
    spec: {
      ...{ replicas: 1, selector: { matchLabels: labels } },
      template: { metadata: { labels }, spec: { containers, ...pod } },
      ...spec,
    },
  };
}

/** Differences from the usual Deployment. */
export interface Workload {
  readonly name?: string;
  readonly image?: string;
  readonly pod?: object;
  readonly container?: object;
  readonly [field: string]: unknown;
}
