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

/** How many operands an operator takes. */
export interface Arity {
  readonly least: number;
  /** `Infinity`: as many as one likes. */
  readonly most: number;
}

/** An operand, and where it stands below the operator's argument. */
export interface PlacedOperand {
  readonly compiled: Compiled;
  readonly below: readonly number[];
}

/**
 * Compiles the operands of an operator whose argument is a list of them; an argument that is no
 * list is the only operand. Undefined: a problem was reported.
 */
export function compileOperands(
  argument: unknown,
  { least, most }: Arity,
  site: Site,
): PlacedOperand[] | undefined {
  const { name, compiler, context } = site;
  const count = Array.isArray(argument) ? argument.length : 1;
  if (count < least || count > most) {
    context.report({ message: `${name} ${wantedOperands({ least, most })}, not ${count}` });
    return undefined;
  }
  if (!Array.isArray(argument)) {
    return [{ compiled: compiler.compile(argument, context), below: [] }];
  }
  return argument.map((item, index) => ({
    compiled: compiler.compile(item, context.at(index)),
    below: [index],
  }));
}

/** Reports the operands that are known not to fit; tells whether all may. */
export function checkOperands(
  placed: readonly PlacedOperand[],
  operandAt: (index: number) => Operand<unknown> | undefined,
  site: Site,
): boolean {
  const fitting = placed.map(({ compiled, below }, index) => {
    const operand = operandAt(index);
    if (compiled.failed) return false;
    const problem = operand === undefined ? undefined : misfitOf(compiled, operand, site.name);
    if (problem === undefined) return true;
    site.context.report({ message: problem }, ...below);
    return false;
  });
  return fitting.every(Boolean);
}

/**
 * Makes an operator of its evaluation. When all its parts are constant, it is evaluated now: what
 * fails now would fail with every document.
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
    if (!isDataError(error)) throw error;
    site.context.report({ message: error.message });
    return failed;
  }
}

function misfitOf(
  compiled: Compiled,
  operand: Operand<unknown>,
  operation: string,
): string | undefined {
  if (compiled.type !== undefined && !operand.accepts.includes(compiled.type)) {
    if (!compiled.constant) return `${operation}: wants ${operand.want}, got a ${compiled.type}`;
  }
  if (!compiled.constant) return undefined;
  try {
    operand.read(compiled.evaluate({}), operation);
    return undefined;
  } catch (error) {
    if (!isDataError(error)) throw error;
    return error.message;
  }
}

function wantedOperands({ least, most }: Arity): string {
  if (least === most) return `wants ${operands(least)}`;
  if (most === Infinity) return `wants ${operands(least)} or more`;
  return `wants ${least} to ${operands(most)}`;
}

function operands(count: number): string {
  return count === 1 ? '1 operand' : `${count} operands`;
}
