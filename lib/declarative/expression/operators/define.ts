import { deepFreeze } from '../../../object/index.js';
import { constant, dynamic, failed } from '../compiled.js';
import type { Compiled, Expression, OperatorDefinition, Site, ValueType } from '../compiled.js';
import { DataError, isDataError, list } from '../operands.js';
import type { Operand } from '../operands.js';

/** Calculates the result from evaluated operands that are not yet validated. */
type Apply = (values: readonly unknown[], operation: string) => unknown;

/** Defines an operator of one operand, alone or in a list. */
export function unary<T>(
  name: string,
  { operand, type }: { readonly operand: Operand<T>; readonly type?: ValueType },
  apply: (value: T, operation: string) => unknown,
): OperatorDefinition {
  const { read } = operand;
  const compile = (argument: unknown, site: Site): Compiled => {
    const placed = compileOperands(argument, { least: 1, most: 1 }, site);
    const [first] = placed ?? [];
    if (placed === undefined || first === undefined) return failed;
    if (!checkOperands(placed, () => operand, site)) return failed;
    const { evaluate } = first.compiled;
    const run: Expression = (document, element) =>
      apply(read(evaluate(document, element), site.name), site.name);
    return fold(run, [first.compiled], { site, type });
  };
  return { name, compile };
}

/** Defines an operator of two operands in a list. An expression may yield that list. */
export function binary<A, B>(
  name: string,
  settings: { readonly operands: readonly [Operand<A>, Operand<B>]; readonly type?: ValueType },
  apply: (left: A, right: B, operation: string) => unknown,
): OperatorDefinition {
  const [{ read: readLeft }, { read: readRight }] = settings.operands;
  const applyTo = (left: unknown, right: unknown, operation: string): unknown =>
    apply(readLeft(left, operation), readRight(right, operation), operation);
  // Pass the two operands directly: most evaluations are binary, and a list for each would cost time.
  const chain = ([left, right]: readonly Expression[], operation: string): Expression =>
    left === undefined || right === undefined
      ? () => null
      : (document, element) =>
          applyTo(left(document, element), right(document, element), operation);
  const { operands, type } = settings;
  return fixed(name, {
    operands,
    type,
    apply: (values, operation) => applyTo(values[0], values[1], operation),
    chain,
  });
}

/** Defines an operator of a fixed number of operands. */
export function nary<T>(
  name: string,
  settings: { readonly operands: readonly Operand<T>[]; readonly type?: ValueType },
  apply: (values: readonly T[], operation: string) => unknown,
): OperatorDefinition {
  const { operands, type } = settings;
  const applyTo: Apply = (values, operation) =>
    apply(
      operands.map(({ read }, index) => read(values[index], operation)),
      operation,
    );
  return fixed(name, { operands, type, apply: applyTo, chain: listed(applyTo) });
}

/**
 * Defines an operator on a list. The list may be a literal, the result of an expression, or the only item of
 * a literal list: `["$.a"]` is the list at `$.a`.
 */
export function onList(
  name: string,
  { item, type }: { readonly item: Operand<unknown>; readonly type?: ValueType },
  apply: Apply,
): OperatorDefinition {
  const compile = (argument: unknown, site: Site): Compiled => {
    const placed = compileOperands(argument, { least: 0, most: Infinity }, site);
    if (placed === undefined) return failed;
    const [only] = placed;
    if (!Array.isArray(argument)) return onOperand(placed, { operand: list, type, apply }, site);
    if (placed.length === 1 && only !== undefined) {
      return onOperand(placed, { operand: listOr(item), type, apply }, site);
    }
    if (!checkOperands(placed, () => item, site)) return failed;
    const parts = partsOf(placed);
    return fold(listed(apply)(evaluationsOf(placed), site.name), parts, { site, type });
  };
  return { name, compile };
}

interface Fixed {
  readonly operands: readonly Operand<unknown>[];
  readonly type: ValueType | undefined;
  readonly apply: Apply;
  /** Combines the compiled operands to one function. */
  readonly chain: (evaluations: readonly Expression[], operation: string) => Expression;
}

function fixed(name: string, settings: Fixed): OperatorDefinition {
  const { operands, type, chain } = settings;
  const arity = { least: operands.length, most: operands.length };
  const compile = (argument: unknown, site: Site): Compiled => {
    if (mayGiveList(argument)) return onListOfOperands(argument, settings, site);
    const placed = compileOperands(argument, arity, site);
    if (placed === undefined) return failed;
    if (!checkOperands(placed, (index) => operands[index], site)) return failed;
    const parts = partsOf(placed);
    return fold(chain(evaluationsOf(placed), site.name), parts, { site, type });
  };
  return { name, compile };
}

/** Whether an argument may evaluate to the list of the operands. */
function mayGiveList(argument: unknown): boolean {
  if (typeof argument === 'string') return argument.startsWith('$');
  return typeof argument === 'object' && argument !== null && !Array.isArray(argument);
}

function onListOfOperands(
  argument: unknown,
  { operands, type, apply }: Fixed,
  site: Site,
): Compiled {
  const compiled = site.compiler.compile(argument, site.context);
  const applyTo: Apply = (values, operation) => {
    if (values.length === operands.length) return apply(values, operation);
    throw new DataError(operation, `want a list of ${operands.length}`, values);
  };
  return onOperand([{ compiled, below: [] }], { operand: list, type, apply: applyTo }, site);
}

interface OnOperand {
  readonly operand: Operand<readonly unknown[]>;
  readonly type: ValueType | undefined;
  readonly apply: Apply;
}

/** Compiles an operator whose only operand is a list. */
function onOperand(
  placed: readonly PlacedOperand[],
  { operand, type, apply }: OnOperand,
  site: Site,
): Compiled {
  const parts = partsOf(placed);
  const [evaluate] = evaluationsOf(placed);
  if (evaluate === undefined || !checkOperands(placed, () => operand, site)) return failed;
  const run: Expression = (document, element) =>
    apply(operand.read(evaluate(document, element), site.name), site.name);
  return fold(run, parts, { site, type });
}

/** Reads a list; any other value counts as a list of one item. */
function listOr(item: Operand<unknown>): Operand<readonly unknown[]> {
  return {
    want: item.want,
    accepts: [...item.accepts, 'list'],
    read: (value, operation) =>
      Array.isArray(value) ? (value as unknown[]) : [item.read(value, operation)],
  };
}

function listed(apply: Apply): Fixed['chain'] {
  return (evaluations, operation) => (document, element) =>
    apply(
      evaluations.map((evaluate) => evaluate(document, element)),
      operation,
    );
}

/** Number of operands of an operator. */
interface Arity {
  readonly least: number;
  /** `Infinity` for no limit. */
  readonly most: number;
  /** Whether the first operand is evaluated for each item of a list, with the item as `$$`. */
  readonly firstHasElement?: boolean;
}

/** An operand with its place below the operator's argument. */
interface PlacedOperand {
  readonly compiled: Compiled;
  readonly below: readonly number[];
}

/**
 * Compiles the operands of an operator. An argument that is not a list is the only operand. undefined: a
 * problem was reported.
 */
export function compileOperands(
  argument: unknown,
  arity: Arity,
  { name, compiler, context }: Site,
): PlacedOperand[] | undefined {
  const { least, most, firstHasElement = false } = arity;
  const count = Array.isArray(argument) ? argument.length : 1;
  if (count < least || count > most) {
    context.report({ message: `${name}: ${wantedOperands(arity)}, got ${count}` });
    return undefined;
  }
  if (!Array.isArray(argument)) {
    return [{ compiled: compiler.compile(argument, context), below: [] }];
  }
  return argument.map((item, index) => {
    const itemCompiler = firstHasElement && index === 0 ? compiler.withElement : compiler;
    return { compiled: itemCompiler.compile(item, context.at(index)), below: [index] };
  });
}

/** Reports the operands that cannot fit; returns whether all may fit. */
export function checkOperands(
  placed: readonly PlacedOperand[],
  operandAt: (index: number) => Operand<unknown> | undefined,
  { name, context }: Site,
): boolean {
  let fit = true;
  for (const [index, { compiled, below }] of placed.entries()) {
    const operand = operandAt(index);
    const message =
      compiled.failed || operand === undefined ? undefined : misfitOf(compiled, operand, name);
    if (message !== undefined) context.report({ message }, ...below);
    fit &&= message === undefined && !compiled.failed;
  }
  return fit;
}

export function partsOf(placed: readonly PlacedOperand[]): Compiled[] {
  return placed.map(({ compiled }) => compiled);
}

export function evaluationsOf(placed: readonly PlacedOperand[]): Expression[] {
  return placed.map(({ compiled }) => compiled.evaluate);
}

/**
 * Makes a compiled part from the evaluation of an operator. If all operands are constant, the operator is evaluated
 * now: an error would occur for every document too.
 */
export function fold(
  evaluate: Expression,
  parts: readonly Compiled[],
  { site, type }: { readonly site: Site; readonly type?: ValueType | undefined },
): Compiled {
  if (parts.some((part) => part.failed)) return failed;
  if (!parts.every((part) => part.constant)) return dynamic(evaluate, type);
  try {
    return constant(deepFreeze(evaluate({})));
  } catch (error) {
    site.context.report({ message: dataErrorMessage(error) });
    return failed;
  }
}

/** Returns why an operand cannot fit any document; undefined if it may fit. */
function misfitOf(
  { constant: known, type, evaluate }: Compiled,
  operand: Operand<unknown>,
  operation: string,
): string | undefined {
  if (!known) {
    return type === undefined || operand.accepts.includes(type)
      ? undefined
      : `${operation}: want ${operand.want}, got a ${type}`;
  }
  try {
    operand.read(evaluate({}), operation);
    return undefined;
  } catch (error) {
    return dataErrorMessage(error);
  }
}

/** Returns the message of an error with the causes, which the message of a data error omits. */
function dataErrorMessage(error: unknown): string {
  if (!isDataError(error)) throw error;
  const { message, cause } = error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

function wantedOperands({ least, most }: Arity): string {
  if (least === most) return `want ${operands(least)}`;
  return most === Infinity
    ? `want ${operands(least)} or more`
    : `want ${least} to ${operands(most)}`;
}

function operands(count: number): string {
  return count === 1 ? '1 operand' : `${count} operands`;
}
