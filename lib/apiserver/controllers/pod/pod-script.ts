import { delayAfter } from '../../../system/backoff.js';
import type { PodBehavior } from './pod-behavior.js';
import type { ResolvedPodOptions } from './pod-options.js';

/** The state of a pod on its node, as its status shows it. */
export type PodStage =
  | 'waiting'
  | 'running'
  | 'ready'
  | 'errImagePull'
  | 'imagePullBackOff'
  | 'crashed'
  | 'succeeded'
  | 'failed';

/** A stage and its start, in milliseconds after the pod got its node. */
export interface ScriptEntry {
  readonly stage: PodStage;
  readonly atMs: number;
}

/** The position of a pod in its script. */
export interface ScriptPosition {
  readonly stage: PodStage;
  /** Milliseconds until the next stage; undefined in the last stage. */
  readonly nextInMs: number | undefined;
}

/** Returns the stages of a pod in order. The stage before the first entry is `waiting`. */
export function podScript(
  behavior: PodBehavior,
  restartable: boolean,
  times: ResolvedPodOptions,
): readonly ScriptEntry[] {
  const { runningAfterMs, readyAfterMs, completeAfterMs } = times;
  const running: ScriptEntry = { stage: 'running', atMs: runningAfterMs };
  switch (behavior) {
    case 'ready':
      return [running, { stage: 'ready', atMs: readyAfterMs }];
    case 'neverReady':
      return [running];
    case 'crashLoop':
      return [running, { stage: 'crashed', atMs: completeAfterMs }];
    case 'imagePullError':
      return [
        { stage: 'errImagePull', atMs: runningAfterMs },
        { stage: 'imagePullBackOff', atMs: readyAfterMs },
      ];
    case 'succeed':
      return [
        { stage: 'ready', atMs: runningAfterMs },
        { stage: 'succeeded', atMs: completeAfterMs },
      ];
    case 'fail':
      return [running, { stage: restartable ? 'crashed' : 'failed', atMs: completeAfterMs }];
  }
}

/** Returns the position `elapsedMs` after the start of a script. */
export function scriptPosition(script: readonly ScriptEntry[], elapsedMs: number): ScriptPosition {
  const reached = script.findLast(({ atMs }) => atMs <= elapsedMs);
  const next = script.find(({ atMs }) => atMs > elapsedMs);
  return { stage: reached?.stage ?? 'waiting', nextInMs: next && next.atMs - elapsedMs };
}

const longestRestartMs = 300_000;

/** Returns the milliseconds until a crashed container restarts. @param restarts - its restarts so far */
export function restartDelayMs(restarts: number, firstMs: number): number {
  const maxMs = Math.max(firstMs, longestRestartMs);
  return delayAfter(restarts + 1, { baseMs: firstMs, maxMs });
}
