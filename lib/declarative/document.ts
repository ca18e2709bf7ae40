/** A JSON object that a pipeline works on: of a join `{ Kind: object, … }`, else an object. Never written into. */
export type Document = Readonly<Record<string, unknown>>;
