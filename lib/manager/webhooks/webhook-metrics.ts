import type { Clock } from '../../system/clock.js';
import type { Metrics } from '../../system/metrics.js';
import type { Webhook } from './webhook.js';

// controller-runtime's buckets: 10 ns to 1,000 s, each ten times the previous.
const buckets = Array.from({ length: 12 }, (_, n) => 10 ** (n - 8));

/** Metrics of webhooks, with controller-runtime's names; the label `webhook` is the path. */
export class WebhookMetrics {
  readonly #clock: Clock;
  readonly #latency;
  readonly #requests;
  readonly #inFlight;
  readonly #panics;
  readonly #conversionPanics;

  constructor(metrics: Metrics, clock: Clock) {
    const prefix = 'controller_runtime_webhook';
    const labelNames = ['webhook'];
    this.#clock = clock;
    this.#latency = metrics.histogram({
      name: `${prefix}_latency_seconds`,
      help: 'How long webhook requests took, in seconds.',
      ...{ labelNames, buckets },
    });
    this.#requests = metrics.counter({
      name: `${prefix}_requests_total`,
      help: 'Webhook requests, by the HTTP status of the answer.',
      labelNames: ['webhook', 'code'],
    });
    this.#inFlight = metrics.gauge({
      name: `${prefix}_requests_in_flight`,
      help: 'Webhook requests that are being answered.',
      labelNames,
    });
    this.#panics = metrics.counter({
      name: `${prefix}_panics_total`,
      help: 'Admission requests whose handler threw.',
    });
    this.#conversionPanics = metrics.counter({
      name: 'controller_runtime_conversion_webhook_panics_total',
      help: 'Conversion requests whose converter threw.',
    });
  }

  /** Initializes the series of `webhook` with 0, so that a rate has a start value. */
  introduce(webhook: string): void {
    for (const code of ['200', '500']) this.#requests.add(0, { webhook, code });
    this.#inFlight.set(0, { webhook });
  }

  /** Counts the start of a request. @returns a function to call with the status of the response */
  begin(webhook: string): (status: number) => void {
    const startedMs = this.#clock.monotonicMs();
    this.#inFlight.add(1, { webhook });
    return (status) => {
      this.#inFlight.add(-1, { webhook });
      this.#requests.add(1, { webhook, code: String(status) });
      this.#latency.observe((this.#clock.monotonicMs() - startedMs) / 1000, { webhook });
    };
  }

  handlerThrew(type: Webhook['type']): void {
    (type === 'conversion' ? this.#conversionPanics : this.#panics).add();
  }
}
