import { systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { silentLogger } from '../system/logger.js';
import type { Logger } from '../system/logger.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import { noMetrics } from '../system/metrics.js';
import type { Metrics } from '../system/metrics.js';
import { OperatorError } from '../system/operator-error.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';
import type { Transport } from '../system/transport.js';
import { anonymous } from './credentials.js';
import type { Credentials } from './credentials.js';
import type { RateLimit } from './rate-limit.js';
import type { RetryLimits } from './retry-policy.js';
import { defaultUserAgent } from './user-agent.js';
import type { OptionNames } from '../system/known-options.js';

/** What every way to make a client takes. */
export interface ClientSettings {
  /** @defaultValue `operator-builder/<version> (<platform>/<arch>) node/<major>` */
  readonly userAgent?: string | undefined;
  /**
   * How long the answer to a request may take, its body included, in milliseconds; `Infinity` for
   * no limit. A watch must only begin in this time. @defaultValue 30_000
   */
  readonly requestTimeoutMs?: number | undefined;
  /** Ask for gzip. The server compresses answers above 128 KiB. @defaultValue true */
  readonly compression?: boolean | undefined;
  /** @defaultValue none: priority and fairness are the server's */
  readonly rateLimit?: RateLimit | undefined;
  /** When a request is sent again. */
  readonly retries?: RetryLimits | undefined;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** Gets the server's warnings. @defaultValue none */
  readonly logger?: Logger | undefined;
  /** Gets client-go's `rest_client_*` metrics. @defaultValue none */
  readonly metrics?: Metrics | undefined;
}

/** Names of {@link ClientSettings}. */
export const clientSettingNames: OptionNames<ClientSettings> = {
  ...{ userAgent: true, requestTimeoutMs: true, compression: true, rateLimit: true },
  ...{ retries: true, clock: true, random: true, logger: true, metrics: true },
};

/** Options of {@link createClient}. */
export interface ClientOptions extends ClientSettings {
  /** How requests reach the server. */
  readonly transport: Transport;
  /** @defaultValue none */
  readonly credentials?: Credentials | undefined;
  /** The namespace of the context or the Pod; only kept for whoever asks. @defaultValue `default` */
  readonly defaultNamespace?: string | undefined;
}

/** {@link ClientOptions} with every default filled in. */
export interface ResolvedClientOptions {
  readonly transport: Transport;
  readonly credentials: Credentials;
  readonly defaultNamespace: string;
  readonly userAgent: string;
  readonly requestTimeoutMs: number;
  readonly compression: boolean;
  readonly rateLimit: RateLimit | undefined;
  readonly maxRetryAfters: number;
  readonly maxRetryAfterMs: number;
  readonly maxResets: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** @throws OperatorError `InvalidOption`: an option is unknown, or a number is out of its range. */
export function resolveClientOptions(options: ClientOptions): ResolvedClientOptions {
  const { transport, credentials = anonymous, defaultNamespace = 'default' } = options;
  const { userAgent = defaultUserAgent(), requestTimeoutMs = 30_000, compression = true } = options;
  const { rateLimit, clock = systemClock, random = systemRandom } = options;
  const { logger = silentLogger, metrics = noMetrics, retries = {} } = options;
  const { maxRetryAfters = 10, maxRetryAfterMs = 30_000, maxResets = 3 } = retries;
  if (!(requestTimeoutMs > 0)) {
    const got = `got ${requestTimeoutMs}`;
    throw new OperatorError('InvalidOption', `requestTimeoutMs: want more than 0, ${got}`);
  }
  for (const [name, value] of Object.entries({ maxRetryAfters, maxRetryAfterMs, maxResets })) {
    if (value >= 0) continue;
    throw new OperatorError('InvalidOption', `retries.${name}: want 0 or more, got ${value}`);
  }
  const plain = {
    ...{ transport, credentials, defaultNamespace, userAgent, requestTimeoutMs, compression },
    ...{ rateLimit, clock, random, logger, metrics },
  };
  const limits = { maxRetryAfters, maxRetryAfterMs, maxResets };
  refuseUnknownOptions<ClientOptions>('client options', options, { ...plain, retries });
  refuseUnknownOptions<RetryLimits>('client options: retries', retries, limits);
  return { ...plain, ...limits };
}
