import type { Pod } from '../../object/index.js';
import { controllerOf } from '../../object/index.js';
import { OperatorError, delayAfter } from '../../system/index.js';
import type { Resolved } from '../../system/index.js';
import { PodRules, podBehaviors } from './pod-rules.js';
import type { PodBehavior } from './pod-rules.js';

/** The annotation that sets the behavior of a pod, on the pod or in the template of its workload. */
export const podBehaviorAnnotation = 'operator-builder.io/pod-behavior';

/**
 * Image tags that set the behavior of a pod, as the whole tag or its ending: `registry/app:broken` and
 * `registry/app:1.2-broken` cannot be pulled.
 */
const behaviorTags: Readonly<Record<string, PodBehavior>> = {
  broken: 'imagePullError',
  crashing: 'crashLoop',
  'never-ready': 'neverReady',
  failing: 'fail',
};

/**
 * Returns the behavior of `pod`. The first of these decides: `chosen`, the pod's annotation, the tags of its
 * images, the kind of its owner.
 */
export function podBehaviorOf(
  pod: Pod,
  chosen?: (pod: Pod) => PodBehavior | undefined,
): PodBehavior {
  const byCaller = chosen?.(pod);
  if (byCaller !== undefined) return byCaller;
  const annotated = pod.metadata.annotations?.[podBehaviorAnnotation];
  const byAnnotation = podBehaviors.find((behavior) => behavior === annotated);
  if (byAnnotation !== undefined) return byAnnotation;
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  for (const { image = '' } of [...initContainers, ...containers]) {
    const byImage = behaviorOfImage(image);
    if (byImage !== undefined) return byImage;
  }
  return controllerOf(pod)?.kind === 'Job' ? 'succeed' : 'ready';
}

function behaviorOfImage(image: string): PodBehavior | undefined {
  const tag = /:([^:/@]+)(?:@.*)?$/.exec(image)?.[1] ?? '';
  const found = Object.entries(behaviorTags).find(
    ([ending]) => tag === ending || tag.endsWith(`-${ending}`),
  );
  return found?.[1];
}

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
   * Delay before a crashed container restarts for the first time, in milliseconds, at least 1. The delay
   * doubles with each crash, up to 5 minutes.
   * @defaultValue 10_000
   */
  readonly restartAfterMs?: number | undefined;
  /** Returns the behavior of a pod. Undefined leaves it to the pod's annotation, images and owner. */
  readonly behavior?: ((pod: Pod) => PodBehavior | undefined) | undefined;
  /** Rules that decide before `behavior`, and can change while pods run. @defaultValue none */
  readonly rules?: PodRules | undefined;
}

/** {@link PodOptions} with defaults. */
export type ResolvedPodOptions = Resolved<PodOptions>;

/**
 * Fills in the defaults.
 * @throws OperatorError `InvalidOption`: a time is negative, or shorter than the time of an earlier step.
 */
export function resolvePodOptions(options: PodOptions = {}): ResolvedPodOptions {
  const { runningAfterMs = 1, terminatedAfterMs = 2, restartAfterMs = 10_000 } = options;
  const { readyAfterMs = Math.max(5, runningAfterMs) } = options;
  const { completeAfterMs = Math.max(5, runningAfterMs), behavior } = options;
  const { rules = new PodRules() } = options;
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
  return { ...times, rules, behavior: (pod) => rules.behaviorOf(pod) ?? behavior?.(pod) };
}

function atLeast(name: string, value: number, least: number): void {
  // The negated comparison also refuses NaN.
  if (!(value >= least)) {
    throw new OperatorError('InvalidOption', `pods.${name}: want at least ${least}, got ${value}`);
  }
}

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

/** A stage and its start, in milliseconds after the script of the pod started. */
interface ScriptEntry {
  readonly stage: PodStage;
  readonly atMs: number;
}

interface ScriptPosition {
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

/** Returns the stage of a pod `elapsedMs` milliseconds after its script started, and the time until the next stage. */
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
