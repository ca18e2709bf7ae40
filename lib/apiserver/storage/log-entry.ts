import type { UnstructuredObject } from '../../object/kubernetes-object.js';

/** A committed change. Objects are frozen and in the kind's storage version. */
export interface LogEntry {
  /** The position in the order of all changes; the `resourceVersion` of `object`. */
  readonly revision: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The collection, for example `apps/deployments`. */
  readonly collection: string;
  /** `namespace/name`, or `name` for cluster-scoped objects. */
  readonly key: string;
  /** The object after the change; for `DELETED` the last state, with this change's version. */
  readonly object: UnstructuredObject;
  /** The object before the change; absent for `ADDED`. */
  readonly previous: UnstructuredObject | undefined;
}
