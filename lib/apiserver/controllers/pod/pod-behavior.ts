import type { Pod } from '../../../object/kinds.js';
import { controllerOf } from '../../../object/owner-reference.js';

/**
 * The behavior of a simulated pod.
 *
 * - `ready`: it runs and becomes ready (the default, except for pods of Jobs).
 * - `neverReady`: it runs, but its readiness probe never succeeds.
 * - `crashLoop`: its containers end with exit code 1 and restart, after increasing delays.
 * - `imagePullError`: it stays `Pending` with `ErrImagePull`, then `ImagePullBackOff`.
 * - `succeed`, `fail`: it runs and ends with exit code 0 or 1 (`succeed` is the default for pods of Jobs).
 *   With `fail` and a `restartPolicy` other than `Never`, it restarts as with `crashLoop`.
 */
export type PodBehavior =
  'ready' | 'neverReady' | 'crashLoop' | 'imagePullError' | 'succeed' | 'fail';

/** The annotation that sets the behavior of a pod, on the pod or in the template of its workload. */
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
