import type { KubernetesObject } from '../object/kubernetes-object.js';
import { withControllerReference } from '../object/owner-reference.js';
import type { TypeReference } from '../object/resource-type.js';
import type { Client } from './client.js';

/**
 * A copy of `object` whose controller is `owner`; the client says which of both kinds are
 * namespaced. Nothing is written.
 * @throws OperatorError `AlreadyOwned`: it has another controller.
 * @throws OperatorError `InvalidOwner`: across namespaces, or a namespaced owner of a cluster-scoped
 *   object, or an owner that is not live.
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
