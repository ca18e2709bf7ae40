/** The names chained so far, by role; each is a union of string literals. */
export interface ChainNames {
  readonly configMap: string;
  readonly secret: string;
  readonly service: string;
  readonly claim: string;
  readonly workload: string;
  /** The kinds that the chain may make; `string` allows any. */
  readonly owned: string;
  /** The node types of the workloads. */
  readonly nodeType: string;
  /** The node types in the option `rolloutOrder`; `string` if it is not set. */
  readonly order: string;
}

/** The names of an empty chain. */
export interface NoNames<
  Order extends string = string,
  Owned extends string = string,
> extends ChainNames {
  readonly configMap: never;
  readonly secret: never;
  readonly service: never;
  readonly claim: never;
  readonly workload: never;
  readonly nodeType: never;
  readonly owned: Owned;
  readonly order: Order;
}

/** `Names` with `Name` added to `Role`. */
export type WithName<
  Names extends ChainNames,
  Role extends keyof ChainNames,
  Name extends string,
> = {
  readonly [Key in keyof ChainNames]: Key extends Role ? Names[Key] | Name : Names[Key];
};

/**
 * Resolves to `Given` if it is one of `Known`, or a `string` that is known only at run time; `reconcile`
 * checks such a name. Otherwise resolves to `Known`, so that a typo does not compile.
 */
export type ChainedName<Known extends string, Given extends string> = string extends Given
  ? Given
  : Given extends Known
    ? Given
    : Known;

/**
 * Restricts the options of a link to kinds that the chain may make. For other kinds it requires a property
 * that no options have, whose name is the remedy.
 */
export type Owning<Names extends ChainNames, Kind extends string> = string extends Names['owned']
  ? unknown
  : Kind extends Names['owned']
    ? unknown
    : { readonly [Remedy in `add ${Kind} to owns(…)`]: never };
