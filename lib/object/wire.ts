/**
 * The wire format of a model of `@kubernetes/client-node`. These models have `Date` where JSON has a string,
 * and rename fields that clash with JavaScript or contain dashes (`_from`, `x_kubernetes_list_type`). Objects
 * of this package always have the wire format.
 */
export type Wire<T> = 0 extends 1 & T
  ? unknown // `any` in a model stands for any JSON value.
  : T extends Date
    ? string
    : T extends readonly (infer Item)[]
      ? Wire<Item>[]
      : T extends object
        ? { [K in keyof T as WireKey<K>]: Wire<T[K]> }
        : T;

type WireKey<K> = K extends `x_kubernetes_${infer Rest}`
  ? `x-kubernetes-${Dashed<Rest>}`
  : K extends `_${infer Rest}`
    ? Rest
    : K;

type Dashed<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}-${Dashed<Tail>}`
  : S;
