import { AsyncResource } from 'node:async_hooks';
import type { Client, Dispatcher, Pool } from 'undici';
import { ConnectionError, OperatorError } from './operator-error.js';
import { isProxyUrl, newConnector } from './connector.js';
import type { TlsOptions } from './connector.js';
import { refuseUnknownOptions } from './known-options.js';
import type { Resolved } from './known-options.js';
import { ResponseReader } from './response-reader.js';
import { StreamConnection } from './stream-connection.js';
import type { Transport, TransportRequest, TransportResponse } from './transport.js';

/** Options of {@link UndiciTransport}. */
export interface UndiciTransportOptions {
  /** The URL of the API server, `https` or `http`; its path is prepended to every request's path. */
  readonly server: string;
  /**
   * TLS settings. A function is called before each new connection, so that rotated files take effect. The
   * function should return the same object while nothing changed, so that TLS sessions are resumed.
   */
  readonly tls?: TlsOptions | (() => TlsOptions | Promise<TlsOptions>) | undefined;
  /**
   * The maximum of connections for requests that are not streams, at least 1; further requests wait. Each
   * stream has its own connection, without a limit. Urgent requests share two more. @defaultValue 64
   */
  readonly maxConnections?: number | undefined;
  /** The time limit to open a connection, in milliseconds. @defaultValue 10_000 */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * The URL of a proxy: `http`, `https`, `socks5` or `socks5h`, optionally with a user name and password.
   * This class ignores variables such as `HTTPS_PROXY`; `clientFromKubeConfig` and `clientInCluster` read
   * them. @defaultValue none
   */
  readonly proxy?: string | undefined;
}

type ResolvedOptions = Resolved<UndiciTransportOptions, 'proxy'>;

/** The number of connections for urgent requests: with two, a hanging request does not delay the next one. */
const urgentConnections = 2;
/** The lifetime of an idle connection. */
const idleMs = 60_000;

/** The options of a request, which may wait in a pool. */
interface PooledRequest extends Dispatcher.DispatchOptions {
  readonly caller: AsyncResource;
}

interface Connections {
  /** Shared by the requests that are not streams. */
  readonly pool: Pool;
  /** Shared by the urgent requests, which must not wait behind others. */
  readonly urgent: Pool;
  /** Opens a new connection for a stream: a pool would replace it by an idle one when the stream ends. */
  readonly openStream: () => StreamConnection;
}

/**
 * A {@link Transport} over HTTP/1.1: pooled, kept-alive connections to one server. Requests have no time
 * limit of their own; the caller sets one with `signal`.
 *
 * It loads `undici` at the first request: that costs 70 ms and 20 MB.
 */
export class UndiciTransport implements Transport {
  /** Host and port of the server, without credentials. */
  readonly host: string;
  readonly #options: ResolvedOptions;
  readonly #origin: string;
  readonly #prefix: string;
  #connections: Promise<Connections> | undefined;
  /** Open streams, and old pools that close after their last request. */
  readonly #others = new Set<{ destroy(): Promise<void> }>();
  #closed = false;
  /** Errors of connections that could not be opened. */
  readonly #connectFailures = new WeakSet();

  /** @throws OperatorError `InvalidOption`: `server` is not an http(s) URL, or a number is out of range. */
  constructor(options: UndiciTransportOptions) {
    this.#options = resolveUndiciTransportOptions(options);
    const url = serverUrl(this.#options.server);
    this.host = url.host;
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/+$/, '');
  }

  async request(request: TransportRequest): Promise<TransportResponse> {
    const { signal, streaming = false, urgent = false } = request;
    const { openStream, ...pools } = await this.#open();
    // An abort during the wait above has no listener yet.
    if (signal?.aborted === true) throw this.#aborted(request, signal);
    const stream = streaming ? openStream() : undefined;
    if (stream !== undefined) this.#others.add(stream);
    const reader = new ResponseReader(request, {
      explain: (error) => this.#describe(error, request),
      end: () => this.#endStream(stream),
    });
    return reader.send(stream ?? (urgent ? pools.urgent : pools.pool), this.#optionsOf(request));
  }

  /**
   * Makes later requests use new connections, for example because the client certificate changed. Requests
   * under way finish on the old connections.
   */
  async reconnect(): Promise<void> {
    const old = await this.#connections;
    this.#connections = undefined;
    if (old === undefined) return;
    for (const pool of [old.pool, old.urgent]) {
      this.#others.add(pool);
      const gone = (): unknown => this.#others.delete(pool);
      // Not awaited: the pool closes only after its last request. The promise rejects if `close` is called first.
      pool.close().then(gone, gone);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const connections = await this.#connections;
    const pools = connections === undefined ? [] : [connections.pool, connections.urgent];
    await Promise.all([...pools, ...this.#others].map((dispatcher) => dispatcher.destroy()));
  }

  #optionsOf(request: TransportRequest): PooledRequest {
    const { method, path, headers, repeatedHeaders, body = null } = request;
    return {
      method,
      path: this.#prefix + path,
      headers:
        repeatedHeaders === undefined ? headers : { ...headers, ...mutable(repeatedHeaders) },
      body,
      headersTimeout: 0,
      bodyTimeout: 0,
      caller: new AsyncResource('KubernetesRequest'),
    };
  }

  #endStream(stream: StreamConnection | undefined): Promise<void> | undefined {
    if (stream === undefined) return undefined;
    this.#others.delete(stream);
    return stream.destroy();
  }

  #open(): Promise<Connections> {
    if (this.#closed) {
      throw new OperatorError('Stopped', `connection to ${this.host}: used after it was closed`);
    }
    this.#connections ??= this.#createConnections();
    return this.#connections;
  }

  async #createConnections(): Promise<Connections> {
    const { Client, Pool, buildConnector } = await import('./undici-parts.js');
    const { maxConnections } = this.#options;
    const onFailure = (error: Error): unknown => this.#connectFailures.add(error);
    const connect = newConnector(buildConnector, this.#options, onFailure);
    const factory = (origin: URL, options: object): Client =>
      inContextOfCallers(new Client(origin, options));
    const timeouts = { keepAliveTimeout: idleMs, keepAliveMaxTimeout: idleMs };
    const shared = { connect, factory, ...timeouts };
    return {
      pool: new Pool(this.#origin, { ...shared, connections: maxConnections }),
      urgent: new Pool(this.#origin, { ...shared, connections: urgentConnections }),
      openStream: () => new StreamConnection(new URL(this.#origin), connect),
    };
  }

  #describe(error: unknown, request: TransportRequest): unknown {
    if (error instanceof OperatorError) return error;
    if (request.signal?.aborted === true) return this.#aborted(request, request.signal);
    const what = `${request.method} ${this.host}`;
    if (this.#closed) {
      return new OperatorError('Stopped', `${what}: the connection was closed`, { cause: error });
    }
    const requestSent = !(error instanceof Error && this.#connectFailures.has(error));
    return new ConnectionError(`${what}: ${reasonOf(error)}`, { cause: error, requestSent });
  }

  #aborted(request: TransportRequest, signal: AbortSignal): OperatorError {
    const cause: unknown = signal.reason;
    return new OperatorError('Aborted', `${request.method} ${this.host}: aborted`, { cause });
  }
}

/**
 * Makes `client` create each request in the async context of its caller. If a request has waited, a pool dispatches it
 * in the context of another request, but tracers and plans need the context of its caller.
 */
function inContextOfCallers(client: Client): Client {
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (options, handler) => {
    const { caller } = options as PooledRequest;
    return caller.runInAsyncScope(dispatch, undefined, options, handler);
  };
  return client;
}

/** Returns an undici error's message, with a remedy for common errors. */
function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: unknown; code?: unknown };
  // The message is empty if a host has several addresses.
  const text = typeof message === 'string' && message !== '' ? message : String(code ?? error);
  const remedy = typeof code === 'string' ? remedies[code] : undefined;
  return remedy === undefined ? text : `${text} (${remedy})`;
}

const remedies: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'is the API server running?',
  ENOTFOUND: 'check the host name of the server',
  SELF_SIGNED_CERT_IN_CHAIN: 'give the CA that signed the certificate of the server',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'give the CA that signed the certificate of the server',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'give the CA that signed the certificate of the server',
  ERR_TLS_CERT_ALTNAME_INVALID: 'set servername to a name in the certificate of the server',
};

/** Changes the type without a copy: undici only reads the lists. */
function mutable(
  headers: NonNullable<TransportRequest['repeatedHeaders']>,
): Record<string, string[]> {
  return headers as Record<string, string[]>;
}

function serverUrl(server: string): URL {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    // The message omits the text: it may hold a password.
    throw new OperatorError('InvalidOption', 'server: want an http or https URL of an API server');
  }
  return url;
}

function resolveUndiciTransportOptions(options: UndiciTransportOptions): ResolvedOptions {
  const { server, tls = {}, maxConnections = 64, connectTimeoutMs = 10_000, proxy } = options;
  for (const [name, value] of Object.entries({ maxConnections, connectTimeoutMs })) {
    if (Number.isInteger(value) && value >= 1) continue;
    throw new OperatorError(
      'InvalidOption',
      `${name}: want a whole number, at least 1, got ${value}`,
    );
  }
  if (proxy !== undefined && !isProxyUrl(proxy)) {
    throw new OperatorError('InvalidOption', 'proxy: want an http, https or socks5 URL');
  }
  const resolved = { server, tls, maxConnections, connectTimeoutMs, proxy };
  refuseUnknownOptions<UndiciTransportOptions>('UndiciTransport', options, resolved);
  return resolved;
}
