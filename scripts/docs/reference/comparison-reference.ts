import type { OperatorGroup, OperatorReference } from './operator-reference.js';

const pair = { least: 2, most: 2 };

/** Comparisons. */
export const comparisonReference: OperatorGroup = {
  title: 'Comparison',
  operators: [
    {
      name: '@eq',
      forms: ['{"@eq": [value, value]}'],
      operands: pair,
      does: 'True if both values are deeply equal; the order of members does not count. A number never equals a string. Null equals nothing, not even null, and a missing value is null: test for it with `@isnil`.',
      examples: [
        {
          expression: {
            '@eq': [
              { a: 1, b: [2] },
              { b: [2], a: 1 },
            ],
          },
          result: true,
        },
        { expression: { '@eq': [1, '1'] }, result: false },
        { expression: { '@eq': ['$.missing', '$.missing'] }, result: false },
      ],
    },
    {
      name: '@ne',
      forms: ['{"@ne": [value, value]}'],
      operands: pair,
      does: 'The opposite of `@eq`.',
      examples: [{ expression: { '@ne': ['a', 'b'] }, result: true }],
    },
    order('@lt', 'is less than the second', { expression: { '@lt': [2, 10] }, result: true }),
    order('@lte', 'is less than or equal to the second', {
      expression: { '@lte': [2, 2] },
      result: true,
    }),
    order('@gt', 'is greater than the second', {
      expression: { '@gt': ['2026-02-01T00:00:00Z', '2026-01-31T23:59:59Z'] },
      result: true,
    }),
    order('@gte', 'is greater than or equal to the second', {
      expression: { '@gte': ['10', 9] },
      result: true,
    }),
  ],
};

function order(
  name: string,
  holds: string,
  example: OperatorReference['examples'][number],
): OperatorReference {
  return {
    name,
    forms: [`{"${name}": [value, value]}`],
    operands: pair,
    does: `True if the first value ${holds}. Numbers, and strings that contain numbers, are compared as numbers; two other strings are compared by their characters, which also orders RFC 3339 times in UTC. Any other value, including null, is an error.`,
    examples: [example],
  };
}
