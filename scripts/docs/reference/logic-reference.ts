import type { OperatorGroup } from './operator-reference.js';

/** Conditions and choices. */
export const logicReference: OperatorGroup = {
  title: 'Conditions and choices',
  operators: [
    {
      name: '@and',
      forms: ['{"@and": [condition, …]}'],
      operands: { least: 1, most: Infinity },
      does: 'True if all conditions are true. The conditions after the first false one are not evaluated. A condition that is neither true nor false, such as null, is an error.',
      examples: [
        {
          expression: { '@and': [{ '@exists': '$.spec' }, { '@gt': ['$.spec.replicas', 1] }] },
          document: { spec: { replicas: 3 } },
          result: true,
        },
        {
          expression: { '@and': [{ '@exists': '$.spec' }, { '@gt': ['$.spec.replicas', 1] }] },
          document: {},
          result: false,
        },
      ],
    },
    {
      name: '@or',
      forms: ['{"@or": [condition, …]}'],
      operands: { least: 1, most: Infinity },
      does: 'True if at least one condition is true. The conditions after the first true one are not evaluated.',
      examples: [{ expression: { '@or': [false, true] }, result: true }],
    },
    {
      name: '@not',
      forms: ['{"@not": condition}'],
      operands: { least: 1, most: 1 },
      does: 'True if the condition is false, and false if it is true.',
      examples: [{ expression: { '@not': { '@eq': [1, 2] } }, result: true }],
    },
    {
      name: '@isnil',
      forms: ['{"@isnil": value}'],
      operands: { least: 1, most: 1 },
      does: 'True if the value is null or missing.',
      examples: [
        { expression: { '@isnil': '$.spec.paused' }, document: { spec: {} }, result: true },
      ],
    },
    {
      name: '@exists',
      aliases: ['@has'],
      forms: ['{"@exists": value}'],
      operands: { least: 1, most: 1 },
      does: 'True if the value exists and is not null.',
      examples: [
        {
          expression: { '@exists': "$.metadata.annotations['example.com/enabled']" },
          document: { metadata: { annotations: { 'example.com/enabled': '' } } },
          result: true,
        },
        { expression: { '@has': '$.spec' }, document: { spec: null }, result: false },
      ],
    },
    {
      name: '@cond',
      forms: ['{"@cond": [condition, then, else?]}'],
      operands: { least: 2, most: 3 },
      does: 'The second operand if the condition is true, otherwise the third, or null without a third. Only the returned operand is evaluated.',
      examples: [
        {
          expression: {
            '@cond': [{ '@gt': ['$.total', 0] }, { '@div': ['$.ready', '$.total'] }, 0],
          },
          document: { ready: 1, total: 0 },
          result: 0,
        },
        { expression: { '@cond': [false, 'yes'] }, result: null },
      ],
    },
    {
      name: '@switch',
      forms: ['{"@switch": [[condition, value], …]}'],
      operands: { least: 1, most: Infinity },
      does: 'The value of the first pair whose condition is true; later pairs are not evaluated. Null if no condition is true; for a default, end with a pair whose condition is `true`.',
      examples: [
        {
          expression: {
            '@switch': [
              [{ '@eq': ['$.env', 'prod'] }, 'high'],
              [{ '@eq': ['$.env', 'staging'] }, 'medium'],
              [true, 'low'],
            ],
          },
          document: { env: 'staging' },
          result: 'medium',
        },
      ],
    },
    {
      name: '@definedOr',
      forms: ['{"@definedOr": [value, …, default]}'],
      operands: { least: 2, most: Infinity },
      does: 'The first value that is not null; the values after it are not evaluated.',
      examples: [
        {
          expression: { '@definedOr': ['$.spec.image', '$.defaults.image', 'nginx'] },
          document: { defaults: { image: 'caddy' } },
          result: 'caddy',
        },
      ],
    },
    {
      name: '@noop',
      forms: ['{"@noop": value}'],
      operands: { least: 1, most: 1 },
      does: 'The value itself.',
      examples: [{ expression: { '@noop': '$.a' }, document: { a: 1 }, result: 1 }],
    },
  ],
};
