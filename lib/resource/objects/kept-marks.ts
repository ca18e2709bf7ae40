import { ownerUidLabel } from '../../object/owner-reference.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { labelValueOf } from '../../object/label-value.js';

// Holds the name of the resource that keeps the object.
const resourceLabel = 'operator-builder.io/resource';

/** Returns the labels by which the resource `name` finds the objects that it keeps for `owner`. */
export function keptMarks(owner: KubernetesObject, name: string): Readonly<Record<string, string>> {
  return { [ownerUidLabel]: owner.metadata.uid ?? '', [resourceLabel]: labelValueOf(name) };
}
