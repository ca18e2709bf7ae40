export { sleep, systemClock } from './clock.js';
export type { Clock, Timer } from './clock.js';
export { ConnectionError } from './connection-error.js';
export type { ConnectionErrorOptions } from './connection-error.js';
export { errorCodes } from './error-codes.js';
export type { ErrorCode } from './error-codes.js';
export { silentLogger } from './logger.js';
export type { LogFields, Logger } from './logger.js';
export { noMetrics } from './metrics.js';
export type {
  Counter,
  Gauge,
  Histogram,
  HistogramOptions,
  MetricLabels,
  MetricOptions,
  Metrics,
  RemovableSeries,
} from './metrics.js';
export { openTelemetryTracer, registeredTracer } from './open-telemetry.js';
export type { OpenTelemetryOptions } from './open-telemetry.js';
export { isOperatorError, OperatorError } from './operator-error.js';
export type { OperatorErrorOptions } from './operator-error.js';
export { pinoLogger } from './pino-logger.js';
export type { PinoLoggerOptions } from './pino-logger.js';
export { seededRandom, systemRandom } from './random.js';
export type { Random } from './random.js';
export type { Transport, TransportRequest, TransportResponse } from './transport.js';
export type { TlsOptions } from './connector.js';
export { noTracer } from './tracer.js';
export type { Span, SpanAttributes, Tracer } from './tracer.js';
export { UndiciTransport } from './undici-transport.js';
export type { UndiciTransportOptions } from './undici-transport.js';
export { VirtualClock } from './virtual-clock.js';
