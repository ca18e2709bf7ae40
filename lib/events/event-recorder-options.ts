import { hostname } from 'node:os';
import type { Client } from '../client/client.js';
import { qualifiedNameProblem } from '../object/names.js';
import { systemClock } from '../system/clock.js';
import type { Clock } from '../system/clock.js';
import { silentLogger } from '../system/logger.js';
import type { Logger } from '../system/logger.js';
import { noMetrics } from '../system/metrics.js';
import type { Metrics } from '../system/metrics.js';
import { refuseUnknownOptions } from '../system/known-options.js';
import { OperatorError } from '../system/operator-error.js';
import { systemRandom } from '../system/random.js';
import type { Random } from '../system/random.js';
import type { Resolved } from '../system/resolved.js';
import { cutText } from './cut-text.js';

/** Options of {@link EventRecorder}. */
export interface EventRecorderOptions {
  /** Client that writes the Events; it needs `create` and `patch` on `events.events.k8s.io`. */
  readonly client: Client;
  /** Reporting controller: a qualified name, for example `parseable-operator` or `example.com/operator`. */
  readonly controllerName: string;
  /** Reporting replica; cut to 128 bytes. @defaultValue controllerName-hostname */
  readonly instance?: string | undefined;
  /** @defaultValue the system clock */
  readonly clock?: Clock | undefined;
  /** @defaultValue the system's random numbers */
  readonly random?: Random | undefined;
  /** @defaultValue no logs */
  readonly logger?: Logger | undefined;
  /** @defaultValue no metrics */
  readonly metrics?: Metrics | undefined;
  /**
   * Maximum number of Events in the write queue, at least 1; further events are summarized.
   * @defaultValue 1_000
   */
  readonly maxQueued?: number | undefined;
  /** Maximum attempts per write, at least 1. @defaultValue 12 */
  readonly maxTries?: number | undefined;
  /** Delay after the first failed attempt, in milliseconds; doubles with each attempt. @defaultValue 1_000 */
  readonly baseDelayMs?: number | undefined;
  /** Longest delay between two attempts, in milliseconds, before jitter. @defaultValue 30_000 */
  readonly maxDelayMs?: number | undefined;
  /**
   * Events of one type, Normal or Warning, that one object may have at once, at least 1. At most 10 of them
   * may have the same reason and action. Further events are summarized.
   * @defaultValue 25
   */
  readonly burst?: number | undefined;
  /**
   * Milliseconds until an object may have another event; also the shortest time between two summaries.
   * @defaultValue 300_000
   */
  readonly refillMs?: number | undefined;
  /** Milliseconds without another event after which a summary is written. @defaultValue 5_000 */
  readonly summaryDelayMs?: number | undefined;
  /** Milliseconds without another like event after which a series ends. @defaultValue 360_000 */
  readonly seriesFinishMs?: number | undefined;
  /** Interval at which the count of a running series is written, in milliseconds. @defaultValue 1_800_000 */
  readonly seriesRefreshMs?: number | undefined;
}

/** {@link EventRecorderOptions} with defaults filled in. */
export type ResolvedEventRecorderOptions = Resolved<EventRecorderOptions>;

/** Maximum bytes of `reportingInstance`, `reason` and `action`. */
export const maxTextBytes = 128;

/** @throws OperatorError `InvalidOption`: an option is out of its range. */
export function resolveEventRecorderOptions(
  options: EventRecorderOptions,
): ResolvedEventRecorderOptions {
  const { client, controllerName, instance = `${controllerName}-${hostname()}` } = options;
  const { clock = systemClock, random = systemRandom } = options;
  const { logger = silentLogger, metrics = noMetrics } = options;
  const { maxQueued = 1_000, maxTries = 12, baseDelayMs = 1_000, maxDelayMs = 30_000 } = options;
  const { burst = 25, refillMs = 300_000, summaryDelayMs = 5_000 } = options;
  const { seriesFinishMs = 360_000, seriesRefreshMs = 1_800_000 } = options;
  const problem = qualifiedNameProblem(controllerName);
  if (problem !== undefined) refuse(`controllerName: ${problem}`);
  if (instance === '') refuse('instance is empty');
  const limits = { maxQueued, burst, refillMs, summaryDelayMs, seriesFinishMs, seriesRefreshMs };
  const delays = { maxTries, baseDelayMs, maxDelayMs };
  for (const [name, value] of Object.entries({ ...limits, ...delays })) {
    // Negated, so that NaN is rejected too.
    if (!(value >= 1)) refuse(`${name}: want at least 1, got ${value}`);
  }
  const services = { client, controllerName, clock, random, logger, metrics };
  const texts = { instance: cutText(instance, maxTextBytes) };
  const resolved = { ...services, ...texts, ...delays, ...limits };
  refuseUnknownOptions<EventRecorderOptions>('EventRecorder', options, resolved);
  return resolved;
}

function refuse(why: string): never {
  throw new OperatorError('InvalidOption', `EventRecorder: ${why}`);
}
