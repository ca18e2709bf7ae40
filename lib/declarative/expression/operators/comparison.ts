import { deepEqual } from '../../../object/deep-equal.js';
import type { OperatorDefinition } from '../compiled.js';
import { anything, ordered } from '../operands.js';
import { compareValues } from '../compare-values.js';
import { binary } from './define.js';

/** Equality, deep, of anything; order, of numbers or of texts. */
export const comparisonOperators: readonly OperatorDefinition[] = [
  equality('@eq', true),
  equality('@ne', false),
  order('@lt', (difference) => difference < 0),
  order('@lte', (difference) => difference <= 0),
  order('@gt', (difference) => difference > 0),
  order('@gte', (difference) => difference >= 0),
];

function equality(name: string, equal: boolean): OperatorDefinition {
  return binary(
    name,
    { operands: [anything, anything], type: 'boolean' },
    (left, right) => deepEqual(left ?? null, right ?? null) === equal,
  );
}

function order(name: string, holds: (difference: number) => boolean): OperatorDefinition {
  return binary(name, { operands: [ordered, ordered], type: 'boolean' }, (left, right, operation) =>
    holds(compareValues(left, right, operation)),
  );
}
