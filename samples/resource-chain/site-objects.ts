import type { ConfigMap, Deployment, Namespace, Secret, Service } from 'operator-builder';
import { nameOf } from './site.js';
import type { Site } from './site.js';

const image = 'registry.example/site:1';

/** Returns the namespace of the site's other objects, with the name of the site. */
export function siteNamespace(site: Site): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: nameOf(site) } };
}

/** Returns a ConfigMap of the site. */
export function settings(site: Site, name: string, data: Record<string, string>): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: nameOf(site) }, data };
}

/** Returns the Secret with the token that signs the mails. */
export function credentials(site: Site, token: string): Secret {
  const metadata = { name: 'credentials', namespace: nameOf(site) };
  return { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { TOKEN: token } };
}

/** Returns the Service of one of the site's Deployments. */
export function service(site: Site, app: string): Service {
  const metadata = { name: app, namespace: nameOf(site) };
  const spec = { selector: { app }, ports: [{ port: 80, targetPort: 8080 }] };
  return { apiVersion: 'v1', kind: 'Service', metadata, spec };
}

/** One of the site's Deployments. */
export interface Workload {
  readonly name: string;
  readonly replicas: number;
  /** ConfigMap whose entries are its environment variables. */
  readonly configMap: string;
  /** Whether its environment has the credentials, too. @defaultValue false */
  readonly signs?: boolean;
}

/** Returns a Deployment of the site. */
export function deployment(site: Site, workload: Workload): Deployment {
  const { name, replicas, configMap, signs = false } = workload;
  const labels = { app: name };
  const envFrom = [
    { configMapRef: { name: configMap } },
    ...(signs ? [{ secretRef: { name: 'credentials' } }] : []),
  ];
  const containers = [{ name, image, envFrom }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: nameOf(site) },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}
