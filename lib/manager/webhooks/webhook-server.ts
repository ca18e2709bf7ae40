import {
  systemClock,
  refuseUnknownOptions,
  noMetrics,
  OperatorError,
  Turns,
} from '../../system/index.js';
import type { Clock, Logger, Metrics } from '../../system/index.js';
import { HttpEndpoint, refusePort } from '../http-endpoint.js';
import type { HttpQuestion } from '../http-endpoint.js';
import type { Runnable, RunnableContext } from '../runnable.js';
import type { CertificateSource } from './certificate-source.js';
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
  /** The address to listen on. @defaultValue all addresses, since the API server connects from another machine */
  readonly host?: string | undefined;
  /** Accepts only clients with a certificate of these authorities (PEM). @defaultValue all clients */
  readonly clientAuthorities?: string | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** @defaultValue the manager's */
  readonly logger?: Logger | undefined;
  /** Registers the metrics of requests to webhooks. @defaultValue discards everything */
  readonly metrics?: Metrics | undefined;
}

/**
 * Serves webhooks over HTTPS. A manager starts it before its caches: lists may need conversion.
 *
 * ## Answers
 * - A handler that throws causes a 500 that names the webhook. The API server then applies the webhook's
 *   `failurePolicy`. The server continues.
 * - A body that is not the right review causes a 400; a body above 7 MiB (controller-runtime's limit; 64 MiB for
 *   conversions) a 413; a `Content-Type` other than JSON a 415; an unknown path a 404.
 * - Bodies above 7 MiB are read one after the other, so that only one is in memory.
 */
export class WebhookServer implements Runnable {
  readonly name = 'webhooks';
  readonly phase = 'webhook';
  readonly webhooks: readonly Webhook[];
  readonly #logger: Logger | undefined;
  readonly #metrics: WebhookMetrics;
  readonly #endpoint: HttpEndpoint;
  /** Paths that accept larger bodies. */
  readonly #conversionPaths: ReadonlySet<string>;
  readonly #turns = new Turns();

  /** @throws OperatorError `InvalidOption`: no webhooks are given, two share a path, or the port is invalid. */
  constructor(options: WebhookServerOptions) {
    const { webhooks, clock = systemClock, metrics = noMetrics, port = 9443 } = options;
    const { host, certificates: certificate, clientAuthorities, logger } = options;
    const names = { webhooks, certificates: certificate, port, host, clientAuthorities };
    const all = { ...names, clock, logger, metrics };
    refuseUnknownOptions<WebhookServerOptions>('webhooks', options, all);
    refusePort('webhooks', port);
    refuseSharedPaths(webhooks);
    this.webhooks = webhooks;
    this.#logger = logger;
    this.#metrics = new WebhookMetrics(metrics, clock);
    for (const { path } of webhooks) this.#metrics.introduce(path);
    const conversions = webhooks.filter(({ type }) => type === 'conversion');
    this.#conversionPaths = new Set(conversions.map(({ path }) => path));
    this.#endpoint = new HttpEndpoint({
      ...{ name: this.name, host, port, certificate, clientAuthorities, clock, graceMs },
      posts: { has: () => true },
      answer: async (question) => {
        const { status, body } = await this.#answer(question);
        const headers = { 'content-type': 'application/json' };
        return { status, headers, body: JSON.stringify(body) };
      },
    });
  }

  /** The port that the server listens on; undefined while it does not listen. */
  get port(): number | undefined {
    return this.#endpoint.port;
  }

  /** Address that the server listens on, such as `https://127.0.0.1:9443`; undefined while it does not listen. */
  get url(): string | undefined {
    return this.#endpoint.url;
  }

  /**
   * Serves until `signal` is aborted. Requests in progress then have 10 s to end.
   * @throws OperatorError `ListenFailed`: the port is taken; or the error of the certificate source.
   */
  async run(context: RunnableContext): Promise<void> {
    await this.#endpoint.run({ ...context, logger: this.#logger ?? context.logger });
  }

  async #answer({ url, headers, body, signal, logger }: HttpQuestion): Promise<PostedAnswer> {
    const { pathname: path } = url;
    if (!(headers['content-type'] ?? '').startsWith('application/json')) {
      return refusal(415, `${path}: unsupported Content-Type; send application/json`);
    }
    const limit = this.#conversionPaths.has(path) ? maxConversionBytes : maxBodyBytes;
    const handlers = new WebhookHandlers(this.webhooks, { metrics: this.#metrics, logger });
    const read = async (): Promise<PostedAnswer> => {
      const text = await body(limit);
      if (text === undefined) return refusal(413, `${path}: the body has more than ${limit} bytes`);
      return handlers.answer({ path, body: text, signal });
    };
    // A chunked body has no length.
    const isSmall = limit === maxBodyBytes || Number(headers['content-length']) <= maxBodyBytes;
    return isSmall ? read() : this.#turns.run('large', read);
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
  readonly body: string;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Response to a {@link PostedRequest}; `body` is sent as JSON. */
export interface PostedAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Maximum size of an admission review in bytes: two objects of 3 MiB plus the review around them. */
const maxBodyBytes = 7 * 1024 * 1024;

/** Maximum size of a conversion review in bytes: it may contain all objects of a list. */
const maxConversionBytes = 64 * 1024 * 1024;

/** Time for requests in progress after a stop, in milliseconds; webhooks time out after 10 s. */
const graceMs = 10_000;

/** Returns a Status (meta/v1), which the API server shows to its user. */
export function refusal(code: number, message: string): PostedAnswer {
  const status = { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure' };
  return { status: code, body: { ...status, code, message } };
}
