import type { KubernetesObject } from '../object/kubernetes-object.js';
import { withControllerReference } from '../object/owner-reference.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Client } from './client.js';

/**
 * Returns a copy of `object` with `owner` as its controller; the client finds which of both kinds are
 * namespaced. Writes nothing.
 * @throws OperatorError `AlreadyOwned`: it has another controller.
 * @throws OperatorError `InvalidOwner`: the owner is in another namespace, is a namespaced owner of a
 * cluster-scoped object, or is not live.
 */
export async function setControllerReference<T extends KubernetesObject>(
  client: Client,
  object: T,
  owner: KubernetesObject,
): Promise<T> {
  const isNamespaced = async ({ apiVersion, kind }: KubernetesObject): Promise<boolean> => {
    const reference: TypeReference<KubernetesObject> = { apiVersion, kind };
    return (await client.resourceType(reference)).namespaced;
  };
  const [objectNamespaced, ownerNamespaced] = [
    await isNamespaced(object),
    await isNamespaced(owner),
  ];
  return withControllerReference(object, owner, { objectNamespaced, ownerNamespaced });
}
