import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { deepEqual } from '../../object/deep-equal.js';
import { withoutMembers } from '../without-members.js';

/** Returns whether `spec` changed: the generation rule of most kinds. */
export function specChanged(object: UnstructuredObject, old: UnstructuredObject): boolean {
  return !deepEqual(object['spec'], old['spec']);
}

/** The rule of the apps group: a Deployment's annotations count too. */
export function specOrAnnotationsChanged(
  object: UnstructuredObject,
  old: UnstructuredObject,
): boolean {
  const { annotations = {} } = object.metadata;
  return specChanged(object, old) || !deepEqual(annotations, old.metadata.annotations ?? {});
}

/** For kinds without a `spec`: everything but the metadata counts. */
export function contentChanged(object: UnstructuredObject, old: UnstructuredObject): boolean {
  return !deepEqual(withoutMembers(object, 'metadata'), withoutMembers(old, 'metadata'));
}
