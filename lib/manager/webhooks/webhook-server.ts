import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import {
  endsWithin,
  systemClock,
  whenAborted,
  refuseUnknownOptions,
  noMetrics,
  OpenSockets,
  OperatorError,
  Turns,
} from '../../system/index.js';
import type { Clock, OptionNames, Logger, Metrics } from '../../system/index.js';
import { inTurn, refusePort } from '../http-endpoint.js';
import type { HealthCheck } from '../manager-health.js';
import type { Runnable, RunnableContext } from '../runnable.js';
import type { CertificateSource, ServingCertificate } from './certificate-source.js';
import { WebhookHandlers, WebhookMetrics } from './webhook-handlers.js';
import type { Webhook } from './webhook.js';

/** Options of `WebhookServer`. */
export interface WebhookServerOptions {
  /** Webhooks to serve; only conversion webhooks may share a path. */
  readonly webhooks: readonly Webhook[];
  /** Source of the certificate: `certificateFiles` or `generatedCertificates`. */
  readonly certificates: CertificateSource;
  /** 0 selects a free port. @defaultValue 9443 */
  readonly port?: number | undefined;
  /** @defaultValue all addresses, since the API server connects from another machine */
  readonly host?: string | undefined;
  /** Accepts only clients with a certificate of these authorities (PEM). @defaultValue all clients */
  readonly clientAuthorities?: string | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** @defaultValue the manager's */
  readonly logger?: Logger | undefined;
  /** @defaultValue discards everything */
  readonly metrics?: Metrics | undefined;
}

const webhookServerOptionNames: OptionNames<WebhookServerOptions> = {
  ...{ webhooks: true, certificates: true, port: true, host: true, clientAuthorities: true },
  ...{ clock: true, logger: true, metrics: true },
};

/**
 * Serves webhooks over HTTPS. A manager starts it before its caches: lists may need conversion.
 *
 * ## Answers
 * - A handler that throws causes a 500 that names the webhook. The API server then applies the webhook's
 *   `failurePolicy`. The server continues.
 * - A body that is not the right review causes a 400; a body above 7 MiB (controller-runtime's limit; 64 MiB for
 *   conversions) a 413; an unknown path a 404.
 * - Bodies above 7 MiB are read one after the other, so that only one is in memory.
 */
export class WebhookServer implements Runnable, HealthCheck {
  readonly name = 'webhooks';
  readonly phase = 'webhook';
  readonly webhooks: readonly Webhook[];
  readonly #options: WebhookServerOptions;
  readonly #clock: Clock;
  readonly #metrics: WebhookMetrics;
  #listener: HttpsListener | undefined;

  /** @throws OperatorError `InvalidOption`: no webhooks are given, two share a path, or the port is invalid. */
  constructor(options: WebhookServerOptions) {
    const { webhooks, clock = systemClock, metrics = noMetrics, port = 9443 } = options;
    refuseUnknownOptions('webhooks', options, webhookServerOptionNames);
    refusePort('webhooks', port);
    refuseSharedPaths(webhooks);
    this.webhooks = webhooks;
    this.#options = options;
    this.#clock = clock;
    this.#metrics = new WebhookMetrics(metrics, clock);
    for (const { path } of webhooks) this.#metrics.introduce(path);
  }

  /** The port it listens on; undefined while it does not listen. */
  get port(): number | undefined {
    return this.#listener?.port;
  }

  /** Address it listens on, such as `https://127.0.0.1:9443`; undefined while it does not listen. */
  get url(): string | undefined {
    return this.#listener?.url;
  }

  /** @throws OperatorError the server does not listen. */
  check(): void {
    if (this.#listener === undefined) throw new OperatorError('Stopped', 'it does not listen');
  }

  /**
   * Serves until `signal` is aborted. Requests in progress then have 10 s to end.
   * @throws OperatorError `ListenFailed`: the port is taken; or the error of the certificate source.
   */
  async run(context: RunnableContext): Promise<void> {
    const { signal } = context;
    const { certificates, port = 9443, host, clientAuthorities } = this.#options;
    const { logger = context.logger } = this.#options;
    const ending = new AbortController();
    const end = (): void => ending.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    const handlers = new WebhookHandlers(this.webhooks, { metrics: this.#metrics, logger });
    const conversions = this.webhooks.filter(({ type }) => type === 'conversion');
    const conversionPaths = new Set(conversions.map(({ path }) => path));
    const listening = { logger, clock: this.#clock, conversionPaths };
    const listener = new HttpsListener((request) => handlers.answer(request), listening);
    try {
      if (signal.aborted) return;
      const first = await certificates.start({
        ...{ clock: this.#clock, logger, signal: ending.signal },
        onChange: (certificate) => listener.use(certificate),
      });
      await listener.listen(first, { port, host, clientAuthorities });
      this.#listener = listener;
      logger.info('webhooks are served', { port: listener.port });
      context.ready();
      await whenAborted(signal);
    } finally {
      this.#listener = undefined;
      signal.removeEventListener('abort', end);
      ending.abort();
      await listener.close();
    }
  }
}

function refuseSharedPaths(webhooks: readonly Webhook[]): void {
  if (webhooks.length === 0) {
    throw new OperatorError('InvalidOption', 'a webhook server without webhooks: leave it out');
  }
  const seen = new Map<string, Webhook>();
  for (const webhook of webhooks) {
    const other = seen.get(webhook.path);
    if (other !== undefined && !(other.type === 'conversion' && webhook.type === 'conversion')) {
      const message = `webhooks ${other.name} and ${webhook.name} share the path ${webhook.path}`;
      throw new OperatorError('InvalidOption', `${message}: give one of them another`);
    }
    seen.set(webhook.path, webhook);
  }
}

/** A complete request with a JSON body. */
export interface PostedRequest {
  readonly path: string;
  readonly body: Buffer;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Response to a {@link PostedRequest}; `body` is sent as JSON. */
export interface PostedAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Options of {@link HttpsListener.listen}. */
interface ListenOptions {
  readonly port: number;
  readonly host: string | undefined;
  readonly clientAuthorities: string | undefined;
}

/** Maximum size of an admission review in bytes: two objects of 3 MiB plus the review around them. */
const maxBodyBytes = 7 * 1024 * 1024;

/** Maximum size of a conversion review in bytes: it may contain all objects of a list. */
const maxConversionBytes = 64 * 1024 * 1024;

/** Time for a client to send its request, in milliseconds; the API server waits at most 30 s. */
const requestTimeoutMs = 30_000;

/**
 * Time for which an idle connection stays open, in milliseconds: longer than the 90 s for which API servers keep it.
 * They do not repeat a POST that meets the end of its connection, so the call of the webhook would fail.
 */
const keepAliveTimeoutMs = 120_000;

/** Time for a TLS handshake, in milliseconds. */
const handshakeTimeoutMs = 10_000;

/** Time for requests in progress after a close, in milliseconds; webhooks time out after 10 s. */
const answerGraceMs = 10_000;

/** Dependencies of {@link HttpsListener}. */
interface HttpsListenerParts {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Paths that accept larger bodies. */
  readonly conversionPaths: ReadonlySet<string>;
}

/** An HTTPS server for posted JSON whose certificate can be replaced at run time. */
class HttpsListener {
  readonly #answer: (request: PostedRequest) => Promise<PostedAnswer>;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #conversionPaths: ReadonlySet<string>;
  readonly #answering = new Set<Promise<void>>();
  readonly #turns = new Turns();
  #clientAuthorities: string | undefined;
  #server: Server | undefined;
  #sockets: OpenSockets | undefined;

  constructor(
    answer: (request: PostedRequest) => Promise<PostedAnswer>,
    { logger, clock, conversionPaths }: HttpsListenerParts,
  ) {
    this.#answer = answer;
    this.#logger = logger;
    this.#clock = clock;
    this.#conversionPaths = conversionPaths;
  }

  /** The port it listens on. */
  get port(): number | undefined {
    return (this.#server?.address() as AddressInfo | null | undefined)?.port;
  }

  /** Address it listens on, such as `https://127.0.0.1:9443`; undefined if it does not listen. */
  get url(): string | undefined {
    const { address, family, port } = (this.#server?.address() ?? {}) as Partial<AddressInfo>;
    if (address === undefined || port === undefined) return undefined;
    return `https://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Uses `certificate` for new connections. */
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
        keepAliveTimeout: keepAliveTimeoutMs,
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
      // Log at debug level only: a client without TLS, or without trust in the certificate, reports the
      // failure itself.
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
   * Accepts no more connections. Resolves when all requests are answered, after at most 10 s, and all
   * connections are closed.
   */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    if (!(await endsWithin(this.#allAnswered(), answerGraceMs, this.#clock))) {
      const count = this.#answering.size;
      this.#logger.warn(`webhooks: ${count} not answered ${answerGraceMs} ms after the stop`);
    }
    this.#sockets?.destroy();
    await closed;
  }

  /** Returns all fields: a field that is omitted when a certificate is replaced returns to its default. */
  #secureContextOf({ certificate, privateKey }: ServingCertificate): SecureContextOptions {
    const ca = this.#clientAuthorities;
    const own = { cert: certificate, key: privateKey, minVersion: 'TLSv1.2' } as const;
    return { ...own, ...(ca !== undefined && { ca }) };
  }

  /** Loops because open connections may send further requests meanwhile. */
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
      // The rest of a rejected body stays unread, so the connection cannot be reused.
      const ends = request.complete && this.#server !== undefined ? {} : { connection: 'close' };
      response.writeHead(status, { 'content-type': 'application/json', ...ends });
      // `close` waits for this: the last bytes are sent when it settles.
      await new Promise<void>((resolve) => {
        response.once('close', resolve);
        response.end(text);
      });
    } catch (error) {
      this.#logger.debug('a webhook request ended early', { error });
      response.destroy();
    }
  }

  async #answerTo(request: IncomingMessage, signal: AbortSignal): Promise<PostedAnswer> {
    const { method, url = '/', headers } = request;
    // A path such as `//[bad` is not a valid URL.
    const path = URL.parse(url, 'https://webhooks')?.pathname;
    if (path === undefined) return refusal(400, `${JSON.stringify(url)}: the path is invalid`);
    if (method !== 'POST') return refusal(405, `${method ?? ''} ${path}: webhooks are posted to`);
    if (!(headers['content-type'] ?? '').startsWith('application/json')) {
      return refusal(415, `${path}: only application/json is read here`);
    }
    const limit = this.#conversionPaths.has(path) ? maxConversionBytes : maxBodyBytes;
    const read = async (): Promise<PostedAnswer> => {
      const body = await readBody(request, limit);
      if (body === undefined) return refusal(413, `${path}: more than ${limit} bytes`);
      return this.#answer({ path, body, signal });
    };
    // A chunked body has no length.
    const isSmall = limit === maxBodyBytes || Number(headers['content-length']) <= maxBodyBytes;
    return isSmall ? read() : this.#turns.run('large', read);
  }
}

/** Returns a Status (meta/v1), which the API server shows to its user. */
export function refusal(code: number, message: string): PostedAnswer {
  const status = { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure' };
  return { status: code, body: { ...status, code, message } };
}

/** @returns undefined if the body is too large */
async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length']) > limit) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
