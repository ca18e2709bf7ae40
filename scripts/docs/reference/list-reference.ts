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
      does: 'The list of the results of the expression for each item. In the expression, `$$` is the item, and `$` is the document.',
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
      does: 'The list of the items for which the condition is true.',
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
      does: 'True if the condition is true for at least one item; the items after it are not evaluated. False for an empty list.',
      examples: [
        { expression: { '@any': ['$$.ready', '$.pods'] }, document: { pods }, result: true },
      ],
    },
    {
      name: '@all',
      forms: ['{"@all": [condition, list]}'],
      operands: each,
      does: 'True if the condition is true for every item. True for an empty list.',
      examples: [
        { expression: { '@all': ['$$.ready', '$.pods'] }, document: { pods }, result: false },
      ],
    },
    {
      name: '@none',
      forms: ['{"@none": [condition, list]}'],
      operands: each,
      does: 'True if the condition is true for no item. True for an empty list.',
      examples: [{ expression: { '@none': [{ '@gt': ['$$', 5] }, [1, 2]] }, result: true }],
    },
    {
      name: '@in',
      forms: ['{"@in": [value, list]}'],
      operands: each,
      does: 'True if an item is deeply equal to the value, as in `@eq`. Unlike in `@eq`, null equals null.',
      examples: [
        { expression: { '@in': [2, [1, 2, 3]] }, result: true },
        { expression: { '@in': ['$.missing', [1, null]] }, document: {}, result: true },
      ],
    },
    {
      name: '@contains',
      forms: ['{"@contains": [list, value]}', '{"@contains": [string, part]}'],
      operands: each,
      does: 'True if a list contains an item that equals the value, as in `@in`, or if the first string contains the second.',
      examples: [
        { expression: { '@contains': [['a', 'b'], 'b'] }, result: true },
        { expression: { '@contains': ['web-frontend', 'front'] }, result: true },
      ],
    },
    {
      name: '@len',
      forms: ['{"@len": list}', '{"@len": [item, …]}'],
      operands: whole,
      does: 'The number of items in the list.',
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
      does: 'The list of whole numbers from 1 up to and including the number. With two numbers: from the first up to, but not including, the second. The list has at most 65536 numbers.',
      examples: [
        { expression: { '@range': 3 }, result: [1, 2, 3] },
        { expression: { '@range': [0, '$.replicas'] }, document: { replicas: 2 }, result: [0, 1] },
      ],
    },
    {
      name: '@set',
      forms: ['{"@set": [value, path, new]}'],
      operands: { least: 3, most: 3 },
      does: 'The value with another value set at a path; in the path, `$` is the first value. Missing parents are created, as by a setter. Wildcards, slices and filters set every match.',
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
      does: 'The values of the members of a map, in the order of `@keys`.',
      examples: [{ expression: { '@values': { b: 1, a: 2 } }, result: [2, 1] }],
    },
  ],
};
