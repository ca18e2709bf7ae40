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
      does: 'The sum of numbers; 0 without any.',
      examples: [
        { expression: { '@add': ['$.replicas', 1] }, document: { replicas: 2 }, result: 3 },
      ],
    },
    {
      name: '@sum',
      forms: ['{"@sum": list}'],
      operands: whole,
      does: 'The same as `@add`, as one names it for a list.',
      examples: [
        { expression: { '@sum': '$.counts' }, document: { counts: [1, 2, 3] }, result: 6 },
      ],
    },
    {
      name: '@sub',
      forms: ['{"@sub": [number, number]}'],
      operands: pair,
      does: 'The first without the second.',
      examples: [{ expression: { '@sub': [10, 3] }, result: 7 }],
    },
    {
      name: '@mul',
      forms: ['{"@mul": [number, …]}'],
      operands: whole,
      does: 'The product of numbers; 1 without any.',
      examples: [{ expression: { '@mul': [2, 3, 4] }, result: 24 }],
    },
    {
      name: '@div',
      forms: ['{"@div": [number, number]}'],
      operands: pair,
      does: 'The first by the second, with a fraction. By 0 is an error. For a whole number use `@floor` or `@ceil` on it.',
      examples: [
        { expression: { '@div': [7, 2] }, result: 3.5 },
        { expression: { '@floor': { '@div': [7, 2] } }, result: 3 },
      ],
    },
    {
      name: '@mod',
      forms: ['{"@mod": [number, number]}'],
      operands: pair,
      does: 'What is left of the first when it is divided by the second; its sign is that of the first. By 0 is an error.',
      examples: [
        { expression: { '@mod': [7, 3] }, result: 1 },
        { expression: { '@mod': [-7, 3] }, result: -1 },
      ],
    },
    {
      name: '@abs',
      forms: ['{"@abs": number}'],
      operands: one,
      does: 'The number without its sign.',
      examples: [{ expression: { '@abs': -3 }, result: 3 }],
    },
    {
      name: '@ceil',
      forms: ['{"@ceil": number}'],
      operands: one,
      does: 'The next whole number that is not below.',
      examples: [{ expression: { '@ceil': 2.1 }, result: 3 }],
    },
    {
      name: '@floor',
      forms: ['{"@floor": number}'],
      operands: one,
      does: 'The next whole number that is not above.',
      examples: [{ expression: { '@floor': -2.1 }, result: -3 }],
    },
  ],
};
