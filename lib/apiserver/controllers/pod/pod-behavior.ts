import type { Pod } from '../../../object/kinds.js';
import { controllerOf } from '../../../object/owner-reference.js';

/**
 * What becomes of a simulated pod.
 *
 * - `ready`: it runs and gets ready (the default; for pods of Jobs the default is `succeed`).
 * - `neverReady`: it runs, but its readiness probe never succeeds.
 * - `crashLoop`: its containers end with exit code 1 and are started again, ever more rarely.
 * - `imagePullError`: it stays `Pending`: `ErrImagePull`, then `ImagePullBackOff`.
 * - `succeed`, `fail`: it runs and ends, with exit code 0 or 1. A pod that fails and whose
 *   `restartPolicy` is not `Never` is started again: it does as `crashLoop`.
 */
export type PodBehavior =
  'ready' | 'neverReady' | 'crashLoop' | 'imagePullError' | 'succeed' | 'fail';

/** Set on a pod (in the template of its workload) it says how the pod behaves. */
export const podBehaviorAnnotation = 'operator-builder.io/pod-behavior';

const behaviors: readonly PodBehavior[] = [
  'ready',
  'neverReady',
  'crashLoop',
  'imagePullError',
  'succeed',
  'fail',
];

/**
 * Tags of images that say how their containers behave, alone or at the end of a tag:
 * `registry/app:broken` and `registry/app:1.2-broken` can't be pulled.
 */
const behaviorTags: Readonly<Record<string, PodBehavior>> = {
  broken: 'imagePullError',
  crashing: 'crashLoop',
  'never-ready': 'neverReady',
  failing: 'fail',
};

/**
 * How `pod` behaves: as `chosen` says, else as its annotation, else as the tags of its images say,
 * else by its kind of owner.
 */
export function podBehaviorOf(
  pod: Pod,
  chosen?: (pod: Pod) => PodBehavior | undefined,
): PodBehavior {
  const byCaller = chosen?.(pod);
  if (byCaller !== undefined) return byCaller;
  const annotated = pod.metadata.annotations?.[podBehaviorAnnotation];
  const byAnnotation = behaviors.find((behavior) => behavior === annotated);
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
