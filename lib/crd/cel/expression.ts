import type { CelValue } from './values.js';

/** The syntax tree of a CEL expression. `at` is the offset for errors, in code points. */
export type Expression =
  | { readonly type: 'literal'; readonly at: number; readonly value: CelValue }
  | { readonly type: 'identifier'; readonly at: number; readonly name: string }
  | SelectExpression
  | CallExpression
  | { readonly type: 'list'; readonly at: number; readonly elements: readonly ListElement[] }
  | { readonly type: 'map'; readonly at: number; readonly entries: readonly MapEntry[] }
  | { readonly type: 'struct'; readonly at: number; readonly name: string }
  | ComprehensionExpression
  | OptionalMapExpression;

/** `operand.field`, `operand.?field`, or `has(operand.field)`. */
export interface SelectExpression {
  readonly type: 'select';
  readonly at: number;
  readonly operand: Expression;
  readonly field: string;
  readonly mode: 'value' | 'optional' | 'test';
}

/** A function, a method (with a `target`) or an operator (`_+_`). */
export interface CallExpression {
  readonly type: 'call';
  readonly at: number;
  readonly name: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
}

/** An element of a list; an optional one without a value is omitted. */
export interface ListElement {
  readonly value: Expression;
  readonly optional: boolean;
}

/** An entry of a map; an optional one without a value is omitted. */
export interface MapEntry {
  readonly key: Expression;
  readonly value: Expression;
  readonly optional: boolean;
}

/** The macros over a range. */
export type ComprehensionMacro =
  | 'all'
  | 'exists'
  | 'existsOne'
  | 'filter'
  | 'map'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry'
  | 'sortBy';

/** A macro over a list or a map. */
export interface ComprehensionExpression {
  readonly type: 'comprehension';
  readonly at: number;
  readonly macro: ComprehensionMacro;
  readonly range: Expression;
  /** One variable: list element or map key. Two: index or key, and value. */
  readonly variables: readonly string[];
  /** The condition for transforming an element. */
  readonly filter: Expression | undefined;
  readonly step: Expression;
}

/** `target.optMap(variable, body)` and `target.optFlatMap(variable, body)`. */
export interface OptionalMapExpression {
  readonly type: 'optionalMap';
  readonly at: number;
  readonly target: Expression;
  readonly variable: string;
  readonly body: Expression;
  /** Whether `body` is an optional itself. */
  readonly flat: boolean;
}

/** Returns the dotted name that an expression spells, such as `a.b`; undefined for other expressions. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.type === 'identifier') return expression.name;
  if (expression.type !== 'select' || expression.mode !== 'value') return undefined;
  const prefix = qualifiedName(expression.operand);
  return prefix === undefined ? undefined : `${prefix}.${expression.field}`;
}
