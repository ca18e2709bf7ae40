import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { controllerOf } from '../../object/owner-reference.js';
import type { ClusterState } from './cluster-state.js';

/** Returns the pods that a workload controls, also through ReplicaSets. */
export function podsOf(
  workload: UnstructuredObject,
  state: ClusterState,
): readonly UnstructuredObject[] {
  const byUid = new Map([...state.values()].map((each) => [each.metadata.uid, each] as const));
  const isOf = (object: UnstructuredObject): boolean => {
    const owner = byUid.get(controllerOf(object)?.uid);
    if (owner === undefined) return false;
    return owner.metadata.uid === workload.metadata.uid || isOf(owner);
  };
  return [...state.values()].filter((object) => object.kind === 'Pod' && isOf(object));
}
