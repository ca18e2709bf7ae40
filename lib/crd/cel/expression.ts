import type { CelValue } from './values.js';

/** The syntax tree of a CEL expression. `at` is an offset in code points: where errors point to. */
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

/** An element of a list; an optional one is left out where it has no value. */
export interface ListElement {
  readonly value: Expression;
  readonly optional: boolean;
}

/** An entry of a map; an optional one is left out where it has no value. */
export interface MapEntry {
  readonly key: Expression;
  readonly value: Expression;
  readonly optional: boolean;
}

/** What a comprehension makes of its range. */
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
  /** One: the element of a list, the key of a map. Two: index or key, and value. */
  readonly variables: readonly string[];
  /** What must hold for an element to be transformed. */
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

/** The dotted name that an expression spells; undefined: it is something else. */
export function qualifiedName(expression: Expression): string | undefined {
  if (expression.type === 'identifier') return expression.name;
  if (expression.type !== 'select' || expression.mode !== 'value') return undefined;
  const prefix = qualifiedName(expression.operand);
  return prefix === undefined ? undefined : `${prefix}.${expression.field}`;
}
