import isEqual from 'lodash/isEqual.js';
import omit from 'lodash/omit.js';
import type { Client } from '../client/client.js';
import { getIfExists } from '../client/get-if-exists.js';
import { isConflict } from '../object/api-error.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { keyOf } from '../object/object-key.js';
import type { TypeReference } from '../object/resource-type.js';

/** A status that {@link mergeStatus} writes. */
export interface StatusMerge<T extends KubernetesObject> {
  readonly type: TypeReference<T>;
  /** Makes the merge patch for the object as it is now. Undefined: there is nothing to write. */
  readonly patch: (object: T) => object | undefined;
  /** Whether the status is still right for an object that someone else changed meanwhile. @defaultValue yes */
  readonly stands?: ((now: T) => boolean) | undefined;
  /** @defaultValue none: the status is written with the object */
  readonly subresource?: string | undefined;
}

const maxAttempts = 3;

/**
 * Writes a status by a merge patch that the uid and the resourceVersion of the object guard. Where
 * someone else changed the object meanwhile, but neither its spec nor its deletion, it reads the object
 * from the server and writes again.
 * @returns the object as it is now; `object` where nothing was sent, or another object has its name
 * @throws ApiError 409: another spec, or a status that does not stand; else what the server answers.
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

/** Whether a reconcile would find the same: neither the spec nor the deletion differs. */
function isSameRequest(one: KubernetesObject, other: KubernetesObject): boolean {
  const requestOf = ({ metadata, ...rest }: KubernetesObject): object => ({
    ...omit(rest, 'status'),
    deleted: metadata.deletionTimestamp,
  });
  return isEqual(requestOf(one), requestOf(other));
}
