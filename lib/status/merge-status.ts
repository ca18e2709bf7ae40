import { deepEqual } from '../object/deep-equal.js';
import omit from 'lodash/omit.js';
import type { Client } from '../client/client.js';
import { getIfExists } from '../client/object-changes.js';
import { isConflict } from '../object/api-error.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { keyOf } from '../object/object-key.js';
import type { TypeReference } from '../object/resource-type.js';

/** A status for {@link mergeStatus} to write. */
export interface StatusMerge<T extends KubernetesObject> {
  readonly type: TypeReference<T>;
  /** Returns the merge patch for the current object; undefined if there is nothing to write. */
  readonly patch: (object: T) => object | undefined;
  /**
   * Returns true if the status still holds for an object that changed meanwhile.
   * @defaultValue always true
   */
  readonly stands?: ((now: T) => boolean) | undefined;
  /** The subresource to write. @defaultValue none: the status is written with the object */
  readonly subresource?: string | undefined;
}

const maxAttempts = 3;

/**
 * Writes a status by a merge patch, guarded by the uid and the resourceVersion of the object. If the object
 * changed meanwhile, but neither its spec nor its deletion, it reads the object from the server and retries.
 * @returns the current object; the object last read if nothing was sent or another object has its name
 * @throws ApiError 409: the spec changed, the status no longer holds, or too many attempts failed; else the
 * server's error.
 */
export async function mergeStatus<T extends KubernetesObject>(
  object: T,
  { type, patch, stands = () => true, subresource }: StatusMerge<T>,
  calls: { readonly client: Client & { readonly live?: Client }; readonly signal: AbortSignal },
): Promise<T> {
  const { client, signal } = calls;
  const options = { ...(subresource !== undefined && { subresource }), signal };
  let current = object;
  for (let attempt = 1; ; attempt++) {
    const changes = patch(current) as { readonly metadata?: object } | undefined;
    if (changes === undefined) return current;
    const { uid, resourceVersion } = current.metadata;
    const body = { ...changes, metadata: { ...changes.metadata, uid, resourceVersion } };
    try {
      return await client.patch(type, keyOf(object), { type: 'merge', body }, options);
    } catch (error) {
      if (!isConflict(error) || attempt >= maxAttempts) throw error;
      const now = await getIfExists(client.live ?? client, type, keyOf(object), { signal });
      if (now?.metadata.uid !== object.metadata.uid || now === undefined) return current;
      if (!isSameRequest(object, now) || !stands(now)) throw error;
      current = now;
    }
  }
}

/** Returns true if neither the spec nor the deletion differs, so that a reconcile would act the same. */
function isSameRequest(one: KubernetesObject, other: KubernetesObject): boolean {
  const requestOf = ({ metadata, ...rest }: KubernetesObject): object => ({
    ...omit(rest, 'status'),
    deleted: metadata.deletionTimestamp,
  });
  return deepEqual(requestOf(one), requestOf(other));
}
