import type { Deployment, KubernetesObject, PodDisruptionBudget, Service } from 'operator-builder';
import type { ResourceBuilder } from 'operator-builder/lifecycle';
import type { Deploying } from './release.js';

/** Name of most of the system's objects. */
export const serverName = 'http-server';

/**
 * Label of the pods of every release, by which the Service selects them. The labels in a Deployment's selector
 * would not do: they differ between releases, so that an upgrade would interrupt the traffic.
 */
export const endpointLabel = { 'lifecycle.example.com/endpoint': serverName };

/** The parts of the Deployment that differ between releases. */
export interface ServerRelease {
  readonly name: string;
  readonly image: string;
  readonly matchLabels: Readonly<Record<string, string>>;
}

/** Returns the ServiceAccount of the server, with a role that may only read the page. */
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

/** Returns the Service for access from outside the cluster. The API server allocates the node port. */
export function nodePort(builder: ResourceBuilder, { namespace }: Deploying): Service {
  return builder.service({
    ...{ name: serverName, namespace, matchLabels: endpointLabel },
    spec: { type: 'NodePort', ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
  });
}

/** Returns a PodDisruptionBudget as a plain object, since the builder has no method for the kind. */
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
