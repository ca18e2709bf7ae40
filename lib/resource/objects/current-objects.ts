import { isAbsentKind } from '../../apply/index.js';
import type { ApplyContext } from '../../apply/index.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { ownerReferenceTo } from '../../object/owner-reference.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { ResourceType } from '../../object/resource-type.js';
import { keptMarks } from './kept-marks.js';
import type { KeptTypes } from './kept-types.js';

/** Whose objects are looked for. */
export interface Keeper {
  /** The resource. */
  readonly name: string;
  readonly types: KeptTypes;
}

/**
 * What the resource has made for its owner and is still there, by its labels and the owner that
 * controls it; somebody's copy with the same labels is not. Costs no call where the kinds are cached.
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
  // A namespaced owner has nothing in the cluster's own kinds.
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

// The items of a list do not say their kind.
function withType(
  type: ResourceType<KubernetesObject>,
  items: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  return items.map((item) => ({ ...item, apiVersion: apiVersionOf(type), kind: type.kind }));
}
