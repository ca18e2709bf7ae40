import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { ApiConnection } from './api-connection.js';
import type { ApiCredentials } from './api-connection.js';
import type { ControlPlane } from './control-plane.js';

/** Fields of a kubeconfig that are read here; file names are relative to the kubeconfig. */
interface KubeConfig {
  readonly 'current-context': string;
  readonly contexts: readonly { name: string; context: { cluster: string; user: string } }[];
  readonly clusters: readonly { name: string; cluster: Readonly<Record<string, string>> }[];
  readonly users: readonly { name: string; user: Readonly<Record<string, string>> }[];
}

/** Returns true if `USE_EXISTING_CLUSTER` selects the cluster of `KUBECONFIG`, like in envtest. */
export function isExistingClusterWanted(): boolean {
  return process.env['USE_EXISTING_CLUSTER']?.toLowerCase() === 'true';
}

/**
 * Returns the cluster of the current context of `KUBECONFIG` (or of `~/.kube/config`).
 * @throws Error: the file is missing, or its user requires an authentication plugin.
 */
export function connectToExistingCluster(): ControlPlane {
  const kubeConfigPath = process.env['KUBECONFIG'] ?? join(homedir(), '.kube', 'config');
  const credentials = readCredentials(kubeConfigPath);
  const api = new ApiConnection(credentials);
  return {
    url: credentials.url,
    caData: Buffer.from(credentials.ca ?? '').toString('base64'),
    token: credentials.token ?? '',
    kubeConfigPath,
    api,
    get auditLog(): never {
      throw new Error('the audit log of an existing cluster is out of reach');
    },
    get processes(): never {
      throw new Error('the processes of an existing cluster are out of reach');
    },
    user: (name) => Promise.reject(new Error(`an existing cluster takes no user ${name} of ours`)),
    stop: async () => api.close(),
  };
}

function readCredentials(path: string): ApiCredentials {
  const config = parse(readFileSync(path, 'utf8')) as KubeConfig;
  const current = find(config.contexts, config['current-context'], path).context;
  const { cluster } = find(config.clusters, current.cluster, path);
  const { user } = find(config.users, current.user, path);
  const pem = (fields: Readonly<Record<string, string>>, name: string) => {
    const data = fields[`${name}-data`];
    if (data !== undefined) return Buffer.from(data, 'base64').toString();
    const file = fields[name];
    return file === undefined ? undefined : readFileSync(resolve(dirname(path), file), 'utf8');
  };
  const found = {
    url: cluster['server']?.replace(/\/$/, ''),
    ca: pem(cluster, 'certificate-authority'),
    token: user['token'],
    cert: pem(user, 'client-certificate'),
    key: pem(user, 'client-key'),
  };
  if (found.token === undefined && found.cert === undefined) {
    throw new Error(`${path}: user ${current.user} has neither a token nor a client certificate`);
  }
  return Object.fromEntries(
    Object.entries(found).filter(([, value]) => value !== undefined),
  ) as unknown as ApiCredentials;
}

function find<T extends { name: string }>(list: readonly T[], name: string, path: string): T {
  const item = list.find((candidate) => candidate.name === name);
  if (item === undefined) throw new Error(`${path}: nothing is called ${name}`);
  return item;
}
