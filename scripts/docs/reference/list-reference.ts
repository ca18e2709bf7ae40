import type { OperatorGroup } from './operator-reference.js';

const pods = [
  { name: 'a', ready: true },
  { name: 'b', ready: false },
];
const each = { least: 2, most: 2 };
const whole = { least: 0, most: Infinity };
const one = { least: 1, most: 1 };

/** Lists and maps. */
export const listReference: OperatorGroup = {
  title: 'Lists and maps',
  operators: [
    {
      name: '@map',
      forms: ['{"@map": [expression, list]}'],
      operands: each,
      does: 'The list of what the expression is for each item, which is `$$` in it; `$` stays the document.',
      examples: [
        {
          expression: { '@map': [{ '@concat': ['$.namespace', '/', '$$.name'] }, '$.pods'] },
          document: { namespace: 'web', pods },
          result: ['web/a', 'web/b'],
        },
      ],
    },
    {
      name: '@filter',
      forms: ['{"@filter": [condition, list]}'],
      operands: each,
      does: 'The items for which the condition is true.',
      examples: [
        {
          expression: { '@filter': ['$$.ready', '$.pods'] },
          document: { pods },
          result: [pods[0]],
        },
      ],
    },
    {
      name: '@any',
      forms: ['{"@any": [condition, list]}'],
      operands: each,
      does: 'True when the condition is for one of the items; items after it are not looked at. False for an empty list.',
      examples: [
        { expression: { '@any': ['$$.ready', '$.pods'] }, document: { pods }, result: true },
      ],
    },
    {
      name: '@all',
      forms: ['{"@all": [condition, list]}'],
      operands: each,
      does: 'True when the condition is for every item. True for an empty list.',
      examples: [
        { expression: { '@all': ['$$.ready', '$.pods'] }, document: { pods }, result: false },
      ],
    },
    {
      name: '@none',
      forms: ['{"@none": [condition, list]}'],
      operands: each,
      does: 'True when the condition is for no item. True for an empty list.',
      examples: [{ expression: { '@none': [{ '@gt': ['$$', 5] }, [1, 2]] }, result: true }],
    },
    {
      name: '@in',
      forms: ['{"@in": [value, list]}'],
      operands: each,
      does: 'True when an item equals the value, all the way down as in `@eq`. Unlike there, null equals null.',
      examples: [
        { expression: { '@in': [2, [1, 2, 3]] }, result: true },
        { expression: { '@in': ['$.missing', [1, null]] }, document: {}, result: true },
      ],
    },
    {
      name: '@contains',
      forms: ['{"@contains": [list, value]}', '{"@contains": [string, part]}'],
      operands: each,
      does: 'True when a list has an item that equals the value, as in `@in`, or when a string has the other one in it.',
      examples: [
        { expression: { '@contains': [['a', 'b'], 'b'] }, result: true },
        { expression: { '@contains': ['web-frontend', 'front'] }, result: true },
      ],
    },
    {
      name: '@len',
      forms: ['{"@len": list}', '{"@len": [item, …]}'],
      operands: whole,
      does: 'The number of items.',
      examples: [
        { expression: { '@len': '$.pods' }, document: { pods }, result: 2 },
        { expression: { '@len': ['$.pods'] }, document: { pods }, result: 2 },
        { expression: { '@len': { '@definedOr': ['$.pods', []] } }, result: 0 },
      ],
    },
    {
      name: '@first',
      forms: ['{"@first": list}'],
      operands: whole,
      does: 'The first item; null for an empty list.',
      examples: [{ expression: { '@first': [3, 4] }, result: 3 }],
    },
    {
      name: '@last',
      forms: ['{"@last": list}'],
      operands: whole,
      does: 'The last item; null for an empty list.',
      examples: [{ expression: { '@last': [3, 4] }, result: 4 }],
    },
    {
      name: '@min',
      forms: ['{"@min": list}'],
      operands: whole,
      does: 'The lowest item, in the order of `@lt`; null for an empty list.',
      examples: [{ expression: { '@min': [3, 1, 2] }, result: 1 }],
    },
    {
      name: '@max',
      forms: ['{"@max": list}'],
      operands: whole,
      does: 'The highest item, in the order of `@lt`; null for an empty list.',
      examples: [{ expression: { '@max': ['$.a', '$.b'] }, document: { a: 4, b: 7 }, result: 7 }],
    },
    {
      name: '@range',
      forms: ['{"@range": last}', '{"@range": [first, end]}'],
      operands: { least: 1, most: 2 },
      does: 'The whole numbers from 1 to the last one; of two numbers, those from the first on that are below the second. They are 65536 at most.',
      examples: [
        { expression: { '@range': 3 }, result: [1, 2, 3] },
        { expression: { '@range': [0, '$.replicas'] }, document: { replicas: 2 }, result: [0, 1] },
      ],
    },
    {
      name: '@set',
      forms: ['{"@set": [value, path, new]}'],
      operands: { least: 3, most: 3 },
      does: 'The value with another one set at a path in it, which begins with `$` for the value. As a setter it creates what is missing; wildcards, slices and filters set in all that they find.',
      examples: [
        {
          expression: { '@set': ['$.pods', "$[?(@.name == 'b')].ready", true] },
          document: { pods },
          result: [
            { name: 'a', ready: true },
            { name: 'b', ready: true },
          ],
        },
        {
          expression: { '@set': [{ port: 80 }, '$.host', '$.name'] },
          document: { name: 'web' },
          result: { port: 80, host: 'web' },
        },
      ],
    },
    {
      name: '@keys',
      forms: ['{"@keys": map}'],
      operands: one,
      does: 'The names of the members of a map, sorted.',
      examples: [{ expression: { '@keys': { b: 1, a: 2 } }, result: ['a', 'b'] }],
    },
    {
      name: '@values',
      forms: ['{"@values": map}'],
      operands: one,
      does: 'The members of a map, in the order of `@keys`.',
      examples: [{ expression: { '@values': { b: 1, a: 2 } }, result: [2, 1] }],
    },
  ],
};
