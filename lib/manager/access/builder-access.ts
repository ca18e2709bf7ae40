import { rollsPods } from '../../apply/index.js';
import { PersistentVolumeClaim, Pod, StatefulSet } from '../../object/kinds.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { TypeReference } from '../../object/resource-type.js';
import { ownVerbs } from './required-access.js';
import type { RequiredAccess } from './required-access.js';

/**
 * Returns the access that a `Builder` needs for its owned kinds, beside watching them; for `requires`. It
 * applies and prunes objects, lists the Pods of workloads, and grows the claims of StatefulSets. Not
 * included: deleting Pods, which only the option `unblock` does.
 */
export function builderAccess(
  owns: readonly TypeReference<KubernetesObject>[],
): readonly RequiredAccess[] {
  const metas = owns.map((type) => ({ apiVersion: apiVersionOf(type), kind: type.kind }));
  const hasSets = metas.some(
    ({ apiVersion, kind }) => kind === StatefulSet.kind && apiVersion === apiVersionOf(StatefulSet),
  );
  return [
    ...owns.map((type) => ({ type, verbs: ownVerbs })),
    ...(metas.some(rollsPods) ? [{ type: Pod, verbs: ['list'] } as const] : []),
    ...(hasSets ? [{ type: PersistentVolumeClaim, verbs: ['list', 'patch'] } as const] : []),
  ];
}
