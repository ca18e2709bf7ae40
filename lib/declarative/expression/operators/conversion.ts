import { type Compiled, failed, type OperatorDefinition, type Site } from '../compiled.js';
import { DataError } from '../data-error.js';
import { integer, list, map, number, type Operand, printable } from '../operands.js';
import { unary } from './define.js';
import { checkOperands, fold } from './arguments.js';

const truth: Operand<boolean> = {
  want: 'true, false, or one of them as a string',
  accepts: ['boolean', 'string'],
  read: (value, operation) => {
    if (value === true || value === 'true') return true;
    if (value === false || value === 'false') return false;
    throw new DataError(operation, `wants ${truth.want}`, value ?? null);
  },
};

/** The operators that convert a value to a type, or require a type. */
export const conversionOperators: readonly OperatorDefinition[] = [
  unary('@bool', { operand: truth, type: 'boolean' }, (value) => value),
  unary('@int', { operand: integer, type: 'number' }, (value) => value),
  unary('@float', { operand: number, type: 'number' }, (value) => value + 0),
  unary('@string', { operand: printable, type: 'string' }, (value) => value),
  whole('@list', list),
  whole('@dict', map),
];

/** Defines an operator whose argument is one value, even if it is a literal list or map. */
function whole<T>(name: string, operand: Operand<T>): OperatorDefinition {
  const compile = (argument: unknown, site: Site): Compiled => {
    const compiled = site.compiler.compile(argument, site.context);
    if (!checkOperands([{ compiled, below: [] }], () => operand, site)) return failed;
    const { evaluate } = compiled;
    return fold(
      (document, element) => operand.read(evaluate(document, element), site.name),
      [compiled],
      { site, type: operand.accepts[0] },
    );
  };
  return { name, compile };
}
