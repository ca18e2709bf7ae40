import type { UnstructuredObject } from '../../object/kubernetes-object.js';

/** A write on its way, as admission sees it: objects are in the version of the request. */
export interface AdmittedWrite {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** What is written; absent for a deletion. */
  readonly object: UnstructuredObject | undefined;
  /** What is there; absent for a create. */
  readonly old: UnstructuredObject | undefined;
}

/** What has a say in a write beside the rules of its kind. */
export interface WriteHooks {
  /**
   * After defaults and the kind's own admission. @returns what is written instead
   * @throws StatusError the write is refused.
   */
  admit(write: AdmittedWrite & { readonly object: UnstructuredObject }): UnstructuredObject;
  /** Last of all, right before the commit. @throws StatusError the write is refused. */
  validate(write: AdmittedWrite): void;
}
