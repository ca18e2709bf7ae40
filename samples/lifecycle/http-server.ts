import type { Deployment, KubernetesObject, PodDisruptionBudget, Service } from 'operator-builder';
import type { ResourceBuilder } from 'operator-builder/lifecycle';
import type { Deploying } from './release.js';

/** Name of most of the system's objects. */
export const serverName = 'http-server';

/**
 * On the pods of every release, and what the Service selects by: not by the labels of a Deployment's
 * selector, which belong to that Deployment, and go with it. So traffic flows through each upgrade.
 */
export const endpointLabel = { 'lifecycle.example.com/endpoint': serverName };

/** In what the Deployment of one release is not as that of another. */
export interface ServerRelease {
  readonly name: string;
  readonly image: string;
  readonly matchLabels: Readonly<Record<string, string>>;
}

/** Returns the ServiceAccount of the server and its rights: it may only read its own page. */
export function identity(
  builder: ResourceBuilder,
  { namespace }: Deploying,
): readonly KubernetesObject[] {
  const named = { name: serverName, namespace };
  return [
    builder.serviceAccount(named),
    builder.role({
      ...named,
      rules: [
        { apiGroups: [''], resources: ['configmaps'], resourceNames: [serverName], verbs: ['get'] },
      ],
    }),
    builder.roleBinding({
      ...named,
      ...{ roleRef: { kind: 'Role', name: serverName }, serviceAccount: serverName },
    }),
  ];
}

/** Returns the page of the server. The operator creates it once; users own its content from then on. */
export function page(builder: ResourceBuilder, { namespace }: Deploying): KubernetesObject {
  const data = { 'index.html': '<h1>It works</h1>\n' };
  return builder.configMap({ name: serverName, namespace, data });
}

/** Returns the Deployment of the server: two pods by default, placed by the configuration. */
export function server(
  builder: ResourceBuilder,
  { config, namespace }: Deploying,
  { name, image, matchLabels }: ServerRelease,
): Deployment {
  const { replicas = 2, nodePlacement } = config.spec;
  const mountPath = '/usr/share/nginx/html';
  const container = builder.portsContainer({
    ...{ name: 'nginx', image },
    ports: [{ name: 'http', containerPort: 80 }],
    readinessProbe: { httpGet: { path: '/', port: 'http' } },
    volumeMounts: [{ name: 'page', mountPath, readOnly: true }],
  });
  return builder.deployment({
    ...{ name, namespace, matchLabels, replicas, nodePlacement },
    ...{ serviceAccount: serverName, podLabels: endpointLabel },
    podSpec: {
      containers: [container],
      volumes: [{ name: 'page', configMap: { name: serverName } }],
    },
  });
}

/** Returns the Service that leads to the pods from outside the cluster; the API server chooses the node port. */
export function nodePort(builder: ResourceBuilder, { namespace }: Deploying): Service {
  return builder.service({
    ...{ name: serverName, namespace, matchLabels: endpointLabel },
    spec: { type: 'NodePort', ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
  });
}

/** The builder has no method for its kind: any plain object will do. */
export function disruptionBudget(
  builder: ResourceBuilder,
  { namespace }: Deploying,
): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: serverName, namespace, labels: builder.withCommonLabels() },
    spec: { minAvailable: 1, selector: { matchLabels: endpointLabel } },
  };
}
