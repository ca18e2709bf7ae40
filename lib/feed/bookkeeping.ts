import omit from 'lodash/omit.js';
import { appliedHashAnnotation } from '../apply/index.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';

/** Where kubectl notes what it applied, for want of server-side apply. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** Annotations that change with every write, and repeat what other fields say. */
const bookkeeping: readonly string[] = [
  ...[appliedHashAnnotation, lastAppliedAnnotation, 'deployment.kubernetes.io/revision'],
];

/** `object` without the annotations that only tools read: a change of them is not worth a line. */
export function withoutBookkeeping(object: UnstructuredObject): UnstructuredObject {
  const { annotations } = object.metadata;
  if (annotations === undefined) return object;
  const shown = omit(annotations, bookkeeping);
  const metadata = omit(object.metadata, 'annotations');
  const isEmpty = Object.keys(shown).length === 0;
  return { ...object, metadata: isEmpty ? metadata : { ...metadata, annotations: shown } };
}
