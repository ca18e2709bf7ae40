/**
 * A JSON object that a pipeline works on, never mutated: `{ Kind: object, … }` for a join, else an object.
 */
export type Document = Readonly<Record<string, unknown>>;
