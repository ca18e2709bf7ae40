import type { Clock } from '../../system/clock.js';
import { systemClock, whenAborted } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import { noMetrics } from '../../system/metrics.js';
import type { Metrics } from '../../system/metrics.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import type { OptionNames } from '../../system/known-options.js';
import { OperatorError } from '../../system/operator-error.js';
import type { HealthCheck } from '../manager-health.js';
import type { Runnable, RunnableContext } from '../runnable.js';
import type { CertificateSource } from './certificate-source.js';
import { HttpsListener } from './https-listener.js';
import type { Webhook } from './webhook.js';
import { WebhookHandlers, WebhookMetrics } from './webhook-handlers.js';

/** Options of {@link WebhookServer}. */
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
  /** @defaultValue the machine's */
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
 * - A body that is not the right review causes a 400; a body above 7 MiB (controller-runtime's limit) a 413;
 *   an unknown path a 404.
 */
export class WebhookServer implements Runnable, HealthCheck {
  readonly name = 'webhooks';
  readonly phase = 'webhook';
  readonly webhooks: readonly Webhook[];
  readonly #options: WebhookServerOptions;
  readonly #clock: Clock;
  readonly #metrics: WebhookMetrics;
  #listener: HttpsListener | undefined;

  /** @throws OperatorError `InvalidOption`: no webhooks are given, or two share a path. */
  constructor(options: WebhookServerOptions) {
    const { webhooks, clock = systemClock, metrics = noMetrics } = options;
    refuseUnknownOptions('webhooks', options, webhookServerOptionNames);
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
    const listening = { logger, clock: this.#clock };
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
