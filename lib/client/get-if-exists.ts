import { isNotFound } from '../object/api-error.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Client, GetOptions } from './client.js';

/**
 * Reads one object that may be gone: what a reconciler is called for may have been deleted.
 *
 * @example
 * ```ts
 * const owner = await getIfExists(client, Tenant, key);
 * if (owner === undefined) return done(); // Garbage collection takes what it owned.
 * ```
 * @returns undefined: there is no such object.
 * @throws what `Client.get` throws, but no 404.
 */
export async function getIfExists<T extends KubernetesObject>(
  client: Client,
  type: TypeReference<T>,
  key: ObjectKey,
  options?: GetOptions,
): Promise<T | undefined> {
  try {
    return await client.get(type, key, options);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
