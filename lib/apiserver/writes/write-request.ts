import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { WriteHooks } from './write-hooks.js';

/** The target and options of a write, for all verbs. */
export interface WriteRequest {
  readonly kind: ServedKind;
  readonly subresource: string | undefined;
  /** The namespace; empty for cluster-scoped kinds. */
  readonly namespace: string;
  /** The name; empty for a create. */
  readonly name: string;
  /** The field manager, for `managedFields`. */
  readonly manager: string;
  /** Runs all steps except the commit. */
  readonly dryRun: boolean;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** Adds a `Warning` header to the answer. */
  readonly warn: (text: string) => void;
  /**
   * Admission hooks beside the rules of the kind.
   * @defaultValue none
   */
  readonly hooks?: WriteHooks | undefined;
}

/** The result of a write. */
export interface WriteResult {
  /** The object in the version of the request. */
  readonly object: UnstructuredObject;
  readonly created: boolean;
}
