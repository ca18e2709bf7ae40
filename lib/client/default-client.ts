import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConnectedClient } from './http-client.js';
import { clientInCluster, serviceAccountDirectory } from './in-cluster.js';
import { clientFromKubeConfig } from './kube-config.js';
import type { KubeConfigClientOptions } from './kube-config.js';

/**
 * A client by controller-runtime's rules: a `path`, `text` or `context` that is given, the files
 * of the variable `KUBECONFIG`, the service account of the Pod, `~/.kube/config`; the first that
 * there is.
 * @throws OperatorError `InvalidKubeConfig`: none of them, or the first is broken.
 */
export async function defaultClient(
  options: KubeConfigClientOptions = {},
): Promise<ConnectedClient> {
  const { path, text, context, env = process.env } = options;
  const named = path !== undefined || text !== undefined || context !== undefined;
  const useFile = named || (env['KUBECONFIG'] ?? '') !== '';
  if (!useFile && (await isPod(env['KUBERNETES_SERVICE_HOST']))) return clientInCluster(options);
  return clientFromKubeConfig(options);
}

async function isPod(serviceHost: string | undefined): Promise<boolean> {
  if ((serviceHost ?? '') === '') return false;
  return access(join(serviceAccountDirectory, 'token')).then(
    () => true,
    () => false,
  );
}
