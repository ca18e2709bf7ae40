import { ownerUidLabel } from '../../object/owner-reference.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { labelValueOf } from '../../object/label-value.js';

// Which resource keeps the object, by its name.
const resourceLabel = 'operator-builder.io/resource';

/** The labels by which the resource `name` finds what it keeps for `owner`. */
export function keptMarks(owner: KubernetesObject, name: string): Readonly<Record<string, string>> {
  return { [ownerUidLabel]: owner.metadata.uid ?? '', [resourceLabel]: labelValueOf(name) };
}
