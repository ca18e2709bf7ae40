import type { Client } from '../../client/client.js';
import { isNotFound } from '../../object/api-error.js';
import { describeObject } from '../../object/describe-object.js';
import type { KubernetesObject, UnstructuredObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { TypeReference } from '../../object/resource-type.js';
import { isOperatorError } from '../../system/operator-error.js';
import type { LifecycleObject } from '../lifecycle-status.js';
import type { Pass } from './pass.js';

/** Where to look for owned objects. */
export interface OwnedSearch {
  /** The live one where a cache that is behind would have something overlooked. */
  readonly client: Client;
  readonly types: readonly TypeReference<KubernetesObject>[];
}

/** Every object of these kinds whose controller is the configuration, this very one by its UID. */
export async function ownedObjects<CR extends LifecycleObject>(
  pass: Pass<CR>,
  { client, types }: OwnedSearch,
): Promise<readonly UnstructuredObject[]> {
  const byName = new Map(types.map((type) => [`${apiVersionOf(type)} ${type.kind}`, type]));
  const ofKind = (type: TypeReference<KubernetesObject>): Promise<readonly UnstructuredObject[]> =>
    ownedOfKind(pass, client, type);
  const lists = await Promise.all([...byName.values()].map(ofKind));
  return lists.flat();
}

async function ownedOfKind<CR extends LifecycleObject>(
  { cr, signal }: Pass<CR>,
  client: Client,
  type: TypeReference<KubernetesObject>,
): Promise<readonly UnstructuredObject[]> {
  const { uid: controllerUid, namespace } = cr.metadata;
  try {
    const { namespaced } = await client.resourceType(type);
    // What lives in a namespace can't own what does not.
    if (namespace !== undefined && !namespaced) return [];
    const { items } = await client.list(type, { controllerUid, namespace, signal });
    const typeMeta = { apiVersion: apiVersionOf(type), kind: type.kind };
    return items.map((item) => ({ ...item, ...typeMeta }));
  } catch (error) {
    // Of a kind that is not served, or not any more, there is nothing.
    if (isOperatorError(error, 'UnknownKind') || isNotFound(error)) return [];
    throw error;
  }
}

/** Names an object among all. */
export function identityOf(object: KubernetesObject): string {
  const group = object.apiVersion.split('/').slice(0, -1).join();
  return `${group}/${describeObject(object)}`;
}
