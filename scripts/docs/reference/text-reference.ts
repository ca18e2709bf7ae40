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
      does: 'The concatenation of strings, numbers and booleans. Null, a list or a map is an error.',
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
      does: 'The list of the parts of a string between separators. With an empty separator: the list of its characters.',
      examples: [{ expression: { '@split': ['a,b,c', ','] }, result: ['a', 'b', 'c'] }],
    },
    {
      name: '@replace',
      forms: ['{"@replace": [string, part, by]}'],
      operands: { least: 3, most: 3 },
      does: 'The string with every occurrence of a part replaced. The part is literal text, not a pattern.',
      examples: [{ expression: { '@replace': ['a.b.c', '.', '-'] }, result: 'a-b-c' }],
    },
    {
      name: '@regex',
      forms: ['{"@regex": [pattern, string]}'],
      operands: pair,
      does: 'True if the string contains a match of the pattern. Patterns have the syntax of Go (RE2): without look-around and back-references, and with optional flags at the start, such as `(?i)`. Every pattern takes linear time.',
      examples: [
        { expression: { '@regex': ['^web-[0-9]+$', 'web-12'] }, result: true },
        { expression: { '@regex': ['(?i)^WEB', 'web-12'] }, result: true },
      ],
    },
    {
      name: '@lower',
      forms: ['{"@lower": string}'],
      operands: one,
      does: 'The string in lower case.',
      examples: [{ expression: { '@lower': 'Web' }, result: 'web' }],
    },
    {
      name: '@upper',
      forms: ['{"@upper": string}'],
      operands: one,
      does: 'The string in upper case.',
      examples: [{ expression: { '@upper': 'Web' }, result: 'WEB' }],
    },
  ],
};
