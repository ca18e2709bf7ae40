/*
 * Access to the world outside the program: time, randomness, network, errors, logs, metrics and traces. Specs
 * replace each of them.
 *
 * Read `clock.ts` with `virtual-clock.ts`, `random.ts` and `operator-error.ts` first; all folders use them.
 * `transport.ts` is one HTTP request, sent by `undici-transport.ts` over the connections of `connector.ts`, and by
 * `stream-connection.ts` if it is a stream.
 * `logger.ts`, `metrics.ts` and `tracer.ts` are interfaces; `pino-logger.ts` implements the first, and the folder
 * `prometheus` the second. `known-options.ts` refuses unknown options, `metric-checks.ts` invalid metrics;
 * `turns.ts` runs the work for one key in
 * sequence, and `open-sockets.ts` closes the connections of a server.
 */
export {
  sleep,
  systemClock,
  endsWithin,
  nextTurn,
  turnIfDue,
  waited,
  untilAborted,
  whenAborted,
} from './clock.js';
export type { Clock, Timer } from './clock.js';
export { ConnectionError, isOperatorError, OperatorError } from './operator-error.js';
export type { ErrorCode, OperatorErrorOptions } from './operator-error.js';
export { silentLogger } from './logger.js';
export type { LogFields, Logger } from './logger.js';
export { checkedMetrics, refuseOtherMetric } from './metric-checks.js';
export type { KnownMetric } from './metric-checks.js';
export { noMetrics, withMetricLabels } from './metrics.js';
export type {
  Counter,
  Gauge,
  Histogram,
  MetricLabels,
  Metrics,
  RemovableSeries,
} from './metrics.js';
export { bothMetrics, registeredMetrics } from './open-telemetry-metrics.js';
export { openTelemetryTracer, registeredTracer, noTracer, noSpan } from './tracer.js';
export type { Span, SpanAttributes, Tracer } from './tracer.js';
export { pinoLogger } from './pino-logger.js';
export { seededRandom, systemRandom, delayAfter, spread } from './random.js';
export type { Random } from './random.js';
export { isAborted, joinHeaders, WholeBody, withLazySignal } from './transport.js';
export type { Transport, TransportRequest, TransportResponse } from './transport.js';
export { isProxyUrl } from './connector.js';
export type { TlsOptions } from './connector.js';
export { UndiciTransport } from './undici-transport.js';
export { VirtualClock } from './virtual-clock.js';
export {
  asError,
  errorMessage,
  jsonOrInspected,
  oneLine,
  reportedRejections,
  cutCharacters,
  shortened,
} from './as-error.js';
export {
  withoutUndefined,
  nearestName,
  refuseNonList,
  refuseNonNumbers,
  refuseOtherThan,
  refuseUnknownOptions,
} from './known-options.js';
export type { MisplacedOptions, OptionNames, Resolved } from './known-options.js';
export { LruMap } from './lru-map.js';
export { SpamFilter } from './spam-filter.js';
export { listenFailed, OpenSockets } from './open-sockets.js';
export { Turns } from './turns.js';
export { websiteProblem } from './website-guard.js';
export {
  createAuthority,
  createRsaKeys,
  createSelfSigned,
  fitTogether,
  issueCertificate,
  issueClientCertificate,
  readCertificate,
  splitBundle,
} from './x509.js';
export type { Authority, CertificateAndKey, ClientSubject, IssueOptions } from './x509.js';
