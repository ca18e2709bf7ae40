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
      does: 'Converts the strings `true` and `false` to a boolean, and returns a boolean unchanged. Any other value is an error.',
      examples: [{ expression: { '@bool': 'true' }, result: true }],
    },
    {
      name: '@int',
      forms: ['{"@int": value}'],
      operands: one,
      does: 'Converts a string to a whole number, and returns a whole number unchanged. A fraction is an error: use `@floor` or `@ceil`. A number beyond 2^53 is an error too, because it is not exact.',
      examples: [{ expression: { '@int': '8080' }, result: 8080 }],
    },
    {
      name: '@float',
      forms: ['{"@float": value}'],
      operands: one,
      does: 'Converts a string to a number, and returns a number unchanged.',
      examples: [{ expression: { '@float': '2.50' }, result: 2.5 }],
    },
    {
      name: '@string',
      forms: ['{"@string": value}'],
      operands: one,
      does: 'Converts a number or a boolean to a string, and returns a string unchanged. Null, a list or a map is an error.',
      examples: [{ expression: { '@string': { '@len': [1, 2] } }, result: '2' }],
    },
    {
      name: '@list',
      forms: ['{"@list": [item, …]}', '{"@list": list}'],
      operands: whole,
      does: 'Returns a list unchanged. Any other value is an error.',
      examples: [{ expression: { '@list': [1, '$.a'] }, document: { a: 2 }, result: [1, 2] }],
    },
    {
      name: '@dict',
      forms: ['{"@dict": map}'],
      operands: one,
      does: 'Returns a map unchanged. Any other value is an error.',
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
      does: 'A hash of six letters and digits for use in names: the MD5 of the JSON of the value with sorted members, in base 36. It equals the hash of dcontroller. Do not hash secrets with it.',
      examples: [
        { expression: { '@hash': { a: 1, b: { c: 2 }, x: [1, 2, 3, 4, 5] } }, result: 'dorzm8' },
      ],
    },
    {
      name: '@selector',
      forms: ['{"@selector": [selector, labels]}'],
      operands: { least: 2, most: 2 },
      does: 'True if the label selector matches the labels. The selector has `matchLabels` and `matchExpressions`, or is itself a map of labels. A member that is null counts as absent. False if either operand is null; an empty selector matches everything.',
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
      does: 'A random whole number: at least the first number, and less than the second. Each evaluation draws again.',
      examples: [{ expression: { '@rnd': [3, 4] }, result: 3 }],
    },
    {
      name: '@now',
      forms: ['"@now"', '{"@now": null}'],
      operands: { least: 0, most: 0 },
      does: 'The time of the evaluation, in UTC (RFC 3339). A document is not evaluated again when time passes: the result is the time of its last evaluation.',
      examples: [{ expression: { at: '@now' }, result: { at: timeOfExamples } }],
    },
    {
      name: '@literal',
      forms: ['{"@literal": value}'],
      operands: whole,
      does: 'The value as written, without evaluation. Use it for strings that begin with `$`, and for keys that begin with `$` or `@`.',
      examples: [{ expression: { '@literal': { $a: '$.b' } }, result: { $a: '$.b' } }],
    },
  ],
};
