import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { CleanUpPolicy } from '../operator/clean-ups.js';

/**
 * Annotation of an `Operator` object with the policy for the objects that its controllers wrote, applied
 * when a controller or the object is removed: `delete`, or `orphan`, the default. An annotation, not a
 * field, so that the object is also valid under dcontroller's own definition.
 */
export const cleanUpAnnotation = 'operator-builder.io/clean-up';

/** Finalizer of an `Operator` object with the policy `delete`, until the objects that it wrote are gone. */
export const cleanUpFinalizer = 'operator-builder.io/clean-up';

/** Returns the policy of an object; undefined: its annotation has an invalid value. */
export function cleanUpPolicyOf({ metadata }: KubernetesObject): CleanUpPolicy | undefined {
  const written = metadata.annotations?.[cleanUpAnnotation]?.toLowerCase() ?? 'orphan';
  return written === 'delete' || written === 'orphan' ? written : undefined;
}
