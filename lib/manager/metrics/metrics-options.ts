import type { Registry } from 'prom-client';
import { refuseUnknownOptions } from '../../system/known-options.js';
import { OperatorError } from '../../system/operator-error.js';
import type { CertificateSource } from '../webhooks/certificate-source.js';

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
