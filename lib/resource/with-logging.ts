import { failureKindOf, readableError } from '../controller/index.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import type { CrudResource } from './crud-resource.js';
import { InvalidConfigError } from './invalid-config-error.js';
import { messageOf } from './message-of.js';
import type { Resource } from './resource.js';
import { wrapSteps } from './wrap-steps.js';
import type { Step } from './wrap-steps.js';
import { refuseUnknownOptions } from '../system/known-options.js';

/** Options of {@link withLogging}. */
export interface StepLoggingOptions {
  /** The log level of the start and the end of a step. @defaultValue 'debug' */
  readonly level?: 'debug' | 'info' | undefined;
}

/**
 * Logs the start and the end of each step at `level`, and its error as a warning; an expected error, such as
 * a conflict, at `level`. Never logs states and changes: they may contain a Secret.
 *
 * @throws InvalidConfigError `level` is invalid.
 */
export function withLogging<T extends KubernetesObject, State, Change>(
  resource: CrudResource<T, State, Change>,
  options?: StepLoggingOptions,
): CrudResource<T, State, Change>;
export function withLogging<T extends KubernetesObject>(
  resource: Resource<T>,
  options?: StepLoggingOptions,
): Resource<T>;
export function withLogging<T extends KubernetesObject>(
  resource: Resource<T>,
  options: StepLoggingOptions = {},
): Resource<T> {
  const { level = 'debug' } = options;
  refuseUnknownOptions<StepLoggingOptions>('withLogging', options, { level });
  if (!['debug', 'info'].includes(level)) {
    throw new InvalidConfigError(`withLogging: level: want debug or info, got ${level}`);
  }
  return wrapSteps(resource, (step, run) => logged(step, run, level));
}

async function logged<T extends KubernetesObject, R>(
  { context, resource, name }: Step<T>,
  run: () => Promise<R>,
  level: 'debug' | 'info',
): Promise<R> {
  const { logger, clock } = context;
  const what = `${resource}, ${name}`;
  const startedMs = clock.monotonicMs();
  const tookMs = (): number => Math.round(clock.monotonicMs() - startedMs);
  logger[level](`${what}: started`);
  try {
    const result = await run();
    logger[level](`${what}: ended`, { durationMs: tookMs() });
    return result;
  } catch (thrown) {
    const error = readableError(thrown);
    const kind = failureKindOf(error);
    const loud = kind === 'conflict' || kind === 'waiting' ? level : 'warn';
    // The stack is logged when the object is requeued.
    logger[loud](`${what}: failed: ${messageOf(error)}`, { durationMs: tookMs() });
    throw error;
  }
}
