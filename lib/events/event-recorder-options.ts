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
  /** Writes the Events; it needs `create` and `patch` on `events.events.k8s.io`. */
  readonly client: Client;
  /** Who reports: a qualified name, for example `parseable-operator` or `example.com/operator`. */
  readonly controllerName: string;
  /** Which of its replicas reports; cut to 128 bytes. @defaultValue controllerName-hostname */
  readonly instance?: string | undefined;
  /** @defaultValue the machine's */
  readonly clock?: Clock | undefined;
  /** @defaultValue the machine's */
  readonly random?: Random | undefined;
  /** @defaultValue silent */
  readonly logger?: Logger | undefined;
  /** @defaultValue none */
  readonly metrics?: Metrics | undefined;
  /** Events that may wait to be written, at least 1; more are summed up. @defaultValue 1_000 */
  readonly maxQueued?: number | undefined;
  /** Times that one write is tried, at least 1. @defaultValue 12 */
  readonly maxTries?: number | undefined;
  /** Delay after the first failed try, in milliseconds; doubles from try to try. @defaultValue 1_000 */
  readonly baseDelayMs?: number | undefined;
  /** Longest delay between two tries, in milliseconds, before jitter. @defaultValue 30_000 */
  readonly maxDelayMs?: number | undefined;
  /**
   * Events of one type, Normal or Warning, that one object may have at once, at least 1; 10 of them of
   * one reason and action. Further ones are summed up. @defaultValue 25
   */
  readonly burst?: number | undefined;
  /**
   * Milliseconds until an object may have one more, and between two summaries. @defaultValue 300_000
   */
  readonly refillMs?: number | undefined;
  /** Milliseconds without a further event after which a summary is written. @defaultValue 5_000 */
  readonly summaryDelayMs?: number | undefined;
  /**
   * A series of like events ends when none came for this many milliseconds. @defaultValue 360_000
   */
  readonly seriesFinishMs?: number | undefined;
  /** How often the count of a running series is written, in milliseconds. @defaultValue 1_800_000 */
  readonly seriesRefreshMs?: number | undefined;
}

/** {@link EventRecorderOptions} with nothing left open. */
export type ResolvedEventRecorderOptions = Resolved<EventRecorderOptions>;

/** The most bytes that `reportingInstance`, `reason` and `action` may have. */
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
    // Negated, so that NaN is refused too.
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
