import { rollsPods } from '../../apply/index.js';
import { PersistentVolumeClaim, Pod, StatefulSet } from '../../object/kinds.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { TypeReference } from '../../object/resource-type.js';
import { ownVerbs } from './required-access.js';
import type { RequiredAccess } from './required-access.js';

/**
 * What a `Builder` does to objects of the kinds that it `owns`, beside watching them; for `requires`.
 * It applies and prunes them; of workloads it looks at the pods; it grows the claims of StatefulSets.
 * Pods are deleted only with the option `unblock`: the right to that is not in it.
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
