import { failureKindOf, retryAfterMsOf } from '../controller/failure.js';
import { readableError } from '../controller/readable-error.js';
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
   * Makes the waits of each step that fails.
   * @defaultValue 3 retries, from 500 ms by half as much again up to 60 s, ± 50 %
   */
  readonly backOffFactory?: BackOffFactory | undefined;
}

/**
 * Has a step that fails run again after a while. Of a CRUD resource that is the one step: what came
 * before it stays. Of another resource it is `ensureCreated` or `ensureDeleted` as a whole.
 *
 * ## Outcomes
 * - it succeeds: nothing else is seen of it but a line of warning in the log for each failure.
 * - it goes on failing: its last error is thrown.
 * - `PermanentError`: its cause is thrown at once.
 * - what waiting in this pass can't mend is thrown at once: a conflict (409), for what the step
 *   knows is stale; a `TerminalError`; a namespace that is being deleted; a leadership that is lost.
 * - the context's signal is aborted: it ends, in the middle of a wait with the signal's reason.
 *
 * A server that asks to wait longer (`Retry-After`) is waited for, up to a minute; a longer wait is left
 * to the queue, which holds nothing meanwhile.
 *
 * @throws InvalidConfigError `backOffFactory` is no function. (What it makes is looked at in the step
 * that fails: a wait that is no time fails it.)
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
