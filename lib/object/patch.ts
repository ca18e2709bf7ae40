/** One operation of a JSON patch (RFC 6902). */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** A patch and how the server has to read it. */
export type Patch =
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }
  /** RFC 7386: null removes, lists are replaced. */
  | { readonly type: 'merge'; readonly body: object }
  /** Kubernetes' own, for built-in kinds: lists are merged by key. */
  | { readonly type: 'strategic'; readonly body: object };
