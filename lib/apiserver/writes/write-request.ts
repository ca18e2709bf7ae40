import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { WriteHooks } from './write-hooks.js';

/** What a write is about, whatever its verb. */
export interface WriteRequest {
  readonly kind: ServedKind;
  readonly subresource: string | undefined;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  /** Empty for a create. */
  readonly name: string;
  /** Who writes, for `managedFields`. */
  readonly manager: string;
  /** Do everything but store. */
  readonly dryRun: boolean;
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** Adds a `Warning` header to the answer. */
  readonly warn: (text: string) => void;
  /** What has a say beside the rules of the kind. @defaultValue nothing */
  readonly hooks?: WriteHooks | undefined;
}

/** What a write led to. */
export interface WriteResult {
  /** In the version of the request. */
  readonly object: UnstructuredObject;
  readonly created: boolean;
}
