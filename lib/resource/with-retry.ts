import { isLasting, retryAfterMsOf, readableError } from '../controller/index.js';
import type { KubernetesObject } from '../object/index.js';
import { sleep, refuseUnknownOptions, delayAfter, spread, systemRandom } from '../system/index.js';
import type { CrudResource } from './crud-resource.js';
import { InvalidConfigError, messageOf, isPermanent } from './errors.js';
import { passContextOf } from './pass-context.js';
import type { Resource } from './resource-set.js';
import { wrapSteps } from './wrap.js';
import type { Step } from './wrap.js';
import type { ResourceContext } from './resource-context.js';
import type { Random } from '../system/index.js';

/** Options of {@link withRetry}. */
export interface RetryOptions {
  /**
   * Makes the back-off of each step that fails.
   * @defaultValue 3 retries, from 500 ms by a factor of 1.5 up to 60 s, ± 50 %
   */
  readonly backOffFactory?: BackOffFactory | undefined;
}

/**
 * Retries a step that fails. For a CRUD resource it retries that one step, and keeps the results of earlier
 * steps. For another resource it retries the whole `ensureCreated` or `ensureDeleted`. A retry begins without the
 * requests that the failed attempt made of the context, such as `cancelReconciliation` and `requeueAfter`.
 *
 * ## Outcomes
 * - The step succeeds: each earlier failure is logged as a warning.
 * - The step keeps failing: its last error is thrown.
 * - `PermanentError`: its cause is thrown at once.
 * - Errors that a retry in this reconcile cannot fix are thrown at once. These are a conflict (409), because
 *   the step's data is stale; a `TerminalError`, or another error that only a change can fix, such as
 *   `InvalidOption`; a namespace that is being deleted; lost leadership; and an object of another owner (`NotOurs`,
 *   `AlreadyOwned`) or an unknown kind (`UnknownKind`), which the queue retries. Several errors of one step are
 *   thrown at once if this holds for each.
 * - The context's signal is aborted: the retries end; during a delay, with the signal's reason.
 *
 * A `Retry-After` of the server extends the delay, up to a minute. If it is longer, the error is thrown, and
 * the object waits in the queue without occupying a worker.
 *
 * @throws InvalidConfigError `backOffFactory` is not a function. Its delays are checked in the failing step:
 * an invalid delay fails the step.
 */
export function withRetry<T extends KubernetesObject, State, Change>(
  resource: CrudResource<T, State, Change>,
  options?: RetryOptions,
): CrudResource<T, State, Change>;
export function withRetry<T extends KubernetesObject>(
  resource: Resource<T>,
  options?: RetryOptions,
): Resource<T>;
export function withRetry<T extends KubernetesObject>(
  resource: Resource<T>,
  options: RetryOptions = {},
): Resource<T> {
  const { backOffFactory = threeRetries } = options;
  refuseUnknownOptions<RetryOptions>('withRetry', options, { backOffFactory });
  if (typeof (backOffFactory as unknown) !== 'function') {
    throw new InvalidConfigError('withRetry: backOffFactory: want a function');
  }
  return wrapSteps(resource, (step, run) => retried(step, run, backOffFactory));
}

const longestAskedMs = 60_000;

const threeRetries: BackOffFactory = (random) => exponentialBackOff({ maxRetries: 3, random });

async function retried<T extends KubernetesObject, R>(
  step: Step<T>,
  run: (context: ResourceContext) => Promise<R>,
  backOffFactory: BackOffFactory,
): Promise<R> {
  const { clock, random, signal } = step.context;
  const backOff = backOffFactory(random);
  for (let attempt = 1; ; attempt++) {
    const { context, undoRequests } = passContextOf(step.context).inAttempt();
    try {
      return await run(context);
    } catch (thrown) {
      const error = readableError(thrown);
      if (isPermanent(error)) throw error.cause;
      const isFutile = signal.aborted || isLasting(error);
      const waitMs = isFutile ? undefined : nextWaitMs(backOff, error);
      if (waitMs === undefined) throw error;
      const askedMs = retryAfterMsOf(error);
      if (askedMs > longestAskedMs) throw error;
      const longerMs = Math.max(waitMs, askedMs);
      logRetry(step, error, { attempt, waitMs: Math.round(longerMs) });
      // Undo now, before the delay: during the delay, code that runs in parallel to the step may make requests that
      // must stay.
      undoRequests();
      await sleep(clock, longerMs, signal);
    }
  }
}

function logRetry<T extends KubernetesObject>(
  { context, resource, name }: Step<T>,
  error: unknown,
  fields: { readonly attempt: number; readonly waitMs: number },
): void {
  const { attempt, waitMs } = fields;
  const text = `${resource}, ${name}: try ${attempt} failed, the next one follows in ${waitMs} ms`;
  context.logger.warn(`${text}: ${messageOf(error)}`, { ...fields });
}

/** Options of {@link exponentialBackOff}. */
export interface ExponentialBackOffOptions {
  /** The first delay in milliseconds, above 0. @defaultValue 500 */
  readonly initialIntervalMs?: number | undefined;
  /** The factor between one delay and the next, at least 1. @defaultValue 1.5 */
  readonly multiplier?: number | undefined;
  /** The random spread of a delay, 0 to 1: 0.5 is ± 50 %. @defaultValue 0.5 */
  readonly randomizationFactor?: number | undefined;
  /** The longest delay in milliseconds; at least `initialIntervalMs`. @defaultValue 60_000 */
  readonly maxIntervalMs?: number | undefined;
  /** The number of retries after the first attempt, 0 or more. @defaultValue Infinity */
  readonly maxRetries?: number | undefined;
  /** Spreads the delays. @defaultValue the system's random source */
  readonly random?: Random | undefined;
}

/**
 * Returns growing delays: the nth is `initialIntervalMs * multiplier ** (n - 1)`, spread at random, and never
 * longer than `maxIntervalMs`.
 * @throws InvalidConfigError an option is out of its range.
 */
export function exponentialBackOff(options: ExponentialBackOffOptions = {}): BackOff {
  const resolved = resolveExponentialBackOffOptions(options);
  const { maxIntervalMs: maxMs, randomizationFactor: factor, random, maxRetries } = resolved;
  const curve = { baseMs: resolved.initialIntervalMs, factor: resolved.multiplier, maxMs };
  let retries = 0;
  return {
    next: () => {
      if (retries >= maxRetries) return undefined;
      const middleMs = delayAfter(++retries, curve);
      return Math.min(spread(middleMs, random, 1 - factor, 1 + factor), maxMs);
    },
  };
}

function resolveExponentialBackOffOptions(options: ExponentialBackOffOptions): Required<{
  readonly [K in keyof ExponentialBackOffOptions]: Exclude<ExponentialBackOffOptions[K], undefined>;
}> {
  const { initialIntervalMs = 500, multiplier = 1.5, randomizationFactor = 0.5 } = options;
  const { maxIntervalMs = 60_000, maxRetries = Infinity, random = systemRandom } = options;
  // The negated comparison also rejects NaN.
  const wrong = [
    !(initialIntervalMs > 0) && `initialIntervalMs: want above 0, got ${initialIntervalMs}`,
    !(multiplier >= 1) && `multiplier: want at least 1, got ${multiplier}`,
    !(randomizationFactor >= 0 && randomizationFactor <= 1) &&
      `randomizationFactor: want 0 to 1, got ${randomizationFactor}`,
    !(maxIntervalMs >= initialIntervalMs) &&
      `maxIntervalMs: want at least initialIntervalMs (${initialIntervalMs}), got ${maxIntervalMs}`,
    !(maxRetries >= 0) && `maxRetries: want 0 or more, got ${maxRetries}`,
  ].find((fault) => fault !== false);
  if (wrong !== undefined) throw new InvalidConfigError(`exponentialBackOff: ${wrong}`);
  const limits = { initialIntervalMs, multiplier, maxIntervalMs, maxRetries };
  const resolved = { ...limits, randomizationFactor, random };
  refuseUnknownOptions<ExponentialBackOffOptions>('exponentialBackOff', options, resolved);
  return resolved;
}

/** Exponential back-off, from 500 ms by a factor of 1.5 up to 60 s, ± 50 %; ends after 7 retries. */
export function defaultBackOffFactory(): BackOffFactory {
  return (random) => exponentialBackOff({ maxRetries: 7, random });
}

/** Yields the delays between the attempts of one operation. Make a new one for each operation. */
export interface BackOff {
  /** Returns the milliseconds to wait before the next attempt; undefined ends the attempts. */
  next(): number | undefined;
}

/** Makes a {@link BackOff}. `random` spreads the delays. */
export type BackOffFactory = (random?: Random) => BackOff;

/**
 * Returns the delay before the next retry; undefined ends the retries.
 * @throws InvalidConfigError the delay is invalid. NaN, for example, would retry at once, forever.
 */
export function nextWaitMs(backOff: BackOff, cause: unknown): number | undefined {
  const waitMs: unknown = backOff.next();
  if (waitMs === undefined) return undefined;
  if (typeof waitMs === 'number' && waitMs >= 0) return waitMs;
  const got = typeof waitMs === 'number' ? waitMs : `a value of type ${typeof waitMs}`;
  const want = 'want milliseconds, 0 or more, or undefined to stop';
  throw new InvalidConfigError(`backOffFactory: next(): ${want}, got ${got}`, { cause });
}
