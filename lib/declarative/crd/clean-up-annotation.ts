import type { KubernetesObject } from '../../object/kubernetes-object.js';
import type { CleanUpPolicy } from '../operator/clean-ups.js';

/**
 * On an `Operator` object: what becomes of what its controllers wrote once they, or the object, are
 * removed: `delete` or `orphan`, which it is without the annotation. An annotation, not a field, so that
 * the object stays valid where the definition is dcontroller's own.
 */
export const cleanUpAnnotation = 'operator-builder.io/clean-up';

/** Keeps an `Operator` object with the policy `delete` until what it wrote is gone. */
export const cleanUpFinalizer = 'operator-builder.io/clean-up';

/** Returns the policy of an object; undefined: its annotation has an invalid value. */
export function cleanUpPolicyOf({ metadata }: KubernetesObject): CleanUpPolicy | undefined {
  const written = metadata.annotations?.[cleanUpAnnotation]?.toLowerCase() ?? 'orphan';
  return written === 'delete' || written === 'orphan' ? written : undefined;
}
