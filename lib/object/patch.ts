import type { JsonPatchOperation } from './json-patch.js';

/** A patch and its type. */
export type Patch =
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }
  /** RFC 7386: null removes, lists are replaced. */
  | { readonly type: 'merge'; readonly body: object }
  /** Kubernetes' own format, for built-in kinds: lists are merged by key. */
  | { readonly type: 'strategic'; readonly body: object };
