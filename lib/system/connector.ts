import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { asError, errorMessage } from './as-error.js';

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
interface ConnectorOptions {
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
 * @param build - `buildConnector` of undici
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

interface TunnelTarget {
  readonly host: string;
  readonly port: number;
}

/** Whether `text` is the URL of a proxy that {@link openTunnel} can use. */
export function isProxyUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  return ['http:', 'https:', 'socks5:', 'socks5h:'].includes(new URL(text).protocol);
}

/**
 * Opens a connection to `target` through a proxy. For an `http` or `https` URL it uses `CONNECT` (RFC 9110,
 * 9.3.6); for `socks5` or `socks5h`, SOCKS 5 (RFC 1928, with a password RFC 1929). The proxy resolves names.
 * A user name and password in the URL are sent.
 * @param timeoutMs - the time limit for the proxy, in milliseconds
 * @throws Error: the proxy cannot be reached, or refuses. The message contains no password.
 */
async function openTunnel(proxy: string, target: TunnelTarget, timeoutMs: number): Promise<Socket> {
  const url = new URL(proxy);
  const open = url.protocol.startsWith('socks') ? throughSocks : throughConnect;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  try {
    return await open(url, target, controller.signal);
  } catch (cause) {
    const said = errorMessage(cause);
    const reason = controller.signal.aborted ? `no answer in ${timeoutMs} ms` : said;
    throw new Error(`proxy ${url.host}: ${reason}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

function throughConnect(url: URL, target: TunnelTarget, signal: AbortSignal): Promise<Socket> {
  const authority = authorityOf(target);
  const pair = Buffer.from(`${userOf(url)}:${passwordOf(url)}`).toString('base64');
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)({
    method: 'CONNECT',
    host: bareHost(url),
    port: url.port === '' ? undefined : url.port,
    path: authority,
    headers: {
      host: authority,
      ...(url.username !== '' && { 'proxy-authorization': `Basic ${pair}` }),
    },
    agent: false,
    signal,
  });
  return new Promise((resolve, reject) => {
    request.once('error', reject);
    // Node.js reports every response to CONNECT by this event.
    request.once('connect', ({ statusCode }, socket: Socket) => {
      if (statusCode === 200) resolve(socket);
      else {
        socket.destroy();
        reject(new Error(`refused with status ${statusCode ?? 0}`));
      }
    });
    request.end();
  });
}

const noPassword = 0x00;
const byPassword = 0x02;

async function throughSocks(url: URL, target: TunnelTarget, signal: AbortSignal): Promise<Socket> {
  const port = url.port === '' ? 1080 : Number(url.port);
  const socket = connect({ host: bareHost(url), port, signal });
  try {
    await once(socket, 'connect', { signal });
    const method = url.username === '' ? noPassword : byPassword;
    socket.write(Uint8Array.of(5, 1, method));
    expectByte((await take(socket, 2))[1], method, 'login method not supported');
    if (method === byPassword) {
      socket.write(
        Buffer.concat([Uint8Array.of(1), prefixed(userOf(url)), prefixed(passwordOf(url))]),
      );
      expectByte((await take(socket, 2))[1], 0, 'user name or password refused');
    }
    const portBytes = Uint8Array.of(target.port >> 8, target.port & 0xff);
    // Address type 3, a host name, even for an IP address: the proxy resolves it.
    socket.write(Buffer.concat([Uint8Array.of(5, 1, 0, 3), prefixed(target.host), portBytes]));
    const answer = await take(socket, 5);
    expectByte(answer[1], 0, `refused with code ${answer[1] ?? 0}`);
    await take(socket, boundAddressLength(answer) + 2);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Returns the remaining length of the bound address after its first byte. */
function boundAddressLength(answer: Uint8Array): number {
  const [, , , kind = 0, first = 0] = answer;
  const lengths: Readonly<Record<number, number>> = { 1: 3, 4: 15 };
  return lengths[kind] ?? first;
}

function expectByte(got: number | undefined, wanted: number, problem: string): void {
  if (got !== wanted) throw new Error(problem);
}

function prefixed(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  if (bytes.length > 255) throw new Error('user name, password or host of more than 255 bytes');
  return Buffer.concat([Uint8Array.of(bytes.length), bytes]);
}

/** Reads exactly `length` bytes: later bytes belong to the tunnel. */
async function take(socket: Socket, length: number): Promise<Uint8Array> {
  let taken = Buffer.alloc(0);
  while (taken.length < length) {
    // Call `read` without a size: with a size larger than the available data, the stream emits `readable` in a loop.
    const bytes = socket.read() as Buffer | null;
    if (bytes !== null) taken = Buffer.concat([taken, bytes]);
    else if (socket.readableEnded || socket.destroyed) throw new Error('connection closed');
    else await readable(socket);
  }
  if (taken.length > length) socket.unshift(taken.subarray(length));
  return taken.subarray(0, length);
}

/** Resolves when data can be read, or when no more data will arrive. */
function readable(socket: Socket): Promise<void> {
  const events = ['readable', 'end', 'close'];
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      for (const event of events) socket.off(event, onEvent);
      socket.off('error', settle);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onEvent = (): void => settle();
    for (const event of events) socket.on(event, onEvent);
    socket.on('error', settle);
  });
}

function authorityOf({ host, port }: TunnelTarget): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Returns the host without the brackets of an IPv6 address. */
function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function userOf({ username }: URL): string {
  return decodeURIComponent(username);
}

function passwordOf({ password }: URL): string {
  return decodeURIComponent(password);
}
