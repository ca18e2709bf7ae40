import type { LanguageNote } from './operator-reference.js';

const ports = [
  { name: 'http', port: 80 },
  { name: 'https', port: 443 },
];

/** Notes on the language apart from operators: literals, getters, setters, numbers. */
export const languageNotes: readonly LanguageNote[] = [
  {
    title: 'Literals, lists and maps',
    text: 'Numbers, booleans, null and plain strings evaluate to themselves. A list evaluates to the list of its evaluated items, and a map to the map of its evaluated members. A map with a single key that begins with `@` is an operator. Results are data: a resulting string is never evaluated again, whatever its first character.',
    examples: [
      { expression: { a: [1, '$.x'] }, document: { x: '$.y', y: 2 }, result: { a: [1, '$.y'] } },
    ],
  },
  {
    title: 'Getters',
    text: "A string that begins with `$` is a JSONPath (RFC 9535) that reads from the document: names, indexes (negative ones from the end), slices, wildcards, `..`, filters with comparisons, `&&`, `||`, `!`, existence, `in ['a', 'b']`, `length()`, `count()`, `match()` and `search()`. It evaluates to the first match, or to null without a match. Write names with characters other than letters, digits, `_` and `-` as `['…']`. `$.` is the document itself, like `$`. In a filter, `@` is the item, and `$` is the document.",
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
    text: '`$$` is the current item in the first operand of `@map`, `@filter`, `@any`, `@all` and `@none`. If these are nested, it is the item of the innermost one. Elsewhere `$$` is refused.',
    examples: [
      { expression: { '@map': ['$$.port', '$.ports'] }, document: { ports }, result: [80, 443] },
    ],
  },
  {
    title: 'Setters',
    text: 'A key that begins with `$` sets a value at a path in the map that is being built. Keys that begin with `$` are applied in the order in which they are written. Missing parents are created, and lists are filled with null up to an index. Filters, wildcards and slices set every existing match. A string or a number at the place of a parent is an error. The key `"$."` copies all members of a map.',
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
    text: 'All numbers are doubles, as in JSON: 1 and 1.0 are the same number, and there is no separate integer type. Whole numbers are exact up to 2^53 (about 9 × 10^15). Larger numbers are rounded when the document is read, as in every JavaScript program. To keep them exact, write them as strings: comparisons of strings with whole numbers are exact at any length. Operators accept strings that contain numbers as numbers; equality does not. A result that is too large for a double is an error, never Infinity or NaN; -0 becomes 0.',
    examples: [
      { expression: { '@eq': [1, 1.0] }, result: true },
      { expression: { '@lt': ['9007199254740992', '9007199254740993'] }, result: true },
      { expression: { '@add': ['2', 3] }, result: 5 },
    ],
  },
];
