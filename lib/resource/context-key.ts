declare const valueType: unique symbol;

/** Names a value of type `V` in a `ResourceContext`. Two keys of the same name are distinct. */
export interface ContextKey<V> {
  /** Shown in errors. */
  readonly name: string;
  readonly [valueType]?: (value: V) => V;
}

/**
 * Makes a unique key for a value that the resources of one reconcile share.
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
