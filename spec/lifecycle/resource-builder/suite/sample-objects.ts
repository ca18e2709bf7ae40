import { ResourceBuilder } from '../../../../lib/lifecycle/index.js';
import type { KubernetesObject } from '../../../../lib/object/kubernetes-object.js';

/** Builder with both kinds of labels. */
export const builder = new ResourceBuilder({
  commonLabels: { 'app.kubernetes.io/part-of': 'shop', tier: 'web' },
  operatorLabels: { 'app.kubernetes.io/part-of': 'shop-operator' },
});

const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
const matchLabels = { app: 'web' };

/** One object per method, by method name. */
export function objectsOf(namespace: string): Readonly<Record<string, KubernetesObject>> {
  const name = `web-${namespace}`;
  const container = builder.container({ name: 'init', image: 'web:1', command: ['true'] });
  const server = builder.portsContainer({
    ...{ name: 'server', image: 'web:1', imagePullPolicy: 'IfNotPresent' },
    ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }],
  });
  const podSpec = { initContainers: [container], containers: [server] };
  const account = { serviceAccount: name, serviceAccountNamespace: namespace };
  return {
    deployment: builder.deployment({
      ...{ name, namespace, matchLabels, podSpec, replicas: 2, serviceAccount: name },
      podLabels: { 'example.com/pod': 'yes' },
      podAnnotations: { 'example.com/Scrape': 'true' },
      nodePlacement: {
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        affinity: { podAntiAffinity: {} },
        tolerations: [{ key: 'infra', operator: 'Exists' }],
      },
      spec: { strategy: { type: 'Recreate' } },
    }),
    operatorDeployment: builder.operatorDeployment({
      ...{ name: `${name}-operator`, namespace, matchLabels: { app: 'operator' }, podSpec },
    }),
    service: builder.service({
      ...{ name, namespace, matchLabels },
      spec: { type: 'NodePort', ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
    }),
    secret: builder.secret({
      ...{ name, namespace, type: 'Opaque', immutable: true },
      ...{ data: { a: 'YQ==' }, stringData: { b: 'ö' } },
    }),
    configMap: builder.configMap({
      ...{ name, namespace, data: { a: '1' }, binaryData: { b: 'YQ==' } },
    }),
    clusterRole: builder.clusterRole({ name: `system:${name}`, rules }),
    operatorClusterRole: builder.operatorClusterRole({ name: `operator:${name}`, rules }),
    aggregateClusterRole: builder.aggregateClusterRole({
      ...{ name: `view:${name}`, aggregateTo: 'view', rules },
    }),
    role: builder.role({ name, namespace, rules }),
    roleBinding: builder.roleBinding({
      ...{ name, namespace, roleRef: { kind: 'Role', name }, serviceAccount: name },
    }),
    clusterRoleBinding: builder.clusterRoleBinding({ name, clusterRole: 'view', ...account }),
    operatorClusterRoleBinding: builder.operatorClusterRoleBinding({
      ...{ name: `${name}-operator`, clusterRole: 'view', ...account },
    }),
    serviceAccount: builder.serviceAccount({
      ...{ name, namespace, imagePullSecrets: ['registry'], automountServiceAccountToken: false },
    }),
    operatorServiceAccount: builder.operatorServiceAccount({ name: `${name}-operator`, namespace }),
  };
}
