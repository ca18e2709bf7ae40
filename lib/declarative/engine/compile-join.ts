import { isJsonObject } from '../../object/json.js';
import type { Document } from '../document.js';
import { compileCondition, compileExpression, guarded } from '../expression/compile-expression.js';
import type { ExpressionOptions } from '../expression/expression-options.js';
import type { Expression } from '../expression/expression.js';
import { list } from '../expression/operands.js';
import { nearestName } from '../../system/known-options.js';
import { compileContext } from '../spec-problem.js';
import type { CompileContext } from '../spec-problem.js';
import { canonicalText } from './document-key.js';
import { referencesOf } from './expression-references.js';
import { planJoinOrders } from './join-orders.js';
import type { Equality } from './join-orders.js';
import type { JoinCheck, JoinPlan, JoinSide } from './join-plan.js';
import type { DocumentStep } from './linear-node.js';

const operation = '@join';

/** Options of `compileJoin`. */
export interface JoinInput {
  /** The name of each source in the documents of the join. */
  readonly names: readonly string[];
  /** The context of the condition. */
  readonly context: CompileContext;
  readonly options: ExpressionOptions;
}

/** A part of a condition: the condition holds only if all parts hold. */
interface Conjunct {
  readonly expression: unknown;
  readonly context: CompileContext;
}

/** A side and its source text: several equalities may share a side and its index. */
interface WrittenSide extends JoinSide {
  readonly text: string;
}

interface Sorted {
  readonly checks: JoinCheck[][];
  readonly sides: WrittenSide[][];
  readonly equalities: Equality[];
  readonly rest: Conjunct[];
}

/**
 * Compiles a join condition and splits it into conditions on a single source, equalities between two sources
 * (looked up in indexes), and the rest. A combination for which any part is false or fails is not in the
 * result, so the order of the parts does not matter.
 */
export function compileJoin(source: unknown, { names, context, options }: JoinInput): JoinPlan {
  reportStrangers(source, names, context);
  const condition = compileCondition(source, context, { ...options, operation });
  // Compile the parts quietly: the whole condition has already reported their problems.
  const quiet = compileContext([], context.path);
  const input = { names, context: quiet, options };
  const sorted = sortConjuncts(conjunctsOf({ expression: source, context: quiet }), input);
  return {
    path: context.path,
    sources: names.map((name, number) => ({
      name,
      checks: sorted.checks[number] ?? [],
      sides: sorted.sides[number] ?? [],
    })),
    orders: planJoinOrders(names.length, sorted.equalities),
    rest: sorted.rest.length === 0 ? undefined : restStep(sorted.rest, input),
    condition,
  };
}

/** Reports unknown sources in the condition: they would always be null. */
function reportStrangers(source: unknown, names: readonly string[], context: CompileContext): void {
  for (const member of referencesOf(source).members) {
    if (names.includes(member)) continue;
    context.report({
      message: `$.${member} is no source of this controller; they are ${names.join(', ')}`,
      suggestion: nearestName(member, names),
    });
  }
}

/** Returns the parts of an `@and`, including nested ones. */
function conjunctsOf({ expression, context }: Conjunct): Conjunct[] {
  const parts = isJsonObject(expression) ? operandsOf(expression, '@and') : undefined;
  if (parts === undefined) return [{ expression, context }];
  return parts.flatMap((part, place) =>
    conjunctsOf({ expression: part, context: context.at('@and', place) }),
  );
}

/** Returns the operands if `expression` is this operator with a list. */
function operandsOf(
  expression: Readonly<Record<string, unknown>>,
  operator: string,
): readonly unknown[] | undefined {
  const [name, ...more] = Object.keys(expression);
  if (name !== operator || more.length > 0) return undefined;
  const operands = expression[operator];
  return Array.isArray(operands) ? operands : undefined;
}

function sortConjuncts(conjuncts: readonly Conjunct[], input: JoinInput): Sorted {
  const { names, options } = input;
  const sorted: Sorted = {
    checks: names.map(() => []),
    sides: names.map(() => []),
    equalities: [],
    rest: [],
  };
  for (const conjunct of conjuncts) {
    const { expression, context } = conjunct;
    const source = onlySourceOf(expression, names);
    if (source !== undefined) {
      const compiled = compileCondition(expression, context, { ...options, operation });
      sorted.checks[source]?.push({ expression: compiled, path: context.path });
    } else if (!addEquality(conjunct, sorted, input)) {
      sorted.rest.push(conjunct);
    }
  }
  return sorted;
}

/**
 * Returns the number of the only source that an expression depends on; undefined if it is not exactly one.
 */
function onlySourceOf(expression: unknown, names: readonly string[]): number | undefined {
  const { members, whole, volatile } = referencesOf(expression);
  const [member, ...more] = members;
  if (whole || volatile || member === undefined || more.length > 0) return undefined;
  const number = names.indexOf(member);
  return number < 0 ? undefined : number;
}

/** Adds an equality for `@eq` of two sources, or `@in` of one source and a list of another. */
function addEquality(
  { expression, context }: Conjunct,
  sorted: Sorted,
  { names, options }: JoinInput,
): boolean {
  if (!isJsonObject(expression)) return false;
  const eq = operandsOf(expression, '@eq');
  const name = eq === undefined ? '@in' : '@eq';
  const operands = eq ?? operandsOf(expression, '@in');
  if (operands?.length !== 2) return false;
  const [left, right] = operands.map((operand) => onlySourceOf(operand, names));
  if (left === undefined || right === undefined || left === right) return false;
  const add = (source: number, place: number, isList: boolean) => {
    const sides = sorted.sides[source] ?? [];
    const text = canonicalText(operands[place]);
    const nullCounts = name === '@in';
    const known = sides.findIndex(
      (side) => side.text === text && side.list === isList && side.nullCounts === nullCounts,
    );
    if (known >= 0) return { source, side: known };
    const at = context.at(name, place);
    const value = compileExpression(operands[place], at, options);
    const expression = isList ? listOf(value, options) : value;
    const side = { expression, path: at.path, list: isList, nullCounts, text };
    return { source, side: sides.push(side) - 1 };
  };
  sorted.equalities.push([add(left, 0, false), add(right, 1, name === '@in')]);
  return true;
}

function listOf(value: Expression, options: ExpressionOptions): Expression {
  return guarded((document: Document) => list.read(value(document), '@in'), options);
}

function restStep(rest: readonly Conjunct[], { context, options }: JoinInput): DocumentStep {
  const source = { '@and': rest.map(({ expression }) => expression) };
  const holds = compileCondition(source, context, { ...options, operation });
  return {
    stage: operation,
    path: context.path,
    volatile: referencesOf(source).volatile,
    apply: (document) => (holds(document) ? [document] : []),
  };
}
