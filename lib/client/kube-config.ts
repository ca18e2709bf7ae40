import { readFile } from 'node:fs/promises';
import type * as ClientNode from '@kubernetes/client-node';
import omit from 'lodash/omit.js';
import { systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { silentLogger } from '../system/logger.js';
import { isProxyUrl } from '../system/proxy-tunnel.js';
import { UndiciTransport } from '../system/undici-transport.js';
import type { TlsOptions } from '../system/connector.js';
import { withCertificateFiles } from './certificate-files.js';
import { anonymous, basicAuth, bearerToken, withHeaders } from './credentials.js';
import type { Credentials } from './credentials.js';
import { clientSettingNames } from './client-options.js';
import type { ClientSettings } from './client-options.js';
import { ExecCredentials } from './exec-credentials.js';
import type { ClientCertificate } from './exec-credentials.js';
import { createClient } from './http-client.js';
import type { ConnectedClient } from './http-client.js';
import { impersonationHeaders } from './impersonation.js';
import { invalidKubeConfig, readKubeConfig } from './kube-config-file.js';
import type { ClusterEntry, KubeConfigContext, KubeConfigSource } from './kube-config-file.js';
import { proxyFromEnvironment } from './proxy-environment.js';
import { tokenFile } from './token-file.js';
import { errorMessage } from '../system/as-error.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import type { OptionNames } from '../system/known-options.js';

/** Options of {@link clientFromKubeConfig}. */
export interface KubeConfigClientOptions extends KubeConfigSource, ClientSettings {
  /** The maximum of connections for requests that are not streams. @defaultValue 64 */
  readonly maxConnections?: number | undefined;
}

/**
 * The option names of {@link clientFromKubeConfig}, which `clientInCluster` also accepts for `defaultClient`.
 */
export const kubeConfigClientOptionNames: OptionNames<KubeConfigClientOptions> = {
  ...clientSettingNames,
  ...{ maxConnections: true, path: true, text: true, context: true, env: true },
};

const ofTheFile = {
  transport: 'give it to createClient',
  credentials: 'name a user in the kubeconfig, or give it to createClient',
  defaultNamespace: 'set the namespace of the context',
};

/**
 * Creates a client of the cluster of a kubeconfig context, as kubectl reaches it. It supports tokens, client
 * certificates, passwords, credential plugins (`exec`) and `auth-provider`s. It uses the cluster's
 * `proxy-url`, else the proxy of `HTTPS_PROXY` (or `HTTP_PROXY`) and `NO_PROXY` in `env`.
 * @throws OperatorError `InvalidKubeConfig`: a file or an entry is missing or invalid.
 * @throws OperatorError `InvalidOption`: the environment names an unusable proxy.
 */
export async function clientFromKubeConfig(
  options: KubeConfigClientOptions = {},
): Promise<ConnectedClient> {
  refuseUnknownOptions('clientFromKubeConfig', options, kubeConfigClientOptionNames, ofTheFile);
  const context = await readKubeConfig(options);
  const { clock = systemClock, logger = silentLogger, env = process.env } = options;
  const { maxConnections } = options;
  const { cluster, user, source } = context;
  if (!/^https?:$/.test(URL.canParse(cluster.server) ? new URL(cluster.server).protocol : '')) {
    throw invalidKubeConfig(source, 'server is no http or https URL', 'correct it');
  }
  const exec: ExecCredentials | undefined =
    user.exec &&
    new ExecCredentials(context, user.exec, {
      clock,
      onNewCertificate: () => transport.reconnect(),
    });
  const tls = tlsOf(context, () => exec?.certificate());
  const proxy = proxyOf(cluster, source) ?? proxyFromEnvironment(cluster.server, env);
  const transport: UndiciTransport = new UndiciTransport({
    ...{ server: cluster.server, tls, maxConnections, proxy },
  });
  // Missing files are reported now, not at the first request.
  if (exec === undefined) await tls();
  const reconnect = (): Promise<void> => transport.reconnect();
  const plain = exec ?? (await userCredentials(context, clock));
  const hasFiles = user['client-certificate'] !== undefined && exec === undefined;
  const files = { tls, reconnect, clock, logger };
  const credentials = hasFiles ? withCertificateFiles(plain, files) : plain;
  return createClient({
    ...omit(options, ['maxConnections', 'path', 'text', 'context', 'env']),
    transport,
    credentials: withHeaders(credentials, impersonationHeaders(user)),
    defaultNamespace: context.namespace,
    compression: options.compression ?? cluster['disable-compression'] !== true,
  });
}

function proxyOf({ 'proxy-url': proxy = '' }: ClusterEntry, source: string): string | undefined {
  if (proxy === '') return undefined;
  // The message omits the text: it may hold a password.
  if (isProxyUrl(proxy)) return proxy;
  throw invalidKubeConfig(source, 'proxy-url is no http, https or socks5 URL', 'correct it');
}

type CertificateSource = () => Promise<ClientCertificate | undefined> | undefined;

/**
 * Returns a function that reads the current TLS settings: files may be rotated, plugins may print new
 * certificates.
 */
function tlsOf(context: KubeConfigContext, issued: CertificateSource): () => Promise<TlsOptions> {
  const { cluster, user, source } = context;
  const read = (name: string, data: string | undefined, path: string | undefined) =>
    pem(`${source}: ${name}`, { data, path });
  let last: TlsOptions = {};
  return async () => {
    const { cert, key } = (await issued()) ?? {};
    const settings: TlsOptions = {
      ca: await read(
        'certificate-authority',
        cluster['certificate-authority-data'],
        cluster['certificate-authority'],
      ),
      cert:
        cert ??
        (await read(
          'client-certificate',
          user['client-certificate-data'],
          user['client-certificate'],
        )),
      key: key ?? (await read('client-key', user['client-key-data'], user['client-key'])),
      servername: cluster['tls-server-name'],
      insecure: cluster['insecure-skip-tls-verify'] === true,
    };
    // The same object while the settings are unchanged, so that TLS sessions are resumed.
    if (!sameTls(last, settings)) last = settings;
    return last;
  };
}

function sameTls(a: TlsOptions, b: TlsOptions): boolean {
  const names = ['ca', 'cert', 'key', 'servername', 'insecure'] as const;
  return names.every((name) => a[name] === b[name]);
}

/** Inline data takes precedence over a file, as in client-go. */
async function pem(
  name: string,
  { data, path }: { readonly data: string | undefined; readonly path: string | undefined },
): Promise<string | undefined> {
  if (data !== undefined && data !== '') return Buffer.from(data, 'base64').toString('utf8');
  if (path === undefined || path === '') return undefined;
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw invalidKubeConfig(name, (error as Error).message, 'correct the path', error);
  }
}

async function userCredentials(context: KubeConfigContext, clock: Clock): Promise<Credentials> {
  const { token, tokenFile: path, username, password = '', ...user } = context.user;
  if (path !== undefined && path !== '') return tokenFile(path, clock);
  if (token !== undefined && token !== '') return bearerToken(token);
  if (username !== undefined && username !== '') return basicAuth(username, password);
  const provider = user['auth-provider'];
  return provider === undefined ? anonymous : authProvider(context, provider);
}

/** Gets the tokens of an `auth-provider` (oidc, azure, gcp) through client-node. */
async function authProvider(
  { source }: KubeConfigContext,
  { name = '', config = {} }: NonNullable<KubeConfigContext['user']['auth-provider']>,
): Promise<Credentials> {
  const { KubeConfig } = await loadClientNode(source, name);
  // client-node writes renewed tokens into it.
  const kept = { ...config };
  return {
    headers: async () => {
      const kubeConfig = new KubeConfig();
      // A new KubeConfig each time: a reused one takes the lifetime of a renewed OIDC token for its expiry,
      // and would renew it at every request.
      kubeConfig.loadFromClusterAndUser(
        { name: 'cluster', server: 'https://localhost', skipTLSVerify: false },
        { name: 'user', authProvider: { name, config: kept } },
      );
      const options: { headers?: Record<string, string> } = {};
      await kubeConfig.applyToHTTPSOptions(options).catch((error: unknown) => {
        const reason = `auth-provider ${name}: ${errorMessage(error)}`;
        throw invalidKubeConfig(source, reason, 'log in again, or use an exec plugin', error);
      });
      const authorization = options.headers?.['Authorization'];
      return authorization === undefined ? {} : { authorization };
    },
  };
}

// Not a literal: a bundler would inline 14 MB into every operator for this legacy field.
const clientNode = ['@kubernetes', 'client-node'].join('/');

async function loadClientNode(source: string, provider: string): Promise<typeof ClientNode> {
  try {
    return (await import(clientNode)) as typeof ClientNode;
  } catch (error) {
    const problem = `auth-provider ${provider} needs the package ${clientNode}, which can't be loaded`;
    const remedy = 'use a token, a certificate or an exec plugin, or install it beside the program';
    throw invalidKubeConfig(source, problem, remedy, error);
  }
}
