import { type Compiled, failed, type OperatorDefinition, type Site } from '../compiled.js';
import type { Expression } from '../expression.js';
import { anything, condition, type Operand } from '../operands.js';
import { checkOperands, compileOperands, evaluationsOf, fold, partsOf } from './arguments.js';
import { unary } from './define.js';

/** `@and`, `@or`, `@not`, and conditional values. All but `@not` and `@isnil` are lazy. */
export const logicOperators: readonly OperatorDefinition[] = [
  { name: '@and', compile: (argument, site) => compileJunction(argument, site, false) },
  { name: '@or', compile: (argument, site) => compileJunction(argument, site, true) },
  unary('@not', { operand: condition, type: 'boolean' }, (value) => !value),
  unary('@isnil', { operand: anything, type: 'boolean' }, isNil),
  unary('@exists', { operand: anything, type: 'boolean' }, (value) => !isNil(value)),
  unary('@has', { operand: anything, type: 'boolean' }, (value) => !isNil(value)),
  { name: '@cond', compile: compileCond },
  { name: '@switch', compile: compileSwitch },
  { name: '@definedOr', compile: compileDefinedOr },
  unary('@noop', { operand: anything }, (value) => value),
];

function isNil(value: unknown): boolean {
  return value === null || value === undefined;
}

/** @param decisive - the value that ends the evaluation: false for `@and`, true for `@or` */
function compileJunction(argument: unknown, site: Site, decisive: boolean): Compiled {
  const placed = compileOperands(argument, { least: 1, most: Infinity }, site);
  if (placed === undefined || !checkOperands(placed, () => condition, site)) return failed;
  const evaluations = evaluationsOf(placed);
  const run: Expression = (document, element) => {
    for (const evaluate of evaluations) {
      const value = condition.read(evaluate(document, element), site.name);
      if (value === decisive) return decisive;
    }
    return !decisive;
  };
  return fold(run, partsOf(placed), { site, type: 'boolean' });
}

function compileCond(argument: unknown, site: Site): Compiled {
  const placed = compileOperands(argument, { least: 2, most: 3 }, site);
  if (placed === undefined) return failed;
  const operandAt = (index: number): Operand<unknown> => (index === 0 ? condition : anything);
  if (!checkOperands(placed, operandAt, site)) return failed;
  const [test, then, otherwise] = evaluationsOf(placed);
  const run: Expression = (document, element) => {
    const chosen = condition.read(test?.(document, element), site.name) ? then : otherwise;
    return chosen?.(document, element) ?? null;
  };
  return fold(run, partsOf(placed), { site });
}

function compileSwitch(argument: unknown, site: Site): Compiled {
  const { name, context, compiler } = site;
  if (!Array.isArray(argument) || argument.length === 0) {
    context.report({ message: `${name} wants a list of [case, value]` });
    return failed;
  }
  const cases = argument.map((pair: unknown, index) => {
    if (Array.isArray(pair) && pair.length === 2) {
      const within = { name, compiler, context: context.at(index) };
      return compileOperands(pair, { least: 2, most: 2 }, within);
    }
    context.report({ message: `${name} wants a list of [case, value]` }, index);
    return undefined;
  });
  if (!cases.every((pair) => pair !== undefined)) return failed;
  const checked = cases.map((pair, index) =>
    checkOperands(pair, (at) => (at === 0 ? condition : anything), {
      ...site,
      context: context.at(index),
    }),
  );
  if (!checked.every(Boolean)) return failed;
  const pairs = cases.map(evaluationsOf);
  const run: Expression = (document, element) => {
    for (const [test, value] of pairs) {
      if (condition.read(test?.(document, element), name))
        return value?.(document, element) ?? null;
    }
    return null;
  };
  return fold(run, cases.flatMap(partsOf), { site });
}

function compileDefinedOr(argument: unknown, site: Site): Compiled {
  const placed = compileOperands(argument, { least: 2, most: Infinity }, site);
  if (placed === undefined || !checkOperands(placed, () => anything, site)) return failed;
  const evaluations = evaluationsOf(placed);
  const run: Expression = (document, element) => {
    for (const evaluate of evaluations) {
      const value = evaluate(document, element);
      if (!isNil(value)) return value;
    }
    return null;
  };
  return fold(run, partsOf(placed), { site });
}
