import { OperatorError } from '../../../system/operator-error.js';
import type { Pod } from '../../../object/kinds.js';
import type { PodBehavior } from './pod-behavior.js';

/** Options of simulated pods. Times until a pod runs, is ready or has ended start when it gets its node. */
export interface PodOptions {
  /** Time until the containers run, in milliseconds, at least 0. @defaultValue 1 */
  readonly runningAfterMs?: number | undefined;
  /**
   * Time until the pod is ready, in milliseconds, at least `runningAfterMs`.
   * @defaultValue 5, or `runningAfterMs` if that is longer
   */
  readonly readyAfterMs?: number | undefined;
  /**
   * Time until a pod that succeeds or fails has ended, in milliseconds, at least `runningAfterMs`.
   * @defaultValue 5, or `runningAfterMs` if that is longer
   */
  readonly completeAfterMs?: number | undefined;
  /**
   * Time until a deleted pod is gone, in milliseconds, at least 0; the grace period if that is shorter.
   * @defaultValue 2
   */
  readonly terminatedAfterMs?: number | undefined;
  /**
   * Delay before a crashed container restarts for the first time, in milliseconds, at least 1. It doubles
   * with each crash, up to 5 minutes.
   * @defaultValue 10_000
   */
  readonly restartAfterMs?: number | undefined;
  /** Returns the behavior of a pod. Undefined leaves it to the pod's annotation, images and owner. */
  readonly behavior?: ((pod: Pod) => PodBehavior | undefined) | undefined;
}

/** {@link PodOptions} with defaults. */
export interface ResolvedPodOptions {
  readonly runningAfterMs: number;
  readonly readyAfterMs: number;
  readonly completeAfterMs: number;
  readonly terminatedAfterMs: number;
  readonly restartAfterMs: number;
  readonly behavior: (pod: Pod) => PodBehavior | undefined;
}

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: a time is negative, or shorter than one that it must follow.
 */
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
  // Negated to refuse NaN too.
  if (!(value >= least)) {
    throw new OperatorError('InvalidOption', `pods.${name}: want at least ${least}, got ${value}`);
  }
}
