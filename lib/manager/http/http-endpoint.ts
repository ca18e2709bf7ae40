import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { endsWithin } from '../../controller/ends-within.js';
import type { Clock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import { OperatorError } from '../../system/operator-error.js';
import type { Runnable, RunnableContext } from '../runnable.js';
import type { CertificateSource, ServingCertificate } from '../webhooks/certificate-source.js';
import { inTurn } from './in-turn.js';
import { OpenSockets } from './open-sockets.js';

/** What an {@link HttpEndpoint} answers. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body: string | Uint8Array | HttpStream;
}

/**
 * Writes a body piece by piece; the answer ends when it resolves. What the reader has not taken by then
 * is dropped, with the connection.
 */
export type HttpStream = (sink: HttpSink) => Promise<void>;

/** Where an {@link HttpStream} writes to. */
export interface HttpSink {
  /** What was written and has not left this process yet, in bytes: a slow reader makes it grow. */
  readonly pendingBytes: number;
  write(piece: string): void;
}

/** A request to an {@link HttpEndpoint}, without a body. */
export interface HttpQuestion {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** Options of {@link HttpEndpoint}. */
export interface HttpEndpointOptions {
  readonly name: string;
  /** Undefined: every address of the machine. */
  readonly host: string | undefined;
  /** 0: any free one. */
  readonly port: number;
  /** Where the certificate of HTTPS comes from. Undefined: HTTP. */
  readonly certificate?: CertificateSource | undefined;
  readonly clock: Clock;
  /** What it throws is logged and answered as a 500 without details. */
  readonly answer: (question: HttpQuestion) => Promise<HttpAnswer>;
}

/** How long requests have to end when the endpoint is stopped, in milliseconds. */
const unwindMs = 1_000;

/** A small HTTP server for `GET`, as a runnable of a manager. */
export class HttpEndpoint implements Runnable {
  readonly name: string;
  readonly phase = 'server';
  readonly #options: HttpEndpointOptions;
  readonly #answering = new Set<Promise<void>>();
  /** Those that wait for an answer. One listener tells all of a stop: a signal warns of very many. */
  readonly #asking = new Set<AbortController>();
  #url: string | undefined;

  constructor(options: HttpEndpointOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** Where it listens, for example `http://127.0.0.1:8080`; undefined: it does not. */
  get url(): string | undefined {
    return this.#url;
  }

  /** @throws OperatorError `ListenFailed`: the port is in use, for example. */
  async run(context: RunnableContext): Promise<void> {
    const { signal, logger } = context;
    const server = await this.#newServer(context);
    const sockets = new OpenSockets(server);
    const onStop = (): void => {
      for (const asking of this.#asking) asking.abort(signal.reason);
    };
    signal.addEventListener('abort', onStop, { once: true });
    try {
      await this.#listen(server);
      logger.info(`${this.name} listens`, { url: this.#url });
      context.ready();
      await ended(server, signal);
    } finally {
      signal.removeEventListener('abort', onStop);
      this.#url = undefined;
      await this.#close(server, sockets);
    }
  }

  async #newServer(context: Pick<RunnableContext, 'signal' | 'logger'>): Promise<Server> {
    const { certificate, clock } = this.#options;
    const listener = inTurn((request, response) => {
      const answering = this.#serve(request, response, context).finally(() =>
        this.#answering.delete(answering),
      );
      this.#answering.add(answering);
    });
    // A probe is a line and some headers: who takes longer only holds a socket.
    const limits = { requestTimeout: 10_000, headersTimeout: 10_000, keepAliveTimeout: 60_000 };
    const handshakeTimeout = 10_000;
    if (certificate === undefined) return createServer(limits, listener);
    const held: { server?: TlsServer } = {};
    const first = await certificate.start({
      ...{ clock, signal: context.signal, logger: context.logger },
      onChange: (next) => held.server?.setSecureContext(secureContextOf(next)),
    });
    const tls = { ...secureContextOf(first), handshakeTimeout };
    held.server = createTlsServer({ ...limits, ...tls }, listener);
    return held.server;
  }

  async #listen(server: Server): Promise<void> {
    const { host, port, certificate } = this.#options;
    await new Promise<void>((resolve, reject) => {
      const onError = (cause: Error): void => reject(listenFailed(this.#options, cause));
      server.once('error', onError);
      server.listen({ port, host }, () => {
        server.off('error', onError);
        resolve();
      });
    });
    const { address, family, port: taken } = server.address() as AddressInfo;
    const shown = family === 'IPv6' ? `[${address}]` : address;
    this.#url = `${certificate === undefined ? 'http' : 'https'}://${shown}:${taken}`;
  }

  async #close(server: Server, sockets: OpenSockets): Promise<void> {
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const answered = Promise.all(this.#answering).then(() => undefined);
    await endsWithin(answered, unwindMs, this.#options.clock);
    sockets.destroy();
    await closed;
  }

  async #serve(
    request: IncomingMessage,
    response: ServerResponse,
    { signal, logger }: Pick<RunnableContext, 'signal' | 'logger'>,
  ): Promise<void> {
    const gone = new AbortController();
    const onClose = (): void => gone.abort(new OperatorError('Aborted', 'the client went away'));
    response.once('close', onClose);
    this.#asking.add(gone);
    if (signal.aborted) gone.abort(signal.reason);
    try {
      const answer = await this.#answerTo(request, { signal: gone.signal, logger });
      if (signal.aborted) response.shouldKeepAlive = false;
      await send(request, response, answer);
    } catch (error) {
      logger.error(`${this.name}: an answer broke off`, { error });
      response.destroy();
    } finally {
      response.off('close', onClose);
      this.#asking.delete(gone);
    }
  }

  async #answerTo(
    request: IncomingMessage,
    { signal, logger }: Pick<RunnableContext, 'signal' | 'logger'>,
  ): Promise<HttpAnswer> {
    const { method = 'GET', headers } = request;
    if (method !== 'GET' && method !== 'HEAD') {
      return { status: 405, headers: { allow: 'GET, HEAD' }, body: 'Method Not Allowed\n' };
    }
    const url = URL.parse(request.url ?? '/', 'http://localhost');
    if (url === null) return { status: 400, body: 'Bad Request\n' };
    try {
      return await this.#options.answer({ method, url, headers, signal, logger });
    } catch (error) {
      logger.error(`${this.name}: GET ${url.pathname} failed`, { error });
      return { status: 500, body: 'Internal Server Error\n' };
    }
  }
}

/** All of it: what is left out when a certificate is replaced goes back to its default. */
function secureContextOf({ certificate, privateKey }: ServingCertificate) {
  return { cert: certificate, key: privateKey, minVersion: 'TLSv1.2' as const };
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: HttpAnswer,
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
  await new Promise<void>((resolve) => {
    response.once('close', resolve);
    response.end(request.method === 'HEAD' ? undefined : body);
  });
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

/** Resolves when `signal` is aborted; rejects when the server breaks before. */
async function ended(server: Server, signal: AbortSignal): Promise<void> {
  const over = new AbortController();
  try {
    await new Promise<void>((resolve, reject) => {
      server.on('error', reject);
      signal.addEventListener('abort', () => resolve(), { signal: over.signal });
      if (signal.aborted) resolve();
    });
  } finally {
    server.removeAllListeners('error');
    over.abort();
  }
}

function listenFailed({ name, host, port }: HttpEndpointOptions, cause: Error): OperatorError {
  const { code } = cause as { readonly code?: string };
  const why = code === 'EADDRINUSE' ? 'the port is in use' : cause.message;
  const message = `${name}: can't listen on ${host ?? '*'}:${port}: ${why}`;
  return new OperatorError('ListenFailed', `${message} (choose another port, or 0)`, { cause });
}
