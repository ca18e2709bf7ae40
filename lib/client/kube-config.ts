import { readFile } from 'node:fs/promises';
import { BlockList, isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { domainToASCII } from 'node:url';
import type * as ClientNode from '@kubernetes/client-node';
import omit from 'lodash/omit.js';
import {
  errorMessage,
  systemClock,
  refuseUnknownOptions,
  silentLogger,
  OperatorError,
  isProxyUrl,
  UndiciTransport,
} from '../system/index.js';
import type { Clock, TlsOptions, OptionNames } from '../system/index.js';
import {
  withCertificateFiles,
  anonymous,
  basicAuth,
  bearerToken,
  impersonationHeaders,
  keepingFormer,
  withHeaders,
  tokenFile,
} from './credentials.js';
import { clientSettingNames } from './client-options.js';
import type { ClientSettings } from './client-options.js';
import type { CredentialHeaders, Credentials } from './credentials.js';
import { ExecCredentials } from './exec-credentials.js';
import { createClient } from './http-client.js';
import type { ConnectedClient } from './http-client.js';
import { invalidKubeConfig, readKubeConfig } from './kube-config-file.js';
import type {
  ClusterEntry,
  Environment,
  KubeConfigContext,
  KubeConfigSource,
  UserEntry,
} from './kube-config-file.js';

/** Options of {@link clientFromKubeConfig}. */
export interface KubeConfigClientOptions extends KubeConfigSource, ClientSettings {
  /** The maximum of connections for requests that are not streams. @defaultValue 64 */
  readonly maxConnections?: number | undefined;
}

const optionNames: OptionNames<KubeConfigClientOptions> = {
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
  refuseUnknownOptions('clientFromKubeConfig', options, optionNames, ofTheFile);
  const context = await readKubeConfig(options);
  const { clock = systemClock, logger = silentLogger, env = process.env } = options;
  const { maxConnections } = options;
  const { cluster, user, source } = context;
  const exec: ExecCredentials | undefined =
    user.exec === undefined || hasCredentials(user)
      ? undefined
      : new ExecCredentials(context, user.exec, {
          clock,
          authority: () => authorityOf(context),
          onNewCertificate: () => transport.reconnect(),
        });
  const read = tlsOf(context, exec);
  // If the credential program fails, report that, instead of continuing with its former certificate.
  const tls = exec === undefined ? keepingFormer(read, logger) : read;
  const proxy = proxyOf(cluster, source) ?? proxyFromEnvironment(cluster.server, env);
  const transport: UndiciTransport = new UndiciTransport({
    ...{ server: cluster.server, tls, maxConnections, proxy },
  });
  // Missing files are reported now, not at the first request.
  if (exec === undefined) await tls();
  const reconnect = (): Promise<void> => transport.reconnect();
  const plain = exec ?? (await userCredentials(context, clock));
  const hasFiles = user['client-certificate'] !== undefined && exec === undefined;
  const files = { read, tls, reconnect, clock };
  const credentials = hasFiles ? withCertificateFiles(plain, files) : plain;
  return createClient({
    ...omit(options, ['maxConnections', 'path', 'text', 'context', 'env']),
    transport,
    credentials: withHeaders(
      credentials,
      options.impersonate === undefined ? impersonationOf(context) : {},
    ),
    defaultNamespace: context.namespace,
    compression: options.compression ?? cluster['disable-compression'] !== true,
  });
}

/** Whether a user has credentials other than a plugin, which then does not run, as in client-go. */
function hasCredentials({ token, tokenFile: path, username, ...user }: UserEntry): boolean {
  const certificate = user['client-certificate-data'] || user['client-certificate'];
  const key = user['client-key-data'] || user['client-key'];
  return [token, path, username, certificate && key].some((text = '') => text !== '');
}

function proxyOf({ 'proxy-url': proxy = '' }: ClusterEntry, source: string): string | undefined {
  if (proxy === '') return undefined;
  // The message omits the text: it may hold a password.
  if (isProxyUrl(proxy)) return proxy;
  throw invalidKubeConfig(source, 'proxy-url is not an http, https or socks5 URL', 'correct it');
}

/**
 * Returns a function that reads the current TLS settings: files may be rotated, plugins may print new
 * certificates.
 */
function tlsOf(
  context: KubeConfigContext,
  exec: ExecCredentials | undefined,
): () => Promise<TlsOptions> {
  const { cluster, user, source } = context;
  const read = (name: string, data: string | undefined, path: string | undefined) =>
    pem(`${source}: ${name}`, { data, path });
  let last: TlsOptions = {};
  return async () => {
    const { cert, key } = (await exec?.certificate()) ?? {};
    const settings: TlsOptions = {
      ca: await authorityOf(context),
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
    // Return the same object while the settings are unchanged, so that TLS sessions are resumed.
    if (sameTls(last, settings)) return last;
    if (exec === undefined) refuseOtherKey(source, settings);
    last = settings;
    return last;
  };
}

/** Between the writes of two files, the certificate and the key do not fit together. */
function refuseOtherKey(source: string, { cert, key }: TlsOptions): void {
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const reason = `client-certificate and client-key: ${errorMessage(error)}`;
    throw invalidKubeConfig(source, reason, 'give a certificate and its own key', error);
  }
}

function sameTls(a: TlsOptions, b: TlsOptions): boolean {
  const names = ['ca', 'cert', 'key', 'servername', 'insecure'] as const;
  return names.every((name) => a[name] === b[name]);
}

/** Returns the certificates that the cluster's entry trusts. */
function authorityOf({ cluster, source }: KubeConfigContext): Promise<string | undefined> {
  const name = 'certificate-authority';
  return pem(`${source}: ${name}`, { data: cluster[`${name}-data`], path: cluster[name] });
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
  if (provider === undefined) return anonymous;
  const inPod = tokenFileOf(provider);
  return inPod === undefined ? authProvider(context, provider) : tokenFile(inPod, clock);
}

type AuthProvider = NonNullable<UserEntry['auth-provider']>;

/** Returns the file of the `auth-provider` by which client-node describes the service account of a pod. */
function tokenFileOf({ name, config }: AuthProvider): string | undefined {
  if (name !== 'tokenFile') return undefined;
  return (config as { readonly tokenFile?: string } | undefined)?.tokenFile;
}

/** Gets the tokens of an `auth-provider` (oidc, azure, gcp) through client-node. */
async function authProvider(
  { source }: KubeConfigContext,
  { name = '', config = {} }: AuthProvider,
): Promise<Credentials> {
  const { KubeConfig } = await loadClientNode(source, name);
  // client-node writes renewed tokens into this object.
  const kept = { ...config };
  return {
    headers: async () => {
      const kubeConfig = new KubeConfig();
      // Use a new KubeConfig each time. A reused one takes the lifetime of a renewed OIDC token for its
      // expiry time, and would renew the token at every request.
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
    const remedy =
      'use a token, a certificate or an exec plugin, or install the package where the program can import it';
    throw invalidKubeConfig(source, problem, remedy, error);
  }
}

const impersonationFields = {
  ...{ user: 'as', groups: 'as-groups', uid: 'as-uid', extra: 'as-user-extra' },
} as const;

/** Returns the headers by which the user of a kubeconfig impersonates another. */
function impersonationOf({ user, source }: KubeConfigContext): CredentialHeaders {
  const { as = '', 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = user;
  const isGiven = (field: unknown): boolean =>
    typeof field === 'object' && field !== null ? Object.keys(field).length > 0 : field !== '';
  if (![as, uid ?? '', groups ?? [], extra ?? {}].some(isGiven)) return {};
  return impersonationHeaders({ user: as, groups, uid, extra }, (field, problem) =>
    invalidKubeConfig(source, `${impersonationFields[field]}: ${problem}`, 'correct it'),
  );
}

/** The requested server. */
interface Target {
  /** The host without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: string;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Returns the proxy that the environment names for `server`, an http or https URL, by the rules of Go's clients. The
 * server's scheme selects the variable, `HTTPS_PROXY` or `HTTP_PROXY`; its value is a URL or `host:port`. Undefined: no
 * proxy, as for a server that `NO_PROXY` names, and for `localhost` and loopback addresses. `NO_PROXY` is a
 * comma-separated list of `*`, addresses, CIDRs and domains, each with an optional port. A domain includes its
 * subdomains; with a leading dot it means only these. A variable in upper case takes precedence over one in lower case.
 * @throws OperatorError `InvalidOption`: the variable is not a usable proxy.
 */
export function proxyFromEnvironment(server: string, env: Environment): string | undefined {
  const { protocol, hostname, port } = new URL(server);
  const isTls = protocol === 'https:';
  const name = isTls ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const text = variable(name, env);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const target = { host, port: port === '' ? (isTls ? '443' : '80') : port };
  if (text === '' || isLoopback(host) || isExcepted(target, variable('NO_PROXY', env))) {
    return undefined;
  }
  const proxy = text.includes('://') ? text : `http://${text}`;
  if (isProxyUrl(proxy)) return proxy;
  // The message omits the text: it may hold a password.
  throw new OperatorError('InvalidOption', `${name}: want an http, https or socks5 URL`);
}

function variable(name: string, env: Environment): string {
  return [env[name], env[name.toLowerCase()]].find((value = '') => value !== '') ?? '';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || isIn(loopback, host);
}

function isExcepted(target: Target, noProxy: string): boolean {
  const entries = noProxy.split(',').map((entry) => entry.trim().toLowerCase());
  return entries.some((entry) => entry === '*' || matches(entry, target));
}

function matches(entry: string, { host, port }: Target): boolean {
  const [, network = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  const family = isIP(network);
  if (family !== 0 && Number(bits) <= (family === 4 ? 32 : 128)) {
    const list = new BlockList();
    list.addSubnet(network, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
    return isIn(list, host);
  }
  const [, bracketed, plain, entryPort] = /^(?:\[(.*)\]|([^:]*)):(\d+)$/.exec(entry) ?? [];
  if (entryPort !== undefined && entryPort !== port) return false;
  const named = bracketed ?? plain ?? entry;
  return isIP(named) === 0 ? isOfDomain(host, named) : isSameAddress(host, named);
}

function isOfDomain(host: string, named: string): boolean {
  const hasDot = /^\*?\./.test(named);
  const domain = named.replace(/^\*?\./, '');
  const ascii = domainToASCII(domain) || domain;
  return ascii !== '' && (host.endsWith(`.${ascii}`) || (!hasDot && host === ascii));
}

/** Compares addresses in any notation: `::1` and `0:0::1`, `::ffff:10.0.0.1` and `10.0.0.1`. */
function isSameAddress(host: string, named: string): boolean {
  const list = new BlockList();
  list.addAddress(named, isIP(named) === 4 ? 'ipv4' : 'ipv6');
  return isIn(list, host);
}

function isIn(list: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && list.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
