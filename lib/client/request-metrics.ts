import type { Counter, Histogram, Metrics } from '../system/metrics.js';

/** client-go's and controller-runtime's metrics of requests, by their names, so that dashboards work. */
export class RequestMetrics {
  readonly #requests: Counter;
  readonly #duration: Histogram;
  readonly #host: string;

  /** @param host - the server, as the metrics' `host` label. */
  constructor(metrics: Metrics, host: string) {
    this.#host = host;
    this.#requests = metrics.counter({
      name: 'rest_client_requests_total',
      help: 'Number of HTTP requests, partitioned by status code, method, and host.',
      labelNames: ['code', 'method', 'host'],
    });
    this.#duration = metrics.histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'Request latency in seconds. Broken down by verb, and host.',
      labelNames: ['verb', 'host'],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
    });
  }

  /** Counts an attempt. `status` is undefined when no answer came. */
  observe(method: string, status: number | undefined, durationMs: number): void {
    const code = status === undefined ? '<error>' : String(status);
    this.#requests.add(1, { code, method, host: this.#host });
    this.#duration.observe(durationMs / 1_000, { verb: method, host: this.#host });
  }
}
