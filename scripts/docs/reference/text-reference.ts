import type { OperatorGroup } from './operator-reference.js';

const pair = { least: 2, most: 2 };
const one = { least: 1, most: 1 };

/** Strings. */
export const textReference: OperatorGroup = {
  title: 'Strings',
  operators: [
    {
      name: '@concat',
      forms: ['{"@concat": [value, …]}', '{"@concat": list}'],
      operands: { least: 0, most: Infinity },
      does: 'Strings, numbers and booleans, put together. Null, a list or a map among them is an error.',
      examples: [
        {
          expression: { '@concat': ['$.name', '-', '$.port'] },
          document: { name: 'web', port: 80 },
          result: 'web-80',
        },
      ],
    },
    {
      name: '@split',
      forms: ['{"@split": [string, separator]}'],
      operands: pair,
      does: 'The parts of a string between separators; with an empty separator its characters.',
      examples: [{ expression: { '@split': ['a,b,c', ','] }, result: ['a', 'b', 'c'] }],
    },
    {
      name: '@replace',
      forms: ['{"@replace": [string, part, by]}'],
      operands: { least: 3, most: 3 },
      does: 'A string with every occurrence of a part replaced. The part is literal, not a pattern.',
      examples: [{ expression: { '@replace': ['a.b.c', '.', '-'] }, result: 'a-b-c' }],
    },
    {
      name: '@regex',
      forms: ['{"@regex": [pattern, string]}'],
      operands: pair,
      does: 'True when the pattern is found in the string. It has the syntax of Go (RE2): no look-around and no back-references, and flags may begin it, as `(?i)`. Every pattern takes linear time.',
      examples: [
        { expression: { '@regex': ['^web-[0-9]+$', 'web-12'] }, result: true },
        { expression: { '@regex': ['(?i)^WEB', 'web-12'] }, result: true },
      ],
    },
    {
      name: '@lower',
      forms: ['{"@lower": string}'],
      operands: one,
      does: 'A string in lower case.',
      examples: [{ expression: { '@lower': 'Web' }, result: 'web' }],
    },
    {
      name: '@upper',
      forms: ['{"@upper": string}'],
      operands: one,
      does: 'A string in upper case.',
      examples: [{ expression: { '@upper': 'Web' }, result: 'WEB' }],
    },
  ],
};
