import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import {
  endsWithin,
  listenFailed,
  OpenSockets,
  OperatorError,
  refuseNonNumbers,
} from '../system/index.js';
import type { Clock, Logger } from '../system/index.js';
import type { Runnable, RunnableContext } from './runnable.js';
import type { CertificateSource, ServingCertificate } from './webhooks/certificate-source.js';

/** Response of an {@link HttpEndpoint}. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body: string | Uint8Array | HttpStream;
}

/**
 * Writes a body in pieces; the response ends when the promise resolves. Data that the client has not read by
 * then is dropped with the connection.
 */
type HttpStream = (sink: HttpSink) => Promise<void>;

/** The output of an {@link HttpStream}. */
export interface HttpSink {
  /** Bytes that were written but not sent; grows with a slow client. */
  readonly pendingBytes: number;
  write(piece: string): void;
}

/** A request to an {@link HttpEndpoint}. */
export interface HttpQuestion {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  /** Reads the body of a `POST` as text; undefined if it has more bytes than `limit`. */
  readonly body: (limit: number) => Promise<string | undefined>;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

interface HttpEndpointOptions {
  readonly name: string;
  /** Undefined for all addresses of the machine. */
  readonly host: string | undefined;
  /** 0 selects a free port. */
  readonly port: number;
  /** Source of the HTTPS certificate; undefined for HTTP. */
  readonly certificate?: CertificateSource | undefined;
  /** Accepts only clients with a certificate of these authorities (PEM). @defaultValue all clients */
  readonly clientAuthorities?: string | undefined;
  readonly clock: Clock;
  /** Paths that accept `POST`. @defaultValue none */
  readonly posts?: Pick<ReadonlySet<string>, 'has'> | undefined;
  /** Time for requests in progress after a stop, in milliseconds. @defaultValue they are aborted at once */
  readonly graceMs?: number | undefined;
  /** Answers a request. An error is logged and answered as a 500 without details. */
  readonly answer: (question: HttpQuestion) => Promise<HttpAnswer>;
}

/** Time for aborted requests to end when the endpoint is stopped, in milliseconds. */
const unwindMs = 1_000;

/** Limits of a connection, in milliseconds. */
const limits = {
  /** API servers wait at most 30 s for a webhook. */
  requestTimeout: 30_000,
  /**
   * Longer than the 90 s for which API servers keep idle connections. If this server closed an idle connection first,
   * it could do so during a POST. API servers do not repeat a POST, so the call of the webhook would fail.
   */
  keepAliveTimeout: 120_000,
};
const handshakeTimeout = 10_000;

/** @throws OperatorError `InvalidOption`: `port` is not a port number, or 0 for a free one. */
export function refusePort(subject: string, port: number): void {
  refuseNonNumbers(subject, { port });
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return;
  throw new OperatorError('InvalidOption', `${subject}: port ${port}: want 0 to 65535`);
}

type Context = Pick<RunnableContext, 'signal' | 'logger'>;

/** A small HTTP server for `GET`, and for `POST` at some paths, as a runnable of a manager. */
export class HttpEndpoint implements Runnable {
  readonly name: string;
  readonly phase = 'server';
  readonly #options: HttpEndpointOptions;
  readonly #answering = new Set<Promise<void>>();
  /**
   * Requests that wait for a response. One stop listener aborts them all: Node.js warns about many listeners on
   * one signal.
   */
  readonly #asking = new Set<AbortController>();
  #address: AddressInfo | undefined;

  constructor(options: HttpEndpointOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Address that the endpoint listens on, such as `http://127.0.0.1:8080`; undefined if it does not listen. */
  get url(): string | undefined {
    if (this.#address === undefined) return undefined;
    const { address, family, port } = this.#address;
    const scheme = this.#options.certificate === undefined ? 'http' : 'https';
    return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Port that the endpoint listens on; undefined if it does not listen. */
  get port(): number | undefined {
    return this.#address?.port;
  }

  /** @throws OperatorError `ListenFailed`: for example, the port is in use. */
  async run({ signal, logger, ready }: RunnableContext): Promise<void> {
    if (signal.aborted) return;
    const over = new AbortController();
    const context = { signal, logger };
    const running = { logger, signal: AbortSignal.any([signal, over.signal]) };
    try {
      const server = await this.#newServer(context, running);
      const sockets = new OpenSockets(server);
      const onStop = (): void => {
        for (const asking of this.#asking) asking.abort(signal.reason);
      };
      if (this.#options.graceMs === undefined) {
        signal.addEventListener('abort', onStop, { signal: over.signal });
      }
      try {
        await this.#listen(server);
        logger.info(`${this.name} listens`, { url: this.url });
        ready();
        await ended(server, signal);
      } finally {
        this.#address = undefined;
        await this.#close(server, sockets, logger);
      }
    } finally {
      over.abort();
    }
  }

  /**
   * @param running - the context of the certificate's source. Its signal is aborted when `run` ends, even if the server
   * can't listen
   */
  async #newServer(context: Context, running: Context): Promise<Server> {
    const { certificate, clientAuthorities, clock } = this.#options;
    const listener = inTurn((request, response) => {
      const answering = this.#serve(request, response, context).finally(() =>
        this.#answering.delete(answering),
      );
      this.#answering.add(answering);
    });
    if (certificate === undefined) return createServer(limits, listener);
    const held: { server?: TlsServer } = {};
    const first = await certificate.start({
      ...{ ...running, clock },
      onChange: (next) => held.server?.setSecureContext(this.#secureContextOf(next)),
    });
    const tls = { ...this.#secureContextOf(first), handshakeTimeout };
    const asksClients = clientAuthorities !== undefined;
    const server = createTlsServer(
      { ...limits, ...tls, requestCert: asksClients, rejectUnauthorized: asksClients },
      listener,
    );
    server.on('tlsClientError', (error) => {
      // A client without TLS, or without trust in the certificate, reports the failure itself.
      context.logger.debug('a TLS handshake failed', { error });
    });
    held.server = server;
    return server;
  }

  /**
   * Returns all TLS options, because Node.js resets an omitted option to its default when a certificate is replaced.
   */
  #secureContextOf({ certificate, privateKey }: ServingCertificate): SecureContextOptions {
    const { clientAuthorities: ca } = this.#options;
    const own = { cert: certificate, key: privateKey, minVersion: 'TLSv1.2' } as const;
    return { ...own, ...(ca !== undefined && { ca }) };
  }

  async #listen(server: Server): Promise<void> {
    const { name, host, port } = this.#options;
    const failed = (cause: Error): OperatorError =>
      listenFailed(`${name}:`, `${host ?? '*'}:${port}`, cause, 'choose another port, or 0');
    await new Promise<void>((resolve, reject) => {
      const onError = (cause: Error): void => reject(failed(cause));
      server.once('error', onError);
      server.listen({ port, host }, () => {
        server.off('error', onError);
        resolve();
      });
    });
    this.#address = server.address() as AddressInfo;
  }

  async #close(server: Server, sockets: OpenSockets, logger: Logger): Promise<void> {
    if (!server.listening) return;
    const { clock, graceMs = unwindMs } = this.#options;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    if (!(await endsWithin(this.#allAnswered(), graceMs, clock))) {
      const count = this.#answering.size;
      logger.warn(`${this.name}: ${count} not answered ${graceMs} ms after the stop`);
    }
    sockets.destroy();
    await closed;
  }

  /** Loops because open connections may send further requests meanwhile. */
  async #allAnswered(): Promise<void> {
    while (this.#answering.size > 0) await Promise.all(this.#answering);
  }

  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    { signal, logger }: Context,
  ): Promise<void> {
    const gone = new AbortController();
    const onClose = (): void => gone.abort(new OperatorError('Aborted', 'the client went away'));
    response.once('close', onClose);
    this.#asking.add(gone);
    const { clock, graceMs } = this.#options;
    if (signal.aborted && graceMs === undefined) gone.abort(signal.reason);
    try {
      const answer = await this.#answerTo(request, { signal: gone.signal, logger });
      // The handler has ended, so a disconnect of the client can only stop a stream.
      if (typeof answer.body !== 'function') response.off('close', onClose);
      // A client could continue to send the rest of a refused body for a long time.
      if (signal.aborted || !request.complete) response.shouldKeepAlive = false;
      await send(answer, request, response, clock);
    } catch (error) {
      logger.error(`${this.name}: an answer broke off`, { error });
      response.destroy();
    } finally {
      response.off('close', onClose);
      this.#asking.delete(gone);
    }
  }

  async #answerTo(request: IncomingMessage, { signal, logger }: Context): Promise<HttpAnswer> {
    const { method = 'GET', headers } = request;
    const url = URL.parse(request.url ?? '/', 'http://localhost');
    const allowed = this.#options.posts?.has(url?.pathname ?? '') === true ? onlyPost : onlyGet;
    if (!allowed.includes(method)) {
      return { status: 405, headers: { allow: allowed.join(', ') }, body: 'Method Not Allowed\n' };
    }
    if (url === null) return { status: 400, body: 'Bad Request\n' };
    const body = (limit: number): Promise<string | undefined> => textOf(request, limit);
    try {
      return await this.#options.answer({ method, url, headers, body, signal, logger });
    } catch (error) {
      const what = `${this.name}: ${method} ${url.pathname}`;
      if (signal.aborted) logger.debug(`${what} was aborted`, { error: signal.reason as Error });
      else logger.error(`${what} failed`, { error });
      return { status: 500, body: 'Internal Server Error\n' };
    }
  }
}

const onlyGet: readonly string[] = ['GET', 'HEAD'];
const onlyPost: readonly string[] = ['POST'];

async function textOf(request: IncomingMessage, limit: number): Promise<string | undefined> {
  if (Number(request.headers['content-length']) > limit) return undefined;
  const pieces: Buffer[] = [];
  let bytes = 0;
  // By default, the iterator destroys the connection if the loop ends before the end of the body.
  const iterator = request.iterator({ destroyOnReturn: false });
  for await (const piece of iterator as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > limit) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

async function send(
  { status, headers, body }: HttpAnswer,
  request: IncomingMessage,
  response: ServerResponse,
  clock: Clock,
): Promise<void> {
  if (response.destroyed) return;
  if (typeof body === 'function') {
    response.writeHead(status, { 'x-content-type-options': 'nosniff', ...headers });
    if (request.method === 'HEAD') response.end();
    else await stream(response, body);
    return;
  }
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  if (request.method !== 'HEAD') response.write(body);
  if (!request.complete) await discardRest(request, clock);
  response.end();
  await closed;
}

/** Time to read the rest of a body that was not read, in milliseconds. */
const discardMs = 1_000;

/** Reads the rest of a request: a connection that closes with unread data is reset, and its answer lost. */
async function discardRest(request: IncomingMessage, clock: Clock): Promise<void> {
  const over = new Promise<void>((resolve) => {
    request.once('end', resolve);
    request.once('close', resolve);
  });
  request.resume();
  await endsWithin(over, discardMs, clock);
}

async function stream(response: ServerResponse, body: HttpStream): Promise<void> {
  response.flushHeaders();
  try {
    await body({
      get pendingBytes() {
        return response.writableLength;
      },
      write: (piece) => {
        if (!response.destroyed) response.write(piece);
      },
    });
  } finally {
    if (response.writableLength > 0) response.destroy();
    else response.end();
  }
}

/** Resolves when `signal` is aborted; rejects if the server fails first. */
async function ended(server: Server, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  try {
    await new Promise<void>((resolve, reject) => {
      server.on('error', reject);
      signal.addEventListener('abort', () => resolve(), { signal: over.signal });
      if (signal.aborted) resolve();
    });
  } finally {
    over.abort();
  }
}

/** Maximum number of requests per connection that wait for an earlier response. */
const maxWaiting = 16;

interface Line {
  /** The response that the next request has to wait for. */
  last: ServerResponse | undefined;
  waiting: number;
}

/**
 * Answers the requests of a connection one after the other. Node.js passes on pipelined requests at once, and does not
 * notify the waiting ones when the connection closes: their handlers would wait forever and leak. This function drops
 * waiting requests with their connection, and closes a connection with too many of them.
 */
function inTurn(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  const lines = new WeakMap<Socket, Line>();
  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket) ?? { last: undefined, waiting: 0 };
    lines.set(socket, line);
    const before = line.last;
    line.last = response;
    response.once('close', () => {
      if (line.last === response) line.last = undefined;
    });
    if (before === undefined) answer(request, response);
    else if (line.waiting >= maxWaiting) socket.destroy();
    else {
      line.waiting++;
      before.once('close', () => {
        line.waiting--;
        // If the response has no socket, the connection has ended, or the previous response was the last of the
        // connection.
        if (response.socket !== null) answer(request, response);
      });
    }
  };
}
