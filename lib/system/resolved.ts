/** Options after their defaults were filled in: nothing below is optional or undefined. */
export type Resolved<Options> = {
  readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined>;
};
