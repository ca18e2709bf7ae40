import { failureKindOf, retryAfterMsOf, readableError } from '../controller/index.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { sleep } from '../system/clock.js';
import type { BackOffFactory } from './back-off.js';
import type { CrudResource } from './crud-resource.js';
import { exponentialBackOff } from './exponential-back-off.js';
import { InvalidConfigError } from './invalid-config-error.js';
import { messageOf } from './message-of.js';
import { nextWaitMs } from './next-wait-ms.js';
import { isPermanent } from './permanent-error.js';
import type { Resource } from './resource.js';
import { wrapSteps } from './wrap-steps.js';
import type { Step } from './wrap-steps.js';
import { refuseUnknownOptions } from '../system/known-options.js';

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
 * steps. For another resource it retries the whole `ensureCreated` or `ensureDeleted`.
 *
 * ## Outcomes
 * - The step succeeds: each earlier failure is logged as a warning.
 * - The step keeps failing: its last error is thrown.
 * - `PermanentError`: its cause is thrown at once.
 * - Errors that a retry in this reconcile cannot fix are thrown at once: a conflict (409), because the step's
 *   data is stale; a `TerminalError`; a namespace that is being deleted; lost leadership.
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
  run: () => Promise<R>,
  backOffFactory: BackOffFactory,
): Promise<R> {
  const { clock, random, signal } = step.context;
  const backOff = backOffFactory(random);
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (thrown) {
      const error = readableError(thrown);
      if (isPermanent(error)) throw error.cause;
      const isFutile = signal.aborted || failureKindOf(error) !== 'error';
      const waitMs = isFutile ? undefined : nextWaitMs(backOff, error);
      if (waitMs === undefined) throw error;
      const askedMs = retryAfterMsOf(error);
      if (askedMs > longestAskedMs) throw error;
      const longerMs = Math.max(waitMs, askedMs);
      tellRetry(step, error, { attempt, waitMs: Math.round(longerMs) });
      await sleep(clock, longerMs, signal);
    }
  }
}

function tellRetry<T extends KubernetesObject>(
  { context, resource, name }: Step<T>,
  error: unknown,
  fields: { readonly attempt: number; readonly waitMs: number },
): void {
  const { attempt, waitMs } = fields;
  const text = `${resource}, ${name}: try ${attempt} failed, the next one is in ${waitMs} ms`;
  context.logger.warn(`${text}: ${messageOf(error)}`, { ...fields });
}
