import { deepFreeze } from '../../../object/deep-freeze.js';
import {
  type Compiled,
  constant,
  dynamic,
  failed,
  type Site,
  type ValueType,
} from '../compiled.js';
import { isDataError } from '../data-error.js';
import type { Expression } from '../expression.js';
import type { Operand } from '../operands.js';

/** Number of operands of an operator. */
export interface Arity {
  readonly least: number;
  /** `Infinity` for no limit. */
  readonly most: number;
  /** Whether the first operand is evaluated for each item of a list, with the item as `$$`. */
  readonly firstHasElement?: boolean;
}

/** An operand with its place below the operator's argument. */
export interface PlacedOperand {
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
    context.report({ message: `${name} ${wantedOperands(arity)}, not ${count}` });
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

/** Returns the operands without their places. */
export function partsOf(placed: readonly PlacedOperand[]): Compiled[] {
  return placed.map(({ compiled }) => compiled);
}

/** Returns the evaluations of the operands. */
export function evaluationsOf(placed: readonly PlacedOperand[]): Expression[] {
  return placed.map(({ compiled }) => compiled.evaluate);
}

/**
 * Makes a part from an operator's evaluation. If all operands are constant it is evaluated now: a failure now
 * would occur for every document.
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
      : `${operation}: wants ${operand.want}, not a ${type}`;
  }
  try {
    operand.read(evaluate({}), operation);
    return undefined;
  } catch (error) {
    return dataErrorMessage(error);
  }
}

/** Returns the message with its causes, which data errors omit from their message. */
function dataErrorMessage(error: unknown): string {
  if (!isDataError(error)) throw error;
  const { message, cause } = error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

function wantedOperands({ least, most }: Arity): string {
  if (least === most) return `wants ${operands(least)}`;
  return most === Infinity
    ? `wants ${operands(least)} or more`
    : `wants ${least} to ${operands(most)}`;
}

function operands(count: number): string {
  return count === 1 ? '1 operand' : `${count} operands`;
}
