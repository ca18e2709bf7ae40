/**
 * `T` as a caller may give it. What may be left out may also be undefined: JSON drops it, and
 * `exactOptionalPropertyTypes` would refuse `{ replicas: options.replicas }`. Lists may be readonly, and
 * a quantity may be a number, as a field of `s.quantity()` in a custom resource.
 */
export type Lenient<T> = T extends readonly (infer Item)[]
  ? readonly Lenient<Item>[]
  : T extends object
    ? {
        [K in keyof T]:
          | (K extends QuantityField ? WithNumbers<T[K]> : Lenient<T[K]>)
          | (object extends Pick<T, K> ? undefined : never);
      }
    : T;

/** The fields whose texts, or whose members' texts, are quantities. */
type QuantityField =
  'requests' | 'limits' | 'overhead' | 'capacity' | 'sizeLimit' | 'divisor' | 'averageValue';

type WithNumbers<T> = T extends string
  ? T | number
  : T extends Readonly<Record<string, string>>
    ? Readonly<Record<string, string | number | undefined>>
    : Lenient<T>;
