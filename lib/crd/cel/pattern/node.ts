/** Returns whether a code point is in a set. */
export type CharacterTest = (point: number) => boolean;

/** Assertions about a position; they consume no character. */
export type Assertion = 'begin' | 'end' | 'lineBegin' | 'lineEnd' | 'boundary' | 'noBoundary';

/** A parsed pattern. */
export type PatternNode =
  | { readonly type: 'character'; readonly test: CharacterTest }
  | { readonly type: 'assertion'; readonly assertion: Assertion }
  | { readonly type: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly type: 'choice'; readonly parts: readonly PatternNode[] }
  | RepeatNode;

/** A repeated part, unbounded without `max`. */
export interface RepeatNode {
  readonly type: 'repeat';
  readonly part: PatternNode;
  readonly min: number;
  readonly max: number | undefined;
  readonly greedy: boolean;
}

/** Go rejects the pattern; the message is Go's. */
export class PatternSyntaxError extends Error {
  override readonly name = 'PatternSyntaxError';

  constructor(what: string, where: string) {
    super(`error parsing regexp: ${what}: \`${where}\``);
  }
}
