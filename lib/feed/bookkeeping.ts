import omit from 'lodash/omit.js';
import { appliedHashAnnotation } from '../apply/index.js';
import type { UnstructuredObject } from '../object/kubernetes-object.js';

/** Annotation in which client-side `kubectl apply` stores the applied object. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** Annotations that change with every write and repeat other fields. */
const bookkeeping: readonly string[] = [
  ...[appliedHashAnnotation, lastAppliedAnnotation, 'deployment.kubernetes.io/revision'],
];

/** Returns `object` without annotations that only tools read; their changes are not reported. */
export function withoutBookkeeping(object: UnstructuredObject): UnstructuredObject {
  const { annotations } = object.metadata;
  if (annotations === undefined) return object;
  const shown = omit(annotations, bookkeeping);
  const metadata = omit(object.metadata, 'annotations');
  const isEmpty = Object.keys(shown).length === 0;
  return { ...object, metadata: isEmpty ? metadata : { ...metadata, annotations: shown } };
}
