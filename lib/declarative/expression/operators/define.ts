import {
  type Compiled,
  failed,
  type OperatorDefinition,
  type Site,
  type ValueType,
} from '../compiled.js';
import { DataError } from '../data-error.js';
import type { Expression } from '../expression.js';
import { list, type Operand } from '../operands.js';
import { checkOperands, compileOperands, fold } from './arguments.js';

/** An operator of one operand, which may stand alone or in a list. */
export function unary<T>(
  name: string,
  { operand, type }: { readonly operand: Operand<T>; readonly type?: ValueType },
  apply: (value: T, operation: string) => unknown,
): OperatorDefinition {
  const compile = (argument: unknown, site: Site): Compiled => {
    const placed = compileOperands(argument, { least: 1, most: 1 }, site);
    const [first] = placed ?? [];
    if (placed === undefined || first === undefined) return failed;
    if (!checkOperands(placed, () => operand, site)) return failed;
    const { evaluate } = first.compiled;
    const { read } = operand;
    return fold(
      (document, element) => apply(read(evaluate(document, element), site.name), site.name),
      [first.compiled],
      { site, type },
    );
  };
  return { name, compile };
}

/** An operator of two operands in a list. An expression may give that list. */
export function binary<A, B>(
  name: string,
  settings: {
    readonly operands: readonly [Operand<A>, Operand<B>];
    readonly type?: ValueType;
  },
  apply: (left: A, right: B, operation: string) => unknown,
): OperatorDefinition {
  const [leftOperand, rightOperand] = settings.operands;
  return nary(name, settings, (values, operation) =>
    apply(
      leftOperand.read(values[0], operation),
      rightOperand.read(values[1], operation),
      operation,
    ),
  );
}

/**
 * An operator of as many operands as are given, in a list. An expression may give that list.
 * @param apply - gets the operands as they were evaluated, unread
 */
export function nary(
  name: string,
  settings: { readonly operands: readonly Operand<unknown>[]; readonly type?: ValueType },
  apply: (values: readonly unknown[], operation: string) => unknown,
): OperatorDefinition {
  const { operands, type } = settings;
  const compile = (argument: unknown, site: Site): Compiled => {
    if (mayGiveList(argument)) return operandsAtRun(argument, { ...settings, apply }, site);
    const arity = { least: operands.length, most: operands.length };
    const placed = compileOperands(argument, arity, site);
    if (placed === undefined) return failed;
    if (!checkOperands(placed, (index) => operands[index], site)) return failed;
    const parts = placed.map(({ compiled }) => compiled);
    const evaluations = parts.map(({ evaluate }) => evaluate);
    return fold(
      (document, element) =>
        apply(
          evaluations.map((evaluate) => evaluate(document, element)),
          site.name,
        ),
      parts,
      { site, type },
    );
  };
  return { name, compile };
}

/**
 * An operator on a list. The list may be written out, be given by an expression, or be the only
 * item of a list that is written out: `["$.a"]` is the list at `$.a`.
 */
export function onList(
  name: string,
  { item, type }: { readonly item: Operand<unknown>; readonly type?: ValueType },
  apply: (items: readonly unknown[], operation: string) => unknown,
): OperatorDefinition {
  const compile = (argument: unknown, site: Site): Compiled => {
    const placed = compileOperands(argument, { least: 0, most: Infinity }, site);
    if (placed === undefined) return failed;
    const [only] = placed;
    if (placed.length === 1 && only !== undefined) {
      return onListOrItem(
        only.compiled,
        { item, type, apply, alone: !Array.isArray(argument) },
        site,
      );
    }
    if (!checkOperands(placed, () => item, site)) return failed;
    const parts = placed.map(({ compiled }) => compiled);
    const evaluations = parts.map(({ evaluate }) => evaluate);
    return fold(
      (document, element) =>
        apply(
          evaluations.map((evaluate) => evaluate(document, element)),
          site.name,
        ),
      parts,
      { site, type },
    );
  };
  return { name, compile };
}

interface ListOrItem {
  readonly item: Operand<unknown>;
  readonly type: ValueType | undefined;
  readonly apply: (items: readonly unknown[], operation: string) => unknown;
  /** Whether the operand is not in a list: then it must be one. */
  readonly alone: boolean;
}

function onListOrItem(operand: Compiled, settings: ListOrItem, site: Site): Compiled {
  const { item, type, apply, alone } = settings;
  const accepted: Operand<unknown> = alone
    ? list
    : { ...item, accepts: [...item.accepts, 'list'], read: (value) => value };
  if (!checkOperands([{ compiled: operand, below: alone ? [] : [0] }], () => accepted, site)) {
    return failed;
  }
  const { evaluate } = operand;
  const run: Expression = (document, element) => {
    const value = evaluate(document, element);
    if (alone) return apply(list.read(value, site.name), site.name);
    return apply(Array.isArray(value) ? value : [value], site.name);
  };
  return fold(run, [operand], { site, type });
}

/** Whether an argument may be evaluated to the list of the operands. */
function mayGiveList(argument: unknown): boolean {
  if (typeof argument === 'string') return argument.startsWith('$');
  return typeof argument === 'object' && argument !== null && !Array.isArray(argument);
}

interface OperandsAtRun {
  readonly operands: readonly Operand<unknown>[];
  readonly type?: ValueType | undefined;
  readonly apply: (values: readonly unknown[], operation: string) => unknown;
}

function operandsAtRun(
  argument: unknown,
  { operands, type, apply }: OperandsAtRun,
  site: Site,
): Compiled {
  const compiled = site.compiler.compile(argument, site.context);
  if (!checkOperands([{ compiled, below: [] }], () => list, site)) return failed;
  const run: Expression = (document, element) => {
    const values = list.read(compiled.evaluate(document, element), site.name);
    if (values.length !== operands.length) {
      throw new DataError(site.name, `wants a list of ${operands.length}`, values);
    }
    return apply(values, site.name);
  };
  return fold(run, [compiled], { site, type });
}
