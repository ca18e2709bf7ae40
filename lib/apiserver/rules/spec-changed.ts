import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { deepEqual } from '../../object/deep-equal.js';
import { withoutMembers } from '../../object/json.js';

/** Returns whether `spec` changed: the generation rule of most kinds. */
export function specChanged(object: UnstructuredObject, old: UnstructuredObject): boolean {
  return !deepEqual(object['spec'], old['spec']);
}

/** Returns whether `spec` or the annotations changed: the generation rule of Deployments. */
export function specOrAnnotationsChanged(
  object: UnstructuredObject,
  old: UnstructuredObject,
): boolean {
  const { annotations = {} } = object.metadata;
  return specChanged(object, old) || !deepEqual(annotations, old.metadata.annotations ?? {});
}

/** Returns whether anything but the metadata changed: the generation rule of kinds without a `spec`. */
export function contentChanged(object: UnstructuredObject, old: UnstructuredObject): boolean {
  return !deepEqual(withoutMembers(object, 'metadata'), withoutMembers(old, 'metadata'));
}
