import type { Readable } from 'node:stream';
import type { Client, Dispatcher, Pool } from 'undici';
import { ConnectionError, OperatorError } from './operator-error.js';
import { isProxyUrl, newConnector } from './connector.js';
import type { TlsOptions } from './connector.js';
import { refuseUnknownOptions } from './known-options.js';
import type { Resolved } from './known-options.js';
import { joinHeaders } from './transport.js';
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

type ResolvedOptions = Resolved<Omit<UndiciTransportOptions, 'proxy'>> & {
  readonly proxy: string | undefined;
};

/** The number of connections for urgent requests: with two, a hanging request does not delay the next one. */
const urgentConnections = 2;
/** The lifetime of an idle connection. */
const idleMs = 60_000;

/** The connections of a transport. */
interface Connections {
  /** Shared by the requests that are not streams. */
  readonly pool: Pool;
  /** Shared by the urgent requests, which must not wait behind others. */
  readonly urgent: Pool;
  /** Opens a new connection for a stream: a pool would replace it by an idle one when the stream ends. */
  readonly openStream: () => Client;
  readonly send: (
    this: Dispatcher,
    options: Dispatcher.RequestOptions,
  ) => Promise<Dispatcher.ResponseData>;
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
  readonly #others = new Set<Dispatcher>();
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
    const { openStream, send, ...pools } = await this.#open();
    // An abort during the wait above has no listener yet.
    if (signal?.aborted === true) throw this.#aborted(request, signal);
    const stream = streaming ? openStream() : undefined;
    if (stream !== undefined) this.#others.add(stream);
    try {
      const answer = await this.#send(
        stream ?? (urgent ? pools.urgent : pools.pool),
        request,
        send,
      );
      return {
        status: answer.statusCode,
        headers: joinHeaders(answer.headers),
        body: readingOf(answer.body, {
          explain: (error) => this.#describe(error, request),
          end: () => this.#endStream(stream),
        }),
      };
    } catch (error) {
      await this.#endStream(stream);
      throw this.#describe(error, request);
    }
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
      // Not awaited: the pool closes only after its last request. The promise rejects if `close` is called
      // first.
      pool.close().then(gone, gone);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const connections = await this.#connections;
    const pools = connections === undefined ? [] : [connections.pool, connections.urgent];
    await Promise.all([...pools, ...this.#others].map((dispatcher) => dispatcher.destroy()));
  }

  /** Rejects at once on abort; undici would first wait for a free connection. */
  #send(
    dispatcher: Dispatcher,
    request: TransportRequest,
    send: Connections['send'],
  ): Promise<Dispatcher.ResponseData> {
    const { method, path, headers, repeatedHeaders, body, signal, beforeSend } = request;
    const guarded = beforeSend === undefined ? dispatcher : askingFirst(dispatcher, beforeSend);
    const sent = send.call(guarded, {
      method,
      path: this.#prefix + path,
      headers: { ...headers, ...mutable(repeatedHeaders) },
      body: body ?? null,
      signal: signal ?? null,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    if (signal === undefined) return sent;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(this.#aborted(request, signal));
      const settled = (): void => signal.removeEventListener('abort', onAbort);
      signal.addEventListener('abort', onAbort, { once: true });
      sent.finally(settled).then(resolve, reject);
    });
  }

  async #endStream(stream: Client | undefined): Promise<void> {
    if (stream === undefined) return;
    this.#others.delete(stream);
    await stream.destroy();
  }

  #open(): Promise<Connections> {
    if (this.#closed) {
      throw new OperatorError('Stopped', `connection to ${this.host}: used after it was closed`);
    }
    this.#connections ??= this.#createConnections();
    return this.#connections;
  }

  async #createConnections(): Promise<Connections> {
    const { Client, Pool, buildConnector, send } = await import('./undici-parts.js');
    const { maxConnections } = this.#options;
    const onFailure = (error: Error): unknown => this.#connectFailures.add(error);
    const connect = newConnector(buildConnector, this.#options, onFailure);
    const shared = { connect, keepAliveTimeout: idleMs, keepAliveMaxTimeout: idleMs };
    return {
      pool: new Pool(this.#origin, { ...shared, connections: maxConnections }),
      urgent: new Pool(this.#origin, { ...shared, connections: urgentConnections }),
      openStream: () => new Client(this.#origin, shared),
      send,
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
function mutable(headers: TransportRequest['repeatedHeaders']): Record<string, string[]> {
  return (headers ?? {}) as Record<string, string[]>;
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
    throw new OperatorError('InvalidOption', `${name}: want a whole number from 1, got ${value}`);
  }
  if (proxy !== undefined && !isProxyUrl(proxy)) {
    throw new OperatorError('InvalidOption', 'proxy: want an http, https or socks5 URL');
  }
  const resolved = { server, tls, maxConnections, connectTimeoutMs, proxy };
  refuseUnknownOptions<UndiciTransportOptions>('UndiciTransport', options, resolved);
  return resolved;
}

/**
 * Wraps `dispatcher` so that `beforeSend` runs once the connection is open, its handshake is done and the
 * request is next. Right after `beforeSend`, in the same turn of the event loop, undici writes the request to
 * the socket. If `beforeSend` throws, undici drops the unsent request and keeps the connection.
 */
function askingFirst(dispatcher: Dispatcher, beforeSend: () => void): Dispatcher {
  return dispatcher.compose(
    (dispatch) => (options, handler) => dispatch(options, asking(handler, beforeSend)),
  );
}

/** Wraps `handler` method by method: undici's own handlers have private fields, which a copy would lack. */
function asking(
  handler: Dispatcher.DispatchHandler,
  beforeSend: () => void,
): Dispatcher.DispatchHandler {
  return {
    onRequestStart: (controller, context) => {
      beforeSend();
      handler.onRequestStart?.(controller, context);
    },
    onRequestUpgrade: (...upgrade) => handler.onRequestUpgrade?.(...upgrade),
    onResponseStart: (...start) => handler.onResponseStart?.(...start),
    onResponseData: (...data) => handler.onResponseData?.(...data),
    onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
    onResponseError: (...failure) => handler.onResponseError?.(...failure),
  };
}

/** Callbacks of {@link readingOf}. */
interface ReadingEnd {
  /** Returns the error to throw in place of `error`. */
  readonly explain: (error: unknown) => unknown;
  /** Called once, when the body ends, fails, or is left. */
  readonly end: () => Promise<void>;
}

/**
 * Iterates over the chunks of a response's body, once. Node's own iterator takes several microtasks for each
 * chunk, which costs a watch as much as reading its events.
 */
function readingOf(body: Readable, ending: ReadingEnd): AsyncIterableIterator<Uint8Array> {
  return new BodyReader(body, ending);
}

interface Waiting {
  readonly resolve: (result: IteratorResult<Uint8Array, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

class BodyReader implements AsyncIterableIterator<Uint8Array> {
  readonly #body: Readable;
  readonly #ending: ReadingEnd;
  #chunks: Uint8Array[] = [];
  #waiting: Waiting | undefined;
  /** Set when the body has ended or failed; `#chunks` may still hold unread chunks. */
  #over: { readonly error?: unknown } | undefined;
  #ended: Promise<void> | undefined;
  #begun = false;

  constructor(body: Readable, ending: ReadingEnd) {
    this.#body = body;
    this.#ending = ending;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (!this.#begun) this.#begin();
    const value = this.#chunks.shift();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#over !== undefined) return this.#end();
    if (this.#body.isPaused()) this.#body.resume();
    return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    // Adds the listeners first: an error of the destroyed body would otherwise be uncaught.
    if (!this.#begun) this.#begin();
    this.#chunks = [];
    this.#over ??= {};
    this.#body.destroy();
    return this.#end();
  }

  #begin(): void {
    this.#begun = true;
    const over = (error?: unknown): void => {
      this.#over ??= error === undefined ? {} : { error };
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (waiting !== undefined) this.#end().then(waiting.resolve, waiting.reject);
    };
    this.#body.on('end', () => over());
    this.#body.on('error', over);
    this.#body.on('close', () => over(new Error('the connection was closed')));
    this.#body.on('data', (chunk: Uint8Array) => {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      if (waiting !== undefined) waiting.resolve({ done: false, value: chunk });
      else {
        // The reader is slower than the server: pause, so that unread chunks do not fill the memory.
        this.#chunks.push(chunk);
        this.#body.pause();
      }
    });
  }

  async #end(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#ended ??= this.#ending.end();
    await this.#ended;
    const error = this.#over?.error;
    this.#over = {};
    if (error !== undefined) throw this.#ending.explain(error);
    return { done: true, value: undefined };
  }
}
