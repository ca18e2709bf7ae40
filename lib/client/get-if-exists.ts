import { isNotFound } from '../object/api-error.js';
import type { KubernetesObject, ObjectKey } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Client, GetOptions } from './client.js';

/**
 * Reads one object that may not exist: the object of a reconcile may have been deleted.
 *
 * @example
 * ```ts
 * const owner = await getIfExists(client, Tenant, key);
 * if (owner === undefined) return done(); // Garbage collection deletes its dependents.
 * ```
 * @returns undefined if the object does not exist.
 * @throws the errors of `Client.get`, except 404.
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
