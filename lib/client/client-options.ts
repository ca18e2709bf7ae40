import {
  systemClock,
  refuseUnknownOptions,
  silentLogger,
  noMetrics,
  OperatorError,
  systemRandom,
} from '../system/index.js';
import type {
  Clock,
  OptionNames,
  Logger,
  Metrics,
  Random,
  Resolved,
  Transport,
} from '../system/index.js';
import { anonymous, impersonationHeaders, withHeaders } from './credentials.js';
import type { Credentials, Impersonation } from './credentials.js';
import type { RateLimit, RetryLimits } from './request-limits.js';

/** The options shared by every function that creates a client. */
export interface ClientSettings {
  /**
   * The header `User-Agent` of each request.
   * @defaultValue `operator-builder/<version> (<platform>/<arch>) node/<major>`
   */
  readonly userAgent?: string | undefined;
  /**
   * The time limit of a request, including the response body, in milliseconds; `Infinity` for no limit. For a
   * watch it covers only the start. @defaultValue 30_000
   */
  readonly requestTimeoutMs?: number | undefined;
  /** Requests gzip. The server compresses answers above 128 KiB. @defaultValue true */
  readonly compression?: boolean | undefined;
  /**
   * Sends every request as another user, as `kubectl --as` does. The client's account needs the verb
   * `impersonate` for the user and for each group. @defaultValue the user `as` of a kubeconfig, else none
   */
  readonly impersonate?: Impersonation | undefined;
  /** Limits the rate of requests. @defaultValue none: the server's priority and fairness decides */
  readonly rateLimit?: RateLimit | undefined;
  /** The limits on sending a request again. */
  readonly retries?: RetryLimits | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** Spreads the delays of retries. @defaultValue the system's random source */
  readonly random?: Random | undefined;
  /** Logs the server's warnings. @defaultValue no logs */
  readonly logger?: Logger | undefined;
  /** Registers client-go's `rest_client_*` metrics. @defaultValue none */
  readonly metrics?: Metrics | undefined;
}

export const clientSettingNames: OptionNames<ClientSettings> = {
  ...{ userAgent: true, requestTimeoutMs: true, compression: true, rateLimit: true },
  ...{ impersonate: true, retries: true, clock: true, random: true, logger: true, metrics: true },
};

/** Options of {@link createClient}. */
export interface ClientOptions extends ClientSettings {
  /** Sends requests to the server. */
  readonly transport: Transport;
  /** Authenticates the requests. @defaultValue none */
  readonly credentials?: Credentials | undefined;
  /** The namespace of the context or the Pod. The client only exposes it. @defaultValue `default` */
  readonly defaultNamespace?: string | undefined;
}

/** {@link ClientOptions} with all defaults applied. */
export type ResolvedClientOptions = Resolved<
  Omit<ClientOptions, 'retries' | 'impersonate'>,
  'rateLimit'
> &
  Resolved<RetryLimits>;

/** @throws OperatorError `InvalidOption`: an option is unknown, or a number is out of range. */
export function resolveClientOptions(options: ClientOptions): ResolvedClientOptions {
  const { transport, impersonate } = options;
  const credentials = impersonating(options.credentials ?? anonymous, impersonate);
  // The namespace in a context or in the file of a service account may be empty.
  const defaultNamespace = options.defaultNamespace || 'default';
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
  refuseUnknownOptions<ClientOptions>('client options', options, {
    ...{ ...plain, retries, impersonate },
  });
  refuseUnknownOptions<RetryLimits>('client options: retries', retries, limits);
  return { ...plain, ...limits };
}

function impersonating(
  credentials: Credentials,
  impersonate: Impersonation | undefined,
): Credentials {
  if (impersonate === undefined) return credentials;
  const subject = 'client options: impersonate';
  const names = { user: true, groups: true, uid: true, extra: true };
  refuseUnknownOptions<Impersonation>(subject, impersonate, names);
  const headers = impersonationHeaders(
    impersonate,
    (field, problem) => new OperatorError('InvalidOption', `${subject}: ${field}: ${problem}`),
  );
  return withHeaders(credentials, headers);
}

/** The version of this package; a spec compares it with package.json. */
export const packageVersion = '0.1.0';

/**
 * Returns `operator-builder/0.1.0 (linux/x64) node/20`. For writes without a field manager, the server uses
 * the part before the slash.
 */
export function defaultUserAgent(): string {
  const [major = ''] = process.versions.node.split('.');
  return `operator-builder/${packageVersion} (${process.platform}/${process.arch}) node/${major}`;
}
