/** Whether a code point is in a set. */
export type CharacterTest = (point: number) => boolean;

/** What looks at a place and takes no character. */
export type Assertion = 'begin' | 'end' | 'lineBegin' | 'lineEnd' | 'boundary' | 'noBoundary';

/** A parsed pattern. */
export type PatternNode =
  | { readonly type: 'character'; readonly test: CharacterTest }
  | { readonly type: 'assertion'; readonly assertion: Assertion }
  | { readonly type: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly type: 'choice'; readonly parts: readonly PatternNode[] }
  | RepeatNode;

/** A part that comes several times; no `max`: without an end. */
export interface RepeatNode {
  readonly type: 'repeat';
  readonly part: PatternNode;
  readonly min: number;
  readonly max: number | undefined;
  readonly greedy: boolean;
}

/** A pattern that Go refuses; the message is Go's. */
export class PatternSyntaxError extends Error {
  override readonly name = 'PatternSyntaxError';

  constructor(what: string, where: string) {
    super(`error parsing regexp: ${what}: \`${where}\``);
  }
}
