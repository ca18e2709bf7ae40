import { isJsonObject } from '../../object/index.js';
import { nearestName } from '../../system/index.js';
import type { Document } from '../document.js';
import { compileCondition, compileExpression, guarded } from '../expression/compile-expression.js';
import type { ExpressionOptions, Expression } from '../expression/compiled.js';
import { list } from '../expression/operands.js';
import { compileContext } from '../spec-problem.js';
import type { CompileContext, SpecPath } from '../spec-problem.js';
import { canonicalText } from './z-set.js';
import { referencesOf } from './expression-references.js';
import type { DocumentStep } from './linear-node.js';

const operation = '@join';

interface JoinInput {
  /** The name of each source in the documents of the join. */
  readonly names: readonly string[];
  readonly context: CompileContext;
  readonly options: ExpressionOptions;
}

/** A part of a condition: the condition holds only if all parts hold. */
interface Conjunct {
  readonly expression: unknown;
  readonly context: CompileContext;
}

/** A side of an equality, and the text of its expression. Equalities with the same text share a side and its index. */
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
  // Report no problems of the parts: the compilation of the whole condition has reported them.
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

/** Reports names in the condition that are not sources: their values would always be null. */
function reportStrangers(source: unknown, names: readonly string[], context: CompileContext): void {
  for (const member of referencesOf(source).members) {
    if (names.includes(member)) continue;
    context.report({
      message: `unknown source $.${member}; want ${names.join(', ')}`,
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

/** Returns the operands if `expression` is `operator` with a list of operands. */
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
 * Returns the number of the source that an expression depends on; undefined if it depends on several sources or none.
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

/** A join condition on one source. */
export interface JoinCheck {
  /** Returns whether the condition is true for a document `{ [name]: object }`, with an object of each source. */
  readonly expression: (document: Document) => boolean;
  readonly path: SpecPath;
}

/** A side of an equality. */
export interface JoinSide {
  /** Returns the value to compare, from a document `{ [name]: object }`. */
  readonly expression: Expression;
  readonly path: SpecPath;
  /** Whether the side is the second operand of `@in`: a list of which one item must equal the other side. */
  readonly list: boolean;
  /** Whether null equals null on this side, as in `@in`. In `@eq`, null equals nothing. */
  readonly nullCounts: boolean;
}

export interface JoinSource {
  /** Name of the source, which is its member in the documents of the join. */
  readonly name: string;
  /**
   * Conditions on an object of this source alone: an object that violates one of them takes no part in the join. An
   * error in a check or a side is reported once, whether or not the object has join partners.
   */
  readonly checks: readonly JoinCheck[];
  readonly sides: readonly JoinSide[];
}

/** A `@join` stage, split into its parts. */
export interface JoinPlan {
  readonly path: SpecPath;
  /** The sources, in the order of the controller's specification. */
  readonly sources: readonly JoinSource[];
  readonly orders: JoinOrders;
  /** The rest of the condition after checks and equalities; undefined if nothing is left. */
  readonly rest: DocumentStep | undefined;
  /** The whole condition, for a document of the join. */
  readonly condition: (document: Document) => boolean;
}

/** One side of an equality: an expression over one source. */
interface SideOf {
  readonly source: number;
  /** Index of the expression among those of the same source, over all equalities of the condition. */
  readonly side: number;
}

/** An equality that a join condition requires between two different sources. */
export type Equality = readonly [SideOf, SideOf];

/** The look-up of a further source by values of the sources before it. */
export interface JoinStep {
  readonly source: number;
  /** The number of the index to use; undefined: no equality applies, so all objects are candidates. */
  readonly index: number | undefined;
  /** The sides that provide the look-up values: one for each side of the index. */
  readonly probes: readonly SideOf[];
  /** Number of steps after which all `probes` are known; 0: the object of the starting source is enough. */
  readonly readyAfter: number;
}

/** The look-up orders, for each starting source. */
interface JoinOrders {
  /** The steps for each starting source. */
  readonly steps: readonly (readonly JoinStep[])[];
  /** The indexes of each source: the numbers of the sides that are looked up together. */
  readonly indexes: readonly (readonly (readonly number[])[])[];
  /** The sources that no equality ties to the sources before them, if the search starts with the first source. */
  readonly untied: readonly number[];
}

/**
 * Plans for each source the order of the look-ups after a change in that source. The next source is always the one with
 * the most equalities to the sources before it. One index combines these equalities.
 */
export function planJoinOrders(sources: number, equalities: readonly Equality[]): JoinOrders {
  const indexes: number[][][] = Array.from({ length: sources }, () => []);
  const steps = indexes.map((_, start) => orderFrom(start, { equalities, indexes }));
  const untied = (steps[0] ?? []).filter(({ index }) => index === undefined);
  return { steps, indexes, untied: untied.map(({ source }) => source) };
}

interface Planning {
  readonly equalities: readonly Equality[];
  /** The planning adds indexes here. */
  readonly indexes: readonly number[][][];
}

function orderFrom(start: number, planning: Planning): JoinStep[] {
  const bound = [start];
  const steps: JoinStep[] = [];
  for (;;) {
    const step = nextStep(bound, planning);
    if (step === undefined) return steps;
    bound.push(step.source);
    steps.push(step);
  }
}

/** Returns how the join looks up the next source; undefined if `bound` already contains all sources. */
function nextStep(
  bound: readonly number[],
  { equalities, indexes }: Planning,
): JoinStep | undefined {
  let best: { readonly source: number; readonly ties: readonly Equality[] } | undefined;
  for (const source of indexes.keys()) {
    if (bound.includes(source)) continue;
    const ties = tiesTo(source, bound, equalities);
    if (best === undefined || ties.length > best.ties.length) best = { source, ties };
  }
  if (best === undefined) return undefined;
  const { source, ties } = best;
  const probes = ties.map(([, other]) => other);
  const readyAfter = Math.max(0, ...probes.map((probe) => bound.indexOf(probe.source)));
  const sides = ties.map(([own]) => own.side);
  const index = ties.length === 0 ? undefined : indexOf(sides, indexes[source] ?? []);
  return { source, index, probes, readyAfter };
}

/** Returns the equalities between `source` and the sources in `bound`, with the side of `source` first. */
function tiesTo(
  source: number,
  bound: readonly number[],
  equalities: readonly Equality[],
): Equality[] {
  return equalities.flatMap<Equality>(([left, right]) => {
    if (left.source === source && bound.includes(right.source)) return [[left, right]];
    if (right.source === source && bound.includes(left.source)) return [[right, left]];
    return [];
  });
}

/** Returns the number of the index over `sides`; creates a missing one. */
function indexOf(sides: readonly number[], indexes: number[][]): number {
  const known = indexes.findIndex((index) => index.join() === sides.join());
  return known === -1 ? indexes.push([...sides]) - 1 : known;
}
