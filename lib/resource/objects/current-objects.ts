import { isAbsentKind } from '../../apply/index.js';
import type { ApplyContext } from '../../apply/index.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { ownerReferenceTo } from '../../object/owner-reference.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { ResourceType } from '../../object/resource-type.js';
import { keptMarks } from './kept-marks.js';
import type { KeptTypes } from './kept-types.js';

/** The resource whose objects are listed. */
export interface Keeper {
  /** The name of the resource. */
  readonly name: string;
  readonly types: KeptTypes;
}

/**
 * Lists the existing objects that the resource made for its owner, by its labels and the controlling owner; a
 * copy with the same labels does not count. Makes no request where the kinds are cached.
 * @throws OperatorError `InvalidOwner`: the owner was not read from a server.
 */
export async function currentObjects(
  { client, settings }: ApplyContext,
  { name, types }: Keeper,
): Promise<readonly KubernetesObject[]> {
  const { owner, signal } = settings;
  const { namespace } = owner.metadata;
  const { uid } = ownerReferenceTo(owner);
  const labelSelector = Object.entries(keptMarks(owner, name))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const served = await types.served(client);
  // A namespaced owner has no cluster-scoped objects.
  const searched = served.filter((type) => type.namespaced || namespace === undefined);
  const lists = await Promise.all(
    searched.map(async (type) => {
      try {
        const within = type.namespaced ? namespace : undefined;
        const selected = { namespace: within, labelSelector, controllerUid: uid, signal };
        return withType(type, (await client.list(type, selected)).items);
      } catch (error) {
        if (isAbsentKind(error)) return [];
        throw error;
      }
    }),
  );
  return lists.flat();
}

// The items of a list have no apiVersion and kind.
function withType(
  type: ResourceType<KubernetesObject>,
  items: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  return items.map((item) => ({ ...item, apiVersion: apiVersionOf(type), kind: type.kind }));
}
