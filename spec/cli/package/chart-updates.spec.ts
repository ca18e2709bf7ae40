import { expect } from 'chai';
import { parseDocument } from 'yaml';
import { isAsMade, madeText } from '../../../lib/cli/package/make-chart.js';
import { mergedValues, withDefaults } from '../../../lib/cli/package/values.js';
import type { ValueSchema } from '../../../lib/cli/package/values.js';

describe('A generated file of a chart', () => {
  const sentence = (hash: string): string =>
    `Made by \`operator-builder helm\` (${hash}): changed content is kept when the chart is updated.`;

  for (const [path, text, wanted] of [
    ['templates/a.yaml', 'a: b\n', `{{- /* ${sentence('52c9693cf3f219d5')} */ -}}\na: b\n`],
    ['.helmignore', '*.tgz\n', `# ${sentence('ae9a2868b5090b9e')}\n*.tgz\n`],
    [
      'values.schema.json',
      '{\n  "type": "object"\n}\n',
      `{\n  "$comment": "${sentence('59dd9138acc69331')}",\n  "type": "object"\n}\n`,
    ],
  ] as const) {
    it(`${path} counts as unchanged until its content changes`, () => {
      const made = madeText(path, text);
      expect(made).to.equal(wanted);
      expect([
        ...[made, made.replaceAll('\n', '\r\n'), text, `${made} `].map((one) =>
          isAsMade(path, one),
        ),
      ]).to.deep.equal([true, true, false, false]);
    });
  }
});

describe('The values.yaml of a user', () => {
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
    [
      'follow the defaults where the user has not changed them',
      'a: 0\ngone: 3\n',
      { text: 'a: 1\nb: 2\n', more: [] },
    ],
    [
      'stay where the user has changed them, also without a default',
      'a: 5 # mine\ngone: 4\nglobal: {}\n',
      { text: 'a: 5 # mine\ngone: 4\nglobal: {}\nb: 2\n', more: ['gone'] },
    ],
  ] as const) {
    it(what, () => {
      expect(merged(text)).to.deep.equal(wanted);
    });
  }

  /** Merges values of maps within maps. */
  const nested = (text: string, defaults = '# Of pods.\npod:\n  # Of labels.\n  labels: {}\n') => {
    const of = (value: ValueSchema) => ({ properties: { pod: { properties: { labels: value } } } });
    return mergedValues({
      ...{ text, file: 'values.yaml', defaults: parseDocument(defaults) },
      ...{ before: of({ default: { a: 'b' } }), schema: of({}) },
    });
  };

  it('receive a missing map with its comment, and a missing field of a map with its comment', () => {
    expect(nested('other: 1\n')).to.deep.equal({
      text: 'other: 1\n# Of pods.\npod:\n  # Of labels.\n  labels: {}\n',
      more: ['other'],
    });
    expect(nested('pod:\n  mine: 1\n').text).to.equal(
      'pod:\n  mine: 1\n  # Of labels.\n  labels: {}\n',
    );
    expect(nested('pod: {}\n').text).to.equal('pod:\n  {\n    # Of labels.\n    labels: {}\n  }\n');
  });

  it('receive a later field of a map without the comment of the first field', () => {
    const defaults = 'pod:\n  # Of the first.\n  first: 1\n  labels: {}\n';
    expect(nested('pod:\n  first: 2\n', defaults).text).to.equal(
      'pod:\n  first: 2\n  labels: {}\n',
    );
  });

  it('follow the default of a map, unless the user has changed the map', () => {
    expect(nested('pod:\n  labels: { a: b }\n').text).to.equal('pod:\n  labels: {}\n');
    expect(nested('pod:\n  labels: { a: c }\n').text).to.equal('pod:\n  labels: { a: c }\n');
  });

  it('lose an unchanged field that no longer has a default, but not the map that contains it', () => {
    const schema = (names: readonly string[]) => ({
      properties: {
        pod: { properties: Object.fromEntries(names.map((name) => [name, { default: 1 }])) },
      },
    });
    const defaults = parseDocument('pod:\n  a: 1\n');
    const text = 'pod:\n  a: 1\n  b: 1\n';
    const given = { text, file: 'values.yaml', defaults };
    const merged = mergedValues({ ...given, before: schema(['a', 'b']), schema: schema(['a']) });
    expect(merged.text).to.equal('pod:\n  a: 1\n');
  });

  it('keep long lines as they are', () => {
    const text = `a: ${'word '.repeat(30)}end\n`;
    expect(merged(text).text).to.equal(`${text}b: 2\n`);
    expect(nested('', text).text).to.equal(text);
  });

  it('are refused if they have a value that is not a map in place of a map', () => {
    expect(() => nested('pod: [a]\n')).to.throw(
      "values.yaml: pod.labels can't be set, because pod is not a map; correct it, or overwrite it with --force",
    );
    expect(() => nested('text\n')).to.throw(
      "values.yaml: pod.labels can't be set, because the file is not a map; ",
    );
  });

  it('are refused with the name of the file if the file is not a map, or not YAML', () => {
    expect(() => merged('[a]')).to.throw(
      "values.yaml: a can't be set, because the file is not a map; correct it, or overwrite it with --force",
    );
    expect(() => merged('a: [')).to.throw(/^values\.yaml: Flow sequence/);
  });
});

describe('The schema of the values', () => {
  it('has the defaults of the values, and allows additional values of the user', () => {
    const schema = {
      type: 'object',
      properties: {
        global: { type: 'object' },
        gone: { type: 'string' },
        image: { type: 'object', properties: { tag: { type: 'string' }, none: {} } },
        labels: { type: 'object' },
      },
    };
    const defaults = parseDocument("image: { tag: '' }\nlabels: { a: b } # a comment\n");
    expect(withDefaults(schema, defaults, ['mine'])).to.deep.equal({
      type: 'object',
      properties: {
        global: { type: 'object' },
        image: {
          type: 'object',
          properties: { tag: { type: 'string', default: '' }, none: {} },
        },
        labels: { type: 'object', default: { a: 'b' } },
        mine: {},
      },
    });
  });
});
