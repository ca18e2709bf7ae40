/** Options with their defaults applied: no field is optional or undefined. */
export type Resolved<Options> = {
  readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined>;
};
