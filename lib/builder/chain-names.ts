/** The names that a chain has seen, by what refers to them; each a union of string literals. */
export interface ChainNames {
  readonly configMap: string;
  readonly secret: string;
  readonly service: string;
  readonly claim: string;
  readonly workload: string;
  /** The kinds that the chain may make; `string`: any. */
  readonly owned: string;
  /** The node types of the workloads. */
  readonly nodeType: string;
  /** The node types that `rolloutOrder` of the options names; `string` where it was not given. */
  readonly order: string;
}

/** The names of a chain that is only beginning. */
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

/** `Names` and, for what `Role` names, `Name`. */
export type WithName<
  Names extends ChainNames,
  Role extends keyof ChainNames,
  Name extends string,
> = {
  readonly [Key in keyof ChainNames]: Key extends Role ? Names[Key] | Name : Names[Key];
};

/**
 * `Given` where it is one of `Known` or a `string` that only the run knows (it is checked when the
 * chain is reconciled); else `Known`, so that a typo does not compile.
 */
export type ChainedName<Known extends string, Given extends string> = string extends Given
  ? Given
  : Given extends Known
    ? Given
    : Known;

/**
 * A condition on the options of a link: anything where the chain may make objects of `Kind`, else a
 * property that no options have and whose name is the remedy.
 */
export type Owning<Names extends ChainNames, Kind extends string> = string extends Names['owned']
  ? unknown
  : Kind extends Names['owned']
    ? unknown
    : { readonly [Remedy in `add ${Kind} to owns(…)`]: never };
