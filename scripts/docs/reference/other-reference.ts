import type { OperatorGroup } from './operator-reference.js';
import { timeOfExamples } from './operator-reference.js';

const one = { least: 1, most: 1 };
const whole = { least: 0, most: Infinity };

/** Conversions. */
export const conversionReference: OperatorGroup = {
  title: 'Conversions',
  operators: [
    {
      name: '@bool',
      forms: ['{"@bool": value}'],
      operands: one,
      does: 'A boolean, or the strings `true` and `false` as one. Anything else is an error.',
      examples: [{ expression: { '@bool': 'true' }, result: true }],
    },
    {
      name: '@int',
      forms: ['{"@int": value}'],
      operands: one,
      does: 'A whole number, or a string that is one. A fraction is an error: say `@floor` or `@ceil`. So is a number beyond 2^53, which can not be kept exactly.',
      examples: [{ expression: { '@int': '8080' }, result: 8080 }],
    },
    {
      name: '@float',
      forms: ['{"@float": value}'],
      operands: one,
      does: 'A number, or a string that is one.',
      examples: [{ expression: { '@float': '2.50' }, result: 2.5 }],
    },
    {
      name: '@string',
      forms: ['{"@string": value}'],
      operands: one,
      does: 'A string; a number or a boolean as one. Null, a list or a map is an error.',
      examples: [{ expression: { '@string': { '@len': [1, 2] } }, result: '2' }],
    },
    {
      name: '@list',
      forms: ['{"@list": [item, …]}', '{"@list": list}'],
      operands: whole,
      does: 'A list. Anything else is an error.',
      examples: [{ expression: { '@list': [1, '$.a'] }, document: { a: 2 }, result: [1, 2] }],
    },
    {
      name: '@dict',
      forms: ['{"@dict": map}'],
      operands: one,
      does: 'A map. Anything else is an error.',
      examples: [{ expression: { '@dict': { a: '$.b' } }, document: { b: 2 }, result: { a: 2 } }],
    },
  ],
};

/** All remaining operators. */
export const otherReference: OperatorGroup = {
  title: 'Others',
  operators: [
    {
      name: '@hash',
      forms: ['{"@hash": value}'],
      operands: whole,
      does: "Six letters and digits for a value, for names: the MD5 of its JSON with sorted members, in base 36. They are dcontroller's. Not for secrets.",
      examples: [
        { expression: { '@hash': { a: 1, b: { c: 2 }, x: [1, 2, 3, 4, 5] } }, result: 'dorzm8' },
      ],
    },
    {
      name: '@selector',
      forms: ['{"@selector": [selector, labels]}'],
      operands: { least: 2, most: 2 },
      does: 'True when a label selector selects labels. The selector has `matchLabels` and `matchExpressions`, or it is the labels themselves. False when either is null; an empty selector selects everything.',
      examples: [
        {
          expression: { '@selector': [{ app: 'web' }, '$.metadata.labels'] },
          document: { metadata: { labels: { app: 'web', tier: 'front' } } },
          result: true,
        },
        {
          expression: { '@selector': ['$.spec.selector', { app: 'web' }] },
          document: {
            spec: {
              selector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] },
            },
          },
          result: false,
        },
      ],
    },
    {
      name: '@rnd',
      forms: ['{"@rnd": [least, beyond]}'],
      operands: { least: 2, most: 2 },
      does: 'A random whole number, at least the first, below the second. It is another one at every evaluation.',
      examples: [{ expression: { '@rnd': [3, 4] }, result: 3 }],
    },
    {
      name: '@now',
      forms: ['"@now"', '{"@now": null}'],
      operands: { least: 0, most: 0 },
      does: 'The time of the evaluation, in UTC (RFC 3339). Time that passes changes no document: it is the time when a document was last evaluated.',
      examples: [{ expression: { at: '@now' }, result: { at: timeOfExamples } }],
    },
    {
      name: '@literal',
      forms: ['{"@literal": value}'],
      operands: whole,
      does: 'The value as it is written: nothing in it is evaluated. For strings that begin with `$`, and keys that begin with `$` or `@`.',
      examples: [{ expression: { '@literal': { $a: '$.b' } }, result: { $a: '$.b' } }],
    },
  ],
};
