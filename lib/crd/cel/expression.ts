import { reportOf } from './error-layout.js';
import type { CelValue } from './values.js';

/** The syntax tree of a CEL expression. `at` is the offset for errors, in code points. */
export type Expression =
  | { readonly type: 'literal'; readonly at: number; readonly value: CelValue }
  | { readonly type: 'identifier'; readonly at: number; readonly name: string }
  | SelectExpression
  | CallExpression
  | { readonly type: 'list'; readonly at: number; readonly elements: readonly ListElement[] }
  | { readonly type: 'map'; readonly at: number; readonly entries: readonly MapEntry[] }
  | {
      readonly type: 'struct';
      readonly at: number;
      readonly name: string;
      readonly fields: readonly StructField[];
    }
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

/** A field of an object literal, `Name{field: value}`; an optional one without a value is omitted. */
export interface StructField {
  /** The offset of its colon. */
  readonly at: number;
  readonly name: string;
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
  const fields: string[] = [];
  let left = expression;
  while (left.type === 'select' && left.mode === 'value') {
    fields.push(left.field);
    left = left.operand;
  }
  return left.type === 'identifier' ? [left.name, ...fields.reverse()].join('.') : undefined;
}

/** Returns the parts of an expression in source order. */
export function childrenOf(expression: Expression): readonly Expression[] {
  switch (expression.type) {
    case 'literal':
    case 'identifier':
      return [];
    case 'struct':
      return expression.fields.map(({ value }) => value);
    case 'select':
      return [expression.operand];
    case 'call':
      return expression.target === undefined
        ? expression.args
        : [expression.target, ...expression.args];
    case 'list':
      return expression.elements.map(({ value }) => value);
    case 'map':
      return expression.entries.flatMap(({ key, value }) => [key, value]);
    case 'comprehension': {
      const { range, filter, step } = expression;
      return filter === undefined ? [range, step] : [range, filter, step];
    }
    case 'optionalMap':
      return [expression.target, expression.body];
  }
}

/** Maximum depth: checking and evaluating are recursive and would overflow the stack. */
const deepest = 1000;

/** Maximum depth on the API server, which counts only some of the expressions around another. */
const deepestCounted = 250;

const uncounted: ReadonlySet<string> = new Set(['_&&_', '_||_', '!_', '-_']);

/**
 * Returns whether the API server counts an expression. It counts no global functions, lists, maps or logic operators.
 */
function isCounted(expression: Expression): boolean {
  const { type } = expression;
  if (type !== 'call') return ['select', 'comprehension', 'optionalMap'].includes(type);
  const { name, target } = expression;
  return target !== undefined || (/^[_@]/.test(name) && !uncounted.has(name));
}

/**
 * Rejects expressions that nest too deeply, such as a long chain of `+`.
 * @throws CelCompileError
 */
export function checkDepth(source: string, whole: Expression): void {
  const left: (readonly [expression: Expression, depth: number, counted: number])[] = [
    [whole, 1, 0],
  ];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [expression, depth, above] = next;
    const counted = isCounted(expression) ? above + 1 : above;
    if (depth > deepest || counted > deepestCounted) {
      throw new CelCompileError(source, [{ at: -1, message: 'max recursion depth exceeded' }]);
    }
    for (const child of childrenOf(expression)) left.push([child, depth + 1, counted]);
  }
}

/** A problem in an expression, and its offset in code points: -1 for the whole expression. */
export interface CelIssue {
  readonly at: number;
  readonly message: string;
}

/** An expression does not compile; the message has the API server's layout. */
export class CelCompileError extends Error {
  override readonly name = 'CelCompileError';
  /** The problems that the message shows, in source order. */
  readonly issues: readonly CelIssue[];

  /** @param issues - The problems, in the order in which they were found. */
  constructor(source: string, issues: readonly CelIssue[]) {
    const { shown, message } = reportOf(source, issues);
    super(message);
    this.issues = shown;
  }
}

/** A constant part of an expression always fails. */
export class CelConstantError extends Error {
  override readonly name = 'CelConstantError';
}

/** An error after which the parser or the expansion of a macro cannot continue. */
export class SyntaxIssue extends Error {
  readonly issue: CelIssue;

  constructor(issue: CelIssue) {
    super(issue.message);
    this.issue = issue;
  }
}

/** An expression exceeds a limit of the real parser, which reports only the syntax errors before that place. */
export class ParserLimit extends SyntaxIssue {
  /** The offset up to which the parser had read. */
  readonly until: number;

  constructor(issue: CelIssue, until: number) {
    super(issue);
    this.until = until;
  }
}
