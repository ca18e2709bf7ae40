/**
 * `T`, where what may be left out may also be undefined: JSON drops it, and `exactOptionalPropertyTypes`
 * would refuse `{ replicas: options.replicas }`.
 */
export type Lenient<T> = T extends readonly (infer Item)[]
  ? readonly Lenient<Item>[]
  : T extends object
    ? { [K in keyof T]: Lenient<T[K]> | (object extends Pick<T, K> ? undefined : never) }
    : T;
