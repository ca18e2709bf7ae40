import type { LanguageNote } from './operator-reference.js';

const ports = [
  { name: 'http', port: 80 },
  { name: 'https', port: 443 },
];

/** Notes on the language apart from operators: literals, getters, setters, numbers. */
export const languageNotes: readonly LanguageNote[] = [
  {
    title: 'Literals, lists and maps',
    text: 'Numbers, booleans, null and strings are themselves. A list is the list of its evaluated items, a map the map of its evaluated members. A map with one key that begins with `@` is an operator. What an expression gives is data: a string that it gives is never evaluated again, whatever it begins with.',
    examples: [
      { expression: { a: [1, '$.x'] }, document: { x: '$.y', y: 2 }, result: { a: [1, '$.y'] } },
    ],
  },
  {
    title: 'Getters',
    text: "A string that begins with `$` is a JSONPath (RFC 9535) on the document: names, indexes (negative ones from the end), slices, wildcards, `..`, filters with comparisons, `&&`, `||`, `!`, existence, `in ['a', 'b']`, `length()`, `count()`, `match()` and `search()`. Its value is the first match; null without a match. Names with other characters than letters, digits, `_` and `-` stand in `['…']`. `$.` is the document itself, as `$`. In a filter `@` is the item, and `$` the document.",
    examples: [
      { expression: "$.ports[?(@.name == 'https')].port", document: { ports }, result: 443 },
      { expression: '$.ports[-1].name', document: { ports }, result: 'https' },
      { expression: '$["ports"][0].name', document: { ports }, result: 'http' },
      { expression: '$..port', document: { spec: { ports } }, result: 80 },
      { expression: '$.missing.too', document: { ports }, result: null },
    ],
  },
  {
    title: 'Elements',
    text: '`$$` is the item at hand in the first operand of `@map`, `@filter`, `@any`, `@all` and `@none`; nested, that of the nearest. Elsewhere it is refused.',
    examples: [
      { expression: { '@map': ['$$.port', '$.ports'] }, document: { ports }, result: [80, 443] },
    ],
  },
  {
    title: 'Setters',
    text: 'A key that begins with `$` sets at a path in the map that is built, after what stands before it: parents that are missing are made, lists are filled with null up to an index; filters, wildcards and slices set in each match that is there. A string or a number in the way is an error. The key `"$."` copies all members of a map.',
    examples: [
      {
        expression: { '$.spec.ports[1].port': 80 },
        result: { spec: { ports: [null, { port: 80 }] } },
      },
      {
        expression: { '$.': '$', '$.metadata.labels.app': 'web' },
        document: { metadata: { name: 'a' } },
        result: { metadata: { name: 'a', labels: { app: 'web' } } },
      },
    ],
  },
  {
    title: 'Numbers',
    text: 'A number is a double, as in JSON: 1 and 1.0 are the same number, and there are no integers apart from floats. Whole numbers are exact up to 2^53 (about 9 × 10^15); beyond, they are rounded as soon as the document is read, as in every JavaScript program. Where it matters keep them in strings: comparisons of strings that are whole numbers are exact at any length. Operators take strings that are numbers for numbers, equality does not. A result beyond all numbers is an error, never Infinity or NaN; -0 is 0.',
    examples: [
      { expression: { '@eq': [1, 1.0] }, result: true },
      { expression: { '@lt': ['9007199254740992', '9007199254740993'] }, result: true },
      { expression: { '@add': ['2', 3] }, result: 5 },
    ],
  },
];
