declare const valueType: unique symbol;

/** Names a value of type `V` in a `ResourceContext`; two keys of one name are two keys. */
export interface ContextKey<V> {
  /** For errors. */
  readonly name: string;
  readonly [valueType]?: (value: V) => V;
}

/**
 * A key of its own for a value that resources of one pass share.
 *
 * @example
 * ```ts
 * const region = contextKey<string>('region');
 * context.set(region, 'eu-west-1');
 * context.need(region); // 'eu-west-1', a string
 * ```
 */
export function contextKey<V>(name: string): ContextKey<V> {
  return Object.freeze({ name });
}
