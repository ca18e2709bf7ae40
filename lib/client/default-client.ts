import { access, readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import {
  systemClock,
  refuseUnknownOptions,
  silentLogger,
  OperatorError,
  UndiciTransport,
} from '../system/index.js';
import type { TlsOptions, OptionNames } from '../system/index.js';
import { clientSettingNames } from './client-options.js';
import type { ClientSettings } from './client-options.js';
import { createClient } from './http-client.js';
import type { ConnectedClient } from './http-client.js';
import { readKubeConfig } from './kube-config-file.js';
import type { Environment, KubeConfigSource } from './kube-config-file.js';
import { clientFromKubeConfig, proxyFromEnvironment } from './kube-config.js';
import type { KubeConfigClientOptions } from './kube-config.js';
import { keepingFormer, tokenFile } from './credentials.js';

/**
 * Connects by controller-runtime's rules. Uses the first of these that exists: a given `path`, `text` or
 * `context`; the files of the variable `KUBECONFIG`; the service account of the Pod; `~/.kube/config`.
 * @throws OperatorError `InvalidKubeConfig`: no configuration exists, or the first one is broken.
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

/** Options of {@link clientInCluster}. */
export interface InClusterClientOptions extends ClientSettings {
  /**
   * The directory of the Pod's service account.
   * @defaultValue `/var/run/secrets/kubernetes.io/serviceaccount`
   */
  readonly directory?: string | undefined;
  /** The environment with the address of the API server. @defaultValue `process.env` */
  readonly env?: Environment | undefined;
  /** The maximum of connections for requests that are not streams. @defaultValue 64 */
  readonly maxConnections?: number | undefined;
}

const optionNames: OptionNames<InClusterClientOptions> = {
  ...{ ...clientSettingNames, directory: true, env: true, maxConnections: true },
};

/** The directory where the kubelet mounts the token, the CA and the namespace of a Pod. */
export const serviceAccountDirectory = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Creates a client of the cluster that this Pod runs in, with its service account. The client rereads the
 * token and the CA when the kubelet replaces them. It uses the proxy of `HTTPS_PROXY`, unless `NO_PROXY`
 * names the server.
 * @throws OperatorError `InvalidKubeConfig`: this is not a Pod, or it has no service account token.
 * @throws OperatorError `InvalidOption`: `HTTPS_PROXY` is not a usable proxy.
 */
export async function clientInCluster(
  options: InClusterClientOptions = {},
): Promise<ConnectedClient> {
  refuseUnknownOptions<InClusterClientOptions>('clientInCluster', options, optionNames);
  const { directory = serviceAccountDirectory, env = process.env, ...others } = options;
  const { maxConnections, ...settings } = others;
  const { clock = systemClock, logger = silentLogger } = settings;
  const tls = keepingFormer(trustedCa(join(directory, 'ca.crt')), logger);
  const credentials = tokenFile(join(directory, 'token'), clock);
  const server = inClusterServer(env);
  const proxy = proxyFromEnvironment(server, env);
  const transport = new UndiciTransport({ server, tls, maxConnections, proxy });
  // Read the CA and the token now, so that errors appear at the start.
  await Promise.all([tls(), credentials.headers()]);
  const defaultNamespace = await namespaceOf(directory, env);
  return createClient({ ...settings, transport, credentials, defaultNamespace });
}

/**
 * Returns the API server's URL from the variables that the kubelet sets.
 * @throws OperatorError `InvalidKubeConfig`: this is not a Pod.
 */
export function inClusterServer(env: Environment): string {
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = env;
  const missing = [
    ...(host === '' ? ['KUBERNETES_SERVICE_HOST'] : []),
    ...(port === '' ? ['KUBERNETES_SERVICE_PORT'] : []),
  ];
  if (missing.length > 0) {
    throw notInCluster(`${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not set`);
  }
  return `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function trustedCa(path: string): () => Promise<TlsOptions> {
  let last: TlsOptions = {};
  return async () => {
    const ca = await readFile(path, 'utf8').catch((error: unknown) => {
      throw notInCluster((error as Error).message, error);
    });
    if (ca !== last.ca) last = { ca };
    return last;
  };
}

async function namespaceOf(directory: string, env: Environment): Promise<string | undefined> {
  if ((env['POD_NAMESPACE'] ?? '') !== '') return env['POD_NAMESPACE'];
  try {
    return (await readFile(join(directory, 'namespace'), 'utf8')).trim();
  } catch {
    return undefined; // The file is optional: `default` is used instead.
  }
}

function notInCluster(reason: string, cause?: unknown): OperatorError {
  const message = `in-cluster credentials: ${reason} (run in a Pod with a service account token)`;
  return new OperatorError('InvalidKubeConfig', message, { cause });
}
