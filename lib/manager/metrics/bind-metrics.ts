import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Registry } from 'prom-client';
import type { Client } from '../../client/client.js';
import type { Clock } from '../../system/clock.js';
import { refuseUnknownOptions } from '../../system/known-options.js';
import { noMetrics } from '../../system/metrics.js';
import { OperatorError } from '../../system/operator-error.js';
import { HttpEndpoint } from '../http/http-endpoint.js';
import type { HttpAnswer, HttpQuestion } from '../http/http-endpoint.js';
import type { LateMetrics } from '../late-metrics.js';
import type { Runnable } from '../runnable.js';
import type { CertificateSource } from '../webhooks/certificate-source.js';
import { ReviewedAccess } from './reviewed-access.js';

/** Options of {@link bindMetrics}. */
interface BindMetricsOptions {
  readonly metrics: ResolvedMetricsOptions | undefined;
  readonly clock: Clock;
}

/**
 * Binds the metrics to their registry, or discards them. Loads prom-client only if needed.
 * @param client - sends the reviews of metrics clients
 * @returns the metrics server; undefined if not requested
 */
export async function bindMetrics(
  late: LateMetrics,
  { metrics: options, clock }: BindMetricsOptions,
  client: Client,
): Promise<Runnable | undefined> {
  if (options === undefined) {
    late.bind(noMetrics);
    return undefined;
  }
  const [{ Registry }, { promMetrics }, { registerProcessMetrics }] = await Promise.all([
    import('prom-client'),
    import('../../system/prom-metrics.js'),
    import('./process-metrics.js'),
  ]);
  const registry = options.registry ?? new Registry();
  if (options.processMetrics) registerProcessMetrics(registry);
  late.bind(promMetrics(registry));
  if (!options.serve) return undefined;
  const { host, port, certificate } = options;
  const access = options.access === 'reviewed' ? new ReviewedAccess({ client, clock }) : undefined;
  return new HttpEndpoint({
    ...{ name: 'metrics-server', host, port, certificate, clock },
    answer: (question) => answerMetrics(registry, access, question),
  });
}

const compress = promisify(gzip);

// Smaller responses are not compressed.
const smallBytes = 1_024;

/** Answers `/metrics` with the samples of `registry` if the client has access. */
async function answerMetrics(
  registry: Registry,
  access: ReviewedAccess | undefined,
  question: HttpQuestion,
): Promise<HttpAnswer> {
  const { url, headers, logger } = question;
  if (url.pathname !== '/metrics') return { status: 404, body: '404 page not found\n' };
  const refused = await access?.refusal(question);
  if (refused !== undefined) {
    logger.info('a scrape was refused', { status: refused.status });
    return refused;
  }
  const text = await registry.metrics();
  const shown = { 'content-type': registry.contentType, vary: 'accept-encoding' };
  if (text.length < smallBytes || !acceptsGzip(headers['accept-encoding'])) {
    return { status: 200, headers: shown, body: text };
  }
  const body = await compress(text);
  return { status: 200, headers: { ...shown, 'content-encoding': 'gzip' }, body };
}

function acceptsGzip(header: string | string[] | undefined): boolean {
  const codings = String(header ?? '').split(',');
  return codings.some((coding) => {
    const [name = '', ...parameters] = coding.split(';').map((part) => part.trim());
    const isRefused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    return (name === 'gzip' || name === '*') && !isRefused;
  });
}

/** Options of the metrics and of their server. */
export interface MetricsOptions {
  /**
   * Registry of all metrics. Pass one to share it with your own metrics or the client's (see `promMetrics` of
   * `operator-builder/prometheus`). @defaultValue a new registry
   */
  readonly registry?: Registry | undefined;
  /** Serve `/metrics`. @defaultValue true */
  readonly serve?: boolean | undefined;
  /** The address to listen on. @defaultValue all addresses of the machine */
  readonly host?: string | undefined;
  /** 0 selects a free port. @defaultValue 8080 */
  readonly port?: number | undefined;
  /** Serve HTTPS with this certificate, for example `certificateFiles({ folder })`. @defaultValue HTTP */
  readonly certificate?: CertificateSource | undefined;
  /**
   * Access control. `reviewed` requires a bearer token that the API server authenticates (TokenReview) and
   * that may `get` the non-resource URL `/metrics` (SubjectAccessReview). Use HTTPS with it, since the token
   * is sent with each request. @defaultValue 'everyone'
   */
  readonly access?: 'everyone' | 'reviewed' | undefined;
  /** Metrics of the process: CPU, memory, open files, heap. @defaultValue true */
  readonly processMetrics?: boolean | undefined;
}

/** {@link MetricsOptions}, resolved. */
export interface ResolvedMetricsOptions {
  readonly registry: Registry | undefined;
  readonly serve: boolean;
  readonly host: string | undefined;
  readonly port: number;
  readonly certificate: CertificateSource | undefined;
  readonly access: 'everyone' | 'reviewed';
  readonly processMetrics: boolean;
}

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: an option is out of its range.
 */
export function resolveMetricsOptions(options: MetricsOptions): ResolvedMetricsOptions {
  const { registry, serve = true, host, port = 8080, certificate } = options;
  const { access = 'everyone', processMetrics = true } = options;
  if (!(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    throw new OperatorError('InvalidOption', `metrics: port ${port}: want 0 to 65535`);
  }
  const resolved = { registry, serve, host, port, certificate, access, processMetrics };
  refuseUnknownOptions<MetricsOptions>('metrics', options, resolved);
  return resolved;
}
