import { OperatorError } from '../../../system/operator-error.js';
import type { Pod } from '../../../object/kinds.js';
import type { PodBehavior } from './pod-behavior.js';

/** How pods are simulated. All times run from the moment that a node was found for the pod. */
export interface PodOptions {
  /** Until the containers run, in milliseconds, at least 0. @defaultValue 1 */
  readonly runningAfterMs?: number | undefined;
  /** Until the pod is ready, in milliseconds, at least `runningAfterMs`. @defaultValue 5 */
  readonly readyAfterMs?: number | undefined;
  /** Until a pod that succeeds or fails has ended, at least `runningAfterMs`. @defaultValue 5 */
  readonly completeAfterMs?: number | undefined;
  /**
   * Until a deleted pod is gone, in milliseconds, at least 0; a shorter grace period ends it sooner.
   * @defaultValue 2
   */
  readonly terminatedAfterMs?: number | undefined;
  /**
   * Until a container that crashed is started again the first time, in milliseconds, at least 1; it
   * doubles with each crash, up to 5 minutes. @defaultValue 10_000
   */
  readonly restartAfterMs?: number | undefined;
  /** How a pod behaves; undefined leaves it to its annotation, its images and its owner. */
  readonly behavior?: ((pod: Pod) => PodBehavior | undefined) | undefined;
}

/** {@link PodOptions} with nothing missing. */
export interface ResolvedPodOptions {
  readonly runningAfterMs: number;
  readonly readyAfterMs: number;
  readonly completeAfterMs: number;
  readonly terminatedAfterMs: number;
  readonly restartAfterMs: number;
  readonly behavior: (pod: Pod) => PodBehavior | undefined;
}

/** @throws OperatorError `InvalidOption`: a time is negative, or before one that it must follow. */
export function resolvePodOptions(options: PodOptions = {}): ResolvedPodOptions {
  const { runningAfterMs = 1, terminatedAfterMs = 2, restartAfterMs = 10_000 } = options;
  const { readyAfterMs = Math.max(5, runningAfterMs) } = options;
  const { completeAfterMs = Math.max(5, runningAfterMs), behavior = () => undefined } = options;
  atLeast('runningAfterMs', runningAfterMs, 0);
  atLeast('readyAfterMs', readyAfterMs, runningAfterMs);
  atLeast('completeAfterMs', completeAfterMs, runningAfterMs);
  atLeast('terminatedAfterMs', terminatedAfterMs, 0);
  atLeast('restartAfterMs', restartAfterMs, 1);
  const times = {
    runningAfterMs,
    readyAfterMs,
    completeAfterMs,
    terminatedAfterMs,
    restartAfterMs,
  };
  return { ...times, behavior };
}

function atLeast(name: string, value: number, least: number): void {
  // Negated, so that NaN is refused too.
  if (!(value >= least)) {
    throw new OperatorError('InvalidOption', `pods.${name}: want at least ${least}, got ${value}`);
  }
}
