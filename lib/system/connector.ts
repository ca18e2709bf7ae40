import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { asError } from './as-error.js';
import { openTunnel } from './proxy-tunnel.js';

/** Certificates and checks of a TLS connection, as PEM. */
export interface TlsOptions {
  /** The trusted certificates, instead of the system's. */
  readonly ca?: string | undefined;
  /** The client's certificate chain, for `key`. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name to check in the server's certificate. @defaultValue the server's host */
  readonly servername?: string | undefined;
  /** Trusts any server certificate; for tests. @defaultValue false */
  readonly insecure?: boolean | undefined;
}

/** Options of {@link newConnector}. */
export interface ConnectorOptions {
  /** The TLS settings, or a function called before each new connection. */
  readonly tls: TlsOptions | (() => TlsOptions | Promise<TlsOptions>);
  readonly connectTimeoutMs: number;
  /** The URL of the proxy. */
  readonly proxy: string | undefined;
}

type Connector = buildConnector.connector;

/**
 * The interval of TCP keep-alive probes on an idle connection. They make a watch fail if its server vanished
 * silently, unless a proxy answers the probes.
 */
const tcpKeepAliveMs = 30_000;

/**
 * Returns a function that opens undici's connections, with the current TLS settings and through the proxy, if
 * any.
 * @param build - undici's
 * @param onFailure - called for each connection that could not be opened
 */
export function newConnector(
  build: typeof buildConnector,
  options: ConnectorOptions,
  onFailure: (error: Error) => void,
): Connector {
  const connectors = new WeakMap<TlsOptions, Connector>();
  const current = async (): Promise<Connector> => {
    const { tls, connectTimeoutMs } = options;
    const settings = typeof tls === 'function' ? await tls() : tls;
    const socket = { keepAlive: true, keepAliveInitialDelay: tcpKeepAliveMs };
    const made = { ...nodeTls(settings), ...socket, timeout: connectTimeoutMs };
    const connector = connectors.get(settings) ?? build(made);
    connectors.set(settings, connector);
    return connector;
  };
  return (target, callback) => {
    const failed = (error: unknown): void => {
      const reason = asError(error);
      onFailure(reason);
      callback(reason, null);
    };
    const connected: buildConnector.Callback = (error, socket) => {
      if (error === null) callback(null, socket);
      else failed(error);
    };
    const begin = async (): Promise<void> => {
      const connect = await current();
      const httpSocket = await tunnel(target, options);
      if (httpSocket === undefined) connect(target, connected);
      else if (target.protocol === 'https:') connect({ ...target, httpSocket }, connected);
      // Plain HTTP needs only the tunnel.
      else connected(null, httpSocket);
    };
    begin().catch(failed);
  };
}

async function tunnel(
  { hostname, port, protocol }: buildConnector.Options,
  { proxy, connectTimeoutMs }: ConnectorOptions,
): Promise<Socket | undefined> {
  if (proxy === undefined) return undefined;
  const standard = protocol === 'https:' ? 443 : 80;
  const target = { host: hostname, port: port === '' ? standard : Number(port) };
  return openTunnel(proxy, target, connectTimeoutMs);
}

function nodeTls(tls: TlsOptions): buildConnector.BuildOptions {
  const { ca, cert, key, servername, insecure = false } = tls;
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(servername !== undefined && { servername }),
    rejectUnauthorized: !insecure,
  };
}
