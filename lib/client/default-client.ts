import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConnectedClient } from './http-client.js';
import { clientInCluster, inClusterServer, serviceAccountDirectory } from './in-cluster.js';
import { clientFromKubeConfig } from './kube-config.js';
import type { KubeConfigClientOptions } from './kube-config.js';
import { readKubeConfig } from './kube-config-file.js';
import type { KubeConfigSource } from './kube-config-file.js';

/**
 * Connects by controller-runtime's rules. The first of these that exists: a given `path`, `text` or
 * `context`; the files of the variable `KUBECONFIG`; the service account of the Pod; `~/.kube/config`.
 * @throws OperatorError `InvalidKubeConfig`: none exists, or the first is broken.
 */
export async function defaultClient(
  options: KubeConfigClientOptions = {},
): Promise<ConnectedClient> {
  return (await isInPod(options)) ? clientInCluster(options) : clientFromKubeConfig(options);
}

/** The cluster that {@link defaultClient} connects to, for messages. */
export interface DefaultCluster {
  /** The context of the kubeconfig; undefined in a Pod. */
  readonly context: string | undefined;
  /** The URL of the API server, without credentials. */
  readonly server: string;
}

/**
 * Returns the cluster that {@link defaultClient} connects to with the same options.
 * @throws OperatorError `InvalidKubeConfig`: no configuration exists, or it is broken.
 */
export async function defaultCluster(options: KubeConfigSource): Promise<DefaultCluster> {
  if (await isInPod(options)) {
    return { context: undefined, server: inClusterServer(options.env ?? process.env) };
  }
  const { name, cluster } = await readKubeConfig(options);
  const { protocol, host, pathname } = new URL(cluster.server);
  return { context: name, server: `${protocol}//${host}${pathname === '/' ? '' : pathname}` };
}

async function isInPod({ path, text, context, env = process.env }: KubeConfigSource) {
  const named = path !== undefined || text !== undefined || context !== undefined;
  const useFile = named || (env['KUBECONFIG'] ?? '') !== '';
  return !useFile && isPod(env['KUBERNETES_SERVICE_HOST']);
}

async function isPod(serviceHost: string | undefined): Promise<boolean> {
  if ((serviceHost ?? '') === '') return false;
  return access(join(serviceAccountDirectory, 'token')).then(
    () => true,
    () => false,
  );
}
