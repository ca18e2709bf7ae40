import type { UnstructuredObject } from '../../object/kubernetes-object.js';

/** A write as admission sees it. Its objects are in the version of the request. */
export interface AdmittedWrite {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** The object to store; absent for a deletion. */
  readonly object: UnstructuredObject | undefined;
  /** The stored object; absent for a create. */
  readonly old: UnstructuredObject | undefined;
}

/** Admission hooks of a write, beside the rules of its kind. */
export interface WriteHooks {
  /**
   * Runs after defaults and the kind's own admission.
   * @returns the object to write instead
   * @throws StatusError the write is refused.
   */
  admit(write: AdmittedWrite & { readonly object: UnstructuredObject }): UnstructuredObject;
  /**
   * Runs last, immediately before the commit.
   * @throws StatusError the write is refused.
   */
  validate(write: AdmittedWrite): void;
}
