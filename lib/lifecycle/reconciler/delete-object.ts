import { isNotFound } from '../../object/api-error.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { keyOf } from '../../object/object-key.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Pass } from './pass.js';

/**
 * Deletes this very version of an object; one that is gone is fine, one that has changed is a conflict.
 * @param propagationPolicy - `Foreground`: after what it owns itself.
 * @returns whether it is still there
 */
export async function deleteObject<CR extends LifecycleObject>(
  { live, signal }: Pass<CR>,
  object: UnstructuredObject,
  propagationPolicy: 'Foreground' | 'Background',
): Promise<boolean> {
  const { apiVersion, kind, metadata } = object;
  const { uid, resourceVersion } = metadata;
  const preconditions =
    uid === undefined
      ? undefined
      : { uid, ...(resourceVersion !== undefined && { resourceVersion }) };
  const options = { propagationPolicy, preconditions, signal } as const;
  try {
    const left = await live.delete({ apiVersion, kind }, keyOf(object), options);
    return left !== undefined;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
