import type { Counter, Histogram, Metrics } from '../system/index.js';

const secondsBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const bytesBuckets = [64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216];

/** The request metrics of client-go and controller-runtime, with the same names, so that dashboards work. */
export class RequestMetrics {
  readonly #requests: Counter;
  readonly #retries: Counter;
  readonly #duration: Histogram;
  readonly #limiter: Histogram;
  readonly #requestSize: Histogram;
  readonly #responseSize: Histogram;
  readonly #host: string;

  /** @param host - the server, as the `host` label of the metrics. */
  constructor(metrics: Metrics, host: string) {
    this.#host = host;
    this.#requests = metrics.counter({
      name: 'rest_client_requests_total',
      help: 'Number of HTTP requests, partitioned by status code, method, and host.',
      labelNames: ['code', 'method', 'host'],
    });
    this.#retries = metrics.counter({
      name: 'rest_client_request_retries_total',
      help: 'Number of request retries, partitioned by status code, verb, and host.',
      labelNames: ['code', 'verb', 'host'],
    });
    const histogram = (name: string, help: string, buckets: readonly number[]): Histogram =>
      metrics.histogram({ name, help, labelNames: ['verb', 'host'], buckets });
    this.#duration = histogram(
      'rest_client_request_duration_seconds',
      'Request latency in seconds. Broken down by verb, and host.',
      secondsBuckets,
    );
    this.#limiter = histogram(
      'rest_client_rate_limiter_duration_seconds',
      'Client side rate limiter latency in seconds. Broken down by verb, and host.',
      secondsBuckets,
    );
    this.#requestSize = histogram(
      'rest_client_request_size_bytes',
      'Request size in bytes. Broken down by verb and host.',
      bytesBuckets,
    );
    this.#responseSize = histogram(
      'rest_client_response_size_bytes',
      'Response size in bytes. Broken down by verb and host.',
      bytesBuckets,
    );
  }

  /** Records an attempt. `status` is undefined if no response arrived. */
  observe(method: string, status: number | undefined, durationMs: number): void {
    const code = codeOf(status);
    this.#requests.add(1, { code, method, host: this.#host });
    this.#duration.observe(durationMs / 1_000, { verb: method, host: this.#host });
  }

  /** Records a retry, after an attempt that ended with `status`. */
  retried(method: string, status: number | undefined): void {
    this.#retries.add(1, { code: codeOf(status), verb: method, host: this.#host });
  }

  /** Records the delay of a request by the client's own rate limit. */
  waited(method: string, durationMs: number): void {
    this.#limiter.observe(durationMs / 1_000, { verb: method, host: this.#host });
  }

  /** Records the size of a request body. */
  sent(method: string, bytes: number): void {
    this.#requestSize.observe(bytes, { verb: method, host: this.#host });
  }

  /** Records the decompressed size of a response body. */
  received(method: string, bytes: number): void {
    this.#responseSize.observe(bytes, { verb: method, host: this.#host });
  }
}

function codeOf(status: number | undefined): string {
  return status === undefined ? '<error>' : String(status);
}
