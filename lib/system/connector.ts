import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { asError } from './as-error.js';
import { openTunnel } from './proxy-tunnel.js';

/** How to prove who both ends are. PEM texts. */
export interface TlsOptions {
  /** The certificates to trust instead of the machine's own. */
  readonly ca?: string | undefined;
  /** The client's certificate chain; `key` belongs to it. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name to look for in the server's certificate. @defaultValue the server's host */
  readonly servername?: string | undefined;
  /** Trust whatever answers; for tests. @defaultValue false */
  readonly insecure?: boolean | undefined;
}

/** Options of {@link newConnector}. */
export interface ConnectorOptions {
  /** Asked before each new connection. */
  readonly tls: TlsOptions | (() => TlsOptions | Promise<TlsOptions>);
  readonly connectTimeoutMs: number;
  /** The URL of a proxy to go through. */
  readonly proxy: string | undefined;
}

type Connector = buildConnector.connector;

/**
 * The kernel asks an idle connection's other end so often whether it is there, so that a watch whose
 * server vanished without a word fails, where nothing on the way answers in the server's stead.
 */
const tcpKeepAliveMs = 30_000;

/**
 * What makes undici's connections, with the TLS settings of the moment, through the proxy where there
 * is one.
 * @param build - undici's
 * @param onFailure - told of each connection that was not made
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
      // Plain HTTP needs no more than the tunnel.
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
