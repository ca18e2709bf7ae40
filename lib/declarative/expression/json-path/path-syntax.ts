/** A parsed JSONPath (RFC 9535). */
export interface Path {
  /** `$`: the document; `$$`: the element of the nearest list operator; `@`: the node under test. */
  readonly root: '$' | '$$' | '@';
  readonly segments: readonly Segment[];
}

/** A step from nodes to nodes below them: their children, or all their descendants (`..`). */
export interface Segment {
  readonly descendant: boolean;
  /** At least one selector; their results follow one another. */
  readonly selectors: readonly Selector[];
}

/** A selection of a node's children. */
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

/** Comparison operators. */
export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** An expression with at most one value. */
export type Comparable =
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'length'; readonly of: Comparable }
  | { readonly kind: 'count'; readonly path: Path };

/** The text is not a valid JSONPath. */
export class PathSyntaxError extends Error {
  /** Position of the error: the number of the character, from 1. */
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.name = 'PathSyntaxError';
    this.position = position;
  }
}

/** Whether a path leads to at most one place: it has only names and indexes. */
export function isSingular(path: Path): boolean {
  return path.segments.every(
    ({ descendant, selectors: [first, ...rest] }) =>
      !descendant && rest.length === 0 && (first?.kind === 'name' || first?.kind === 'index'),
  );
}
