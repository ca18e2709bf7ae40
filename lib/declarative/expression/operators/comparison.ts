import { deepEqual } from '../../../object/deep-equal.js';
import { failed, type OperatorDefinition } from '../compiled.js';
import { anything, ordered } from '../operands.js';
import { compareValues } from '../compare-values.js';
import { binary } from './define.js';

/** The comparison operators: deep equality of any values, and order of numbers or texts. */
export const comparisonOperators: readonly OperatorDefinition[] = [
  equality('@eq', true),
  equality('@ne', false),
  order('@lt', (difference) => difference < 0),
  order('@lte', (difference) => difference <= 0),
  order('@gt', (difference) => difference > 0),
  order('@gte', (difference) => difference >= 0),
];

/** Null equals nothing, not even null: two objects that both lack a label have no label in common. */
function equality(name: string, equal: boolean): OperatorDefinition {
  const { compile } = binary(
    name,
    { operands: [anything, anything], type: 'boolean' },
    (left, right) => (!isNone(left) && !isNone(right) && deepEqual(left, right)) === equal,
  );
  return {
    name,
    compile: (argument, site) => {
      if (!Array.isArray(argument) || !argument.includes(null)) return compile(argument, site);
      const message = `${name}: null equals nothing; whether a value is null tells @isnil`;
      site.context.report({ message, suggestion: '@isnil' }, argument.indexOf(null));
      return failed;
    },
  };
}

function isNone(value: unknown): boolean {
  return value === null || value === undefined;
}

function order(name: string, holds: (difference: number) => boolean): OperatorDefinition {
  return binary(name, { operands: [ordered, ordered], type: 'boolean' }, (left, right, operation) =>
    holds(compareValues(left, right, operation)),
  );
}
