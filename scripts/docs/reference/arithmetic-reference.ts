import type { OperatorGroup } from './operator-reference.js';

const pair = { least: 2, most: 2 };
const one = { least: 1, most: 1 };
const whole = { least: 0, most: Infinity };

/** Arithmetic. */
export const arithmeticReference: OperatorGroup = {
  title: 'Arithmetic',
  operators: [
    {
      name: '@add',
      forms: ['{"@add": [number, …]}'],
      operands: whole,
      does: 'The sum of the numbers; 0 without any number.',
      examples: [
        { expression: { '@add': ['$.replicas', 1] }, document: { replicas: 2 }, result: 3 },
      ],
    },
    {
      name: '@sum',
      forms: ['{"@sum": list}'],
      operands: whole,
      does: 'The same as `@add`; the name suits a single list.',
      examples: [
        { expression: { '@sum': '$.counts' }, document: { counts: [1, 2, 3] }, result: 6 },
      ],
    },
    {
      name: '@sub',
      forms: ['{"@sub": [number, number]}'],
      operands: pair,
      does: 'The first number minus the second.',
      examples: [{ expression: { '@sub': [10, 3] }, result: 7 }],
    },
    {
      name: '@mul',
      forms: ['{"@mul": [number, …]}'],
      operands: whole,
      does: 'The product of the numbers; 1 without any number.',
      examples: [{ expression: { '@mul': [2, 3, 4] }, result: 24 }],
    },
    {
      name: '@div',
      forms: ['{"@div": [number, number]}'],
      operands: pair,
      does: 'The first number divided by the second, as a fraction. Division by 0 is an error. For a whole number, apply `@floor` or `@ceil` to the result.',
      examples: [
        { expression: { '@div': [7, 2] }, result: 3.5 },
        { expression: { '@floor': { '@div': [7, 2] } }, result: 3 },
      ],
    },
    {
      name: '@mod',
      forms: ['{"@mod": [number, number]}'],
      operands: pair,
      does: 'The remainder of the first number divided by the second, with the sign of the first. Division by 0 is an error.',
      examples: [
        { expression: { '@mod': [7, 3] }, result: 1 },
        { expression: { '@mod': [-7, 3] }, result: -1 },
      ],
    },
    {
      name: '@abs',
      forms: ['{"@abs": number}'],
      operands: one,
      does: 'The absolute value of the number.',
      examples: [{ expression: { '@abs': -3 }, result: 3 }],
    },
    {
      name: '@ceil',
      forms: ['{"@ceil": number}'],
      operands: one,
      does: 'The smallest whole number that is greater than or equal to the number.',
      examples: [{ expression: { '@ceil': 2.1 }, result: 3 }],
    },
    {
      name: '@floor',
      forms: ['{"@floor": number}'],
      operands: one,
      does: 'The largest whole number that is less than or equal to the number.',
      examples: [{ expression: { '@floor': -2.1 }, result: -3 }],
    },
  ],
};
