/** A JSON object that a pipeline works on; never modified. For a join it is `{ Kind: object, … }`. */
export type Document = Readonly<Record<string, unknown>>;
