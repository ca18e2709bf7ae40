import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { endsWithin } from '../../controller/ends-within.js';
import type { Clock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import { OperatorError } from '../../system/operator-error.js';
import { inTurn } from '../http/in-turn.js';
import { OpenSockets } from '../http/open-sockets.js';
import type { ServingCertificate } from './certificate-source.js';

/** A request with a JSON body, read to its end. */
export interface PostedRequest {
  readonly path: string;
  readonly body: Buffer;
  /** Aborted when the client went away. */
  readonly signal: AbortSignal;
}

/** The answer to a {@link PostedRequest}; `body` is sent as JSON. */
export interface PostedAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Options of {@link HttpsListener.listen}. */
export interface ListenOptions {
  readonly port: number;
  readonly host: string | undefined;
  readonly clientAuthorities: string | undefined;
}

/** The most that a body may have, in bytes: two objects of 3 MiB and what is around them. */
export const maxBodyBytes = 7 * 1024 * 1024;

/** How long a client may take to send its request, in milliseconds: the API server waits 30 s at most. */
const requestTimeoutMs = 30_000;

/** How long a client may take to agree on TLS, in milliseconds. */
const handshakeTimeoutMs = 10_000;

/** How long what is being answered may take when it is closed: webhooks time out after 10 s. */
const answerGraceMs = 10_000;

/** An HTTPS server for posted JSON, whose certificate can be replaced while it runs. */
export class HttpsListener {
  readonly #answer: (request: PostedRequest) => Promise<PostedAnswer>;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #answering = new Set<Promise<void>>();
  #clientAuthorities: string | undefined;
  #server: Server | undefined;
  #sockets: OpenSockets | undefined;

  constructor(
    answer: (request: PostedRequest) => Promise<PostedAnswer>,
    { logger, clock }: { readonly logger: Logger; readonly clock: Clock },
  ) {
    this.#answer = answer;
    this.#logger = logger;
    this.#clock = clock;
  }

  /** The port that it listens on. */
  get port(): number | undefined {
    return (this.#server?.address() as AddressInfo | null | undefined)?.port;
  }

  /** Where it listens, for example `https://127.0.0.1:9443`; undefined: it does not. */
  get url(): string | undefined {
    const { address, family, port } = (this.#server?.address() ?? {}) as Partial<AddressInfo>;
    if (address === undefined || port === undefined) return undefined;
    return `https://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Shows `certificate` to those who connect from now on. */
  use(certificate: ServingCertificate): void {
    this.#server?.setSecureContext(this.#secureContextOf(certificate));
  }

  /** @throws OperatorError `ListenFailed`: the port is taken. */
  async listen(certificate: ServingCertificate, options: ListenOptions): Promise<void> {
    const { port, host, clientAuthorities } = options;
    this.#clientAuthorities = clientAuthorities;
    const server = createServer(
      {
        ...this.#secureContextOf(certificate),
        ...(clientAuthorities !== undefined && { requestCert: true, rejectUnauthorized: true }),
        ...{ requestTimeout: requestTimeoutMs, handshakeTimeout: handshakeTimeoutMs },
      },
      inTurn((request, response) => {
        const answering = this.#serve(request, response).finally(() =>
          this.#answering.delete(answering),
        );
        this.#answering.add(answering);
      }),
    );
    this.#sockets = new OpenSockets(server);
    server.on('tlsClientError', (error) => {
      // Whoever connects without TLS, or does not trust us, is told by TLS.
      this.#logger.debug('a TLS handshake failed', { error });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) => {
        const remedy = 'choose another port, or end what listens there';
        const message = `webhooks: port ${port}: ${cause.message} (${remedy})`;
        reject(new OperatorError('ListenFailed', message, { cause }));
      });
      server.listen({ port, host }, resolve);
    });
    this.#server = server;
  }

  /**
   * Takes no more connections; resolves when what is being answered was, after 10 s at the latest,
   * and no connection is left.
   */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    if (!(await endsWithin(this.#allAnswered(), answerGraceMs, this.#clock))) {
      const count = this.#answering.size;
      this.#logger.warn(`webhooks: ${count} not answered ${answerGraceMs} ms after the stop`);
    }
    this.#sockets?.destroy();
    await closed;
  }

  /** All of it: what is left out when a certificate is replaced goes back to its default. */
  #secureContextOf({ certificate, privateKey }: ServingCertificate): SecureContextOptions {
    const ca = this.#clientAuthorities;
    const own = { cert: certificate, key: privateKey, minVersion: 'TLSv1.2' } as const;
    return { ...own, ...(ca !== undefined && { ca }) };
  }

  /** Connections that are open already may have sent one more meanwhile. */
  async #allAnswered(): Promise<void> {
    while (this.#answering.size > 0) await Promise.all(this.#answering);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    const onClose = (): void => gone.abort(new OperatorError('Aborted', 'the client went away'));
    response.once('close', onClose);
    try {
      const { status, body } = await this.#answerTo(request, gone.signal);
      if (response.destroyed) return;
      response.off('close', onClose);
      const text = JSON.stringify(body);
      // What is left of a body that was refused is not read: the connection can't be used again.
      const ends = request.complete && this.#server !== undefined ? {} : { connection: 'close' };
      response.writeHead(status, { 'content-type': 'application/json', ...ends });
      // Who closes waits for this: the last bytes have left when it is over.
      await new Promise<void>((resolve) => {
        response.once('close', resolve);
        response.end(text);
      });
    } catch (error) {
      this.#logger.debug('a webhook request ended early', { error });
      response.destroy();
    } finally {
      response.off('close', onClose);
    }
  }

  async #answerTo(request: IncomingMessage, signal: AbortSignal): Promise<PostedAnswer> {
    const { method, url = '/', headers } = request;
    // A path such as `//[bad` is no URL.
    const path = URL.parse(url, 'https://webhooks')?.pathname;
    if (path === undefined) return refusal(400, `${JSON.stringify(url)}: the path is invalid`);
    if (method !== 'POST') return refusal(405, `${method ?? ''} ${path}: webhooks are posted to`);
    if (!(headers['content-type'] ?? '').startsWith('application/json')) {
      return refusal(415, `${path}: only application/json is read here`);
    }
    const body = await readBody(request);
    if (body === undefined) return refusal(413, `${path}: more than ${maxBodyBytes} bytes`);
    return this.#answer({ path, body, signal });
  }
}

/** A Status (meta/v1), which the API server shows to its user. */
export function refusal(code: number, message: string): PostedAnswer {
  const status = { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure' };
  return { status: code, body: { ...status, code, message } };
}

/** @returns undefined: there is too much */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
