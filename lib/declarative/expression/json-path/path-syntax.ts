/** A JSONPath (RFC 9535), read. */
export interface Path {
  /** `$`: the document; `$$`: the element of the nearest list operator; `@`: the node under test. */
  readonly root: '$' | '$$' | '@';
  readonly segments: readonly Segment[];
}

/** A step from nodes to nodes below them: their children, or all their descendants (`..`). */
export interface Segment {
  readonly descendant: boolean;
  /** At least one; what each selects comes in turn. */
  readonly selectors: readonly Selector[];
}

/** Which of a node's children are taken. */
export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'wildcard' }
  | {
      readonly kind: 'slice';
      readonly start: number | undefined;
      readonly end: number | undefined;
      readonly step: number;
    }
  | { readonly kind: 'filter'; readonly test: Test };

/** The condition of a filter. */
export type Test =
  | { readonly kind: 'or' | 'and'; readonly tests: readonly Test[] }
  | { readonly kind: 'not'; readonly test: Test }
  | { readonly kind: 'exists'; readonly path: Path }
  | { readonly kind: 'in'; readonly left: Comparable; readonly items: readonly unknown[] }
  | { readonly kind: 'matches'; readonly whole: boolean; readonly operands: readonly Comparable[] }
  | {
      readonly kind: 'compare';
      readonly operator: CompareOperator;
      readonly left: Comparable;
      readonly right: Comparable;
    };

/** How two values are compared. */
export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** What has one value, or none. */
export type Comparable =
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'length'; readonly of: Comparable }
  | { readonly kind: 'count'; readonly path: Path };

/** A text is no JSONPath. */
export class PathSyntaxError extends Error {
  /** Where reading stopped: the number of the character, from 1. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.name = 'PathSyntaxError';
    this.position = position;
  }
}

/** Whether a path leads to one place at most: names and indexes alone. */
export function isSingular(path: Path): boolean {
  return path.segments.every(
    ({ descendant, selectors: [first, ...rest] }) =>
      !descendant && rest.length === 0 && (first?.kind === 'name' || first?.kind === 'index'),
  );
}
