import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import type { ResourceType } from '../object/resource-type.js';

/** An object that the owner has, looked at by pruning. */
export interface Candidate {
  readonly type: ResourceType<KubernetesObject>;
  readonly object: UnstructuredObject;
}
