import { expect } from 'chai';
import { parseDocument } from 'yaml';
import { isAsMade, madeText } from '../../../lib/cli/package/make-chart.js';
import { mergedValues } from '../../../lib/cli/package/values.js';

describe('A generated file of a chart', () => {
  for (const [path, text] of [
    ['templates/a.yaml', 'a: b\n'],
    ['.helmignore', '*.tgz\n'],
    ['values.schema.json', '{\n  "type": "object"\n}\n'],
  ] as const) {
    it(`${path} is known as unchanged until its content changes`, () => {
      const made = madeText(path, text);
      expect(made).to.include('Made by `operator-builder helm` (');
      expect([
        ...[made, made.replaceAll('\n', '\r\n'), text, `${made} `].map((one) =>
          isAsMade(path, one),
        ),
      ]).to.deep.equal([true, true, false, false]);
    });
  }
});

describe('The values of a user', () => {
  const schema = (names: Readonly<Record<string, unknown>>) => ({
    properties: Object.fromEntries(
      Object.entries(names).map(([name, value]) => [name, { default: value }] as const),
    ),
  });
  const merged = (text: string) => {
    const defaults = parseDocument('# head\n\na: 1\nb: 2\n');
    const before = schema({ a: 0, gone: 3 });
    return mergedValues({
      ...{ text, file: 'values.yaml', defaults, before },
      schema: schema({ a: 1, b: 2, absent: 0 }),
    });
  };

  for (const [what, text, wanted] of [
    ['are the defaults in an empty file', '', { text: '# head\n\na: 1\nb: 2\n', more: [] }],
    [
      'are the defaults below the comments in a file with comments only',
      '# mine\n\n# a: 5\n',
      { text: '# mine\n\n# a: 5\n\n# head\n\na: 1\nb: 2\n', more: [] },
    ],
    [
      'are the defaults below the comments in a file that begins with the comment of the chart',
      '# head\n\n# a: 5\n',
      { text: '# head\n\n# a: 5\n\na: 1\nb: 2\n', more: [] },
    ],
    [
      'are the defaults below the comments in a file with comments after the start of a document',
      '---\n# mine\n',
      { text: '# mine\n\n# head\n\na: 1\nb: 2\n', more: [] },
    ],
    [
      'are the defaults below the comments in a file with comments and null',
      '# mine\nnull # so far\n',
      { text: '# mine\n# so far\n\n# head\n\na: 1\nb: 2\n', more: [] },
    ],
    ['follow the defaults where unchanged', 'a: 0\ngone: 3\n', { text: 'a: 1\nb: 2\n', more: [] }],
    [
      'stay where changed, also without a default',
      'a: 5 # mine\ngone: 4\nglobal: {}\n',
      { text: 'a: 5 # mine\ngone: 4\nglobal: {}\nb: 2\n', more: ['gone'] },
    ],
  ] as const) {
    it(what, () => {
      expect(merged(text)).to.deep.equal(wanted);
    });
  }

  it('name the file if it is not a map, or not YAML', () => {
    expect(() => merged('[a]')).to.throw(
      "values.yaml: a can't be set, because the file is not a map; correct it, or overwrite it with --force",
    );
    expect(() => merged('a: [')).to.throw(/^values\.yaml: Flow sequence/);
  });
});
