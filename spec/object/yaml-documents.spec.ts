import { expect } from 'chai';
import { parseYamlDocuments, parseYamlValues } from '../../lib/object/yaml-documents.js';

const problemsOf = (text: string): string[] =>
  parseYamlDocuments(text, 'a.yaml').flatMap(({ errors }) => errors.map(({ message }) => message));

describe('parseYamlDocuments', () => {
  it('names a duplicate key and both positions, in each map and document', () => {
    expect(problemsOf('a: 1\nb: { c: 1, "c": 2 }\na: 3\n')).to.deep.equal([
      'Map keys must be unique: "a" is a key since line 1, and again at line 3, column 1:',
      'Map keys must be unique: "c" is a key since line 2, and again at line 2, column 12:',
    ]);
    expect(problemsOf('a: 1\n---\na: 1\n---\nb: 1\nb: 2\n')).to.deep.equal([
      'Map keys must be unique: "b" is a key since line 5, and again at line 6, column 1:',
    ]);
  });

  it('accepts the same key in different maps, and keys of different types', () => {
    expect(problemsOf('a: { b: 1 }\nc: { b: 1 }\n"1": text\n1: number\n')).to.deep.equal([]);
  });

  it('creates the errors of a text without stack traces, since there may be one error for each byte', () => {
    const { stackTraceLimit } = Error;
    for (const text of [']'.repeat(1_000), 'a: 1\n'.repeat(500), '- "\\q\n'.repeat(200)]) {
      const errors = parseYamlDocuments(text, 'a.yaml').flatMap((document) => document.errors);
      expect(errors.length).to.be.greaterThan(100);
      const traced = errors.filter(({ stack = '' }) => stack.includes('\n    at '));
      expect(traced).to.deep.equal([]);
    }
    expect(() => parseYamlDocuments('['.repeat(2_000), 'a.yaml')).to.throw('a.yaml');
    expect(Error.stackTraceLimit).to.equal(stackTraceLimit);
    const thrown = (): void => void parseYamlValues(']', 'a.yaml', { untrusted: true });
    expect(thrown).to.throw('a.yaml').with.property('stack').that.includes('parseYamlValues');
  });

  it('checks thirty thousand keys in linear time', () => {
    const lines = Array.from({ length: 30_000 }, (_, at) => `key-${at}: ${at}`);
    const [document] = parseYamlDocuments([...lines, 'key-7: 7'].join('\n'), 'a.yaml');
    expect(document?.errors.map(({ message }) => message)).to.deep.equal([
      'Map keys must be unique: "key-7" is a key since line 8, and again at line 30001, column 1:',
    ]);
  }).timeout(20_000);
});

describe('parseYamlValues', () => {
  it('reads scalars in the same way after the directive %YAML 1.1', () => {
    const text = '%YAML 1.1\n---\na: 2001-01-01\nb: 1:30\nc: yes\n';
    expect(parseYamlValues(text, 'a.yaml')).to.deep.equal([
      { a: '2001-01-01', b: '1:30', c: true },
    ]);
  });

  it("reads plain scalars as Kubernetes' tools do", () => {
    const words = 'y Y yes Yes YES on On ON n N no No NO off Off OFF'.split(' ');
    const [value] = parseYamlValues(`[${words.join(', ')}]`, 'a.yaml');
    expect(value).to.deep.equal(words.map((_, at) => at < 8));
    const texts = { yes: '"yes"', word: 'yep', time: '12:30', day: '2026-01-02', none: 'None' };
    const lines = Object.entries(texts).map(([name, text]) => `${name}: ${text}`);
    expect(parseYamlValues(`mode: 0644\n${lines.join('\n')}`, 'a.yaml')).to.deep.equal([
      {
        ...{ mode: 0o644, true: 'yes' },
        word: 'yep',
        time: '12:30',
        day: '2026-01-02',
        none: 'None',
      },
    ]);
  });
});

describe('parseYamlValues of numbers', () => {
  const parse = (text: string): unknown => parseYamlValues(`[${text}]`, 'a.yaml')[0];

  it('reads bases, underscores and signs as Go does', () => {
    const numbers = {
      ...{ '1_000': 1000, '1__0': 10, '+1_0': 10, '1_000.5': 1000.5, '-1_0e1': -100, '1e3': 1000 },
      ...{ '0b11': 3, '-0b1_1': -3, '0x_1F': 31, '-0x1F': -31, '0o17': 15, '0_7': 7, '0644': 420 },
      ...{ '08': 8, '09.5': 9.5, '+.5': 0.5, '1.': 1, '-.5e2': -50, '0': 0, '-7': -7 },
    };
    expect(parse(Object.keys(numbers).join(', '))).to.deep.equal(Object.values(numbers));
  });

  it('reads what is not quite a number as text, and !!binary as bytes', () => {
    const texts = ['_1', '._5', '1e', '0x', '0b2', '1e400', '1.2.3', '1Gi', '12:30', '1-2'];
    expect(parse(texts.join(', '))).to.deep.equal(texts);
    expect(parse('!!binary aGk=, !!str 1_0')).to.deep.equal(['hi', '1_0']);
    const address = '0x52908400098527886E0F7030069857D2E4169EE7';
    const long = '0123456701234567012345670';
    expect(parse(`${address}, ${long}`)).to.deep.equal([address, Number(long)]);
  });

  for (const text of ['.inf', '-.Inf', '.nan']) {
    it(`refuses ${text}, a number that JSON does not have`, () => {
      expect(() => parse(text)).to.throw(`a.yaml: JSON has no number ${text} at line 1, column 2`);
    });
  }
});

describe('parseYamlValues of an untrusted text', () => {
  const parse = (text: string) => parseYamlValues(text, 'a.yaml', { untrusted: true });

  it('names line and column of an error, but does not quote the line', () => {
    expect(() => parse(`[${','.repeat(10_000)}`)).to.throw(
      /^a.yaml: Unexpected , in flow sequence at line 1, column 3$/,
    );
  });

  it('refuses aliases, even as the value of a merge key <<', () => {
    for (const text of ['a: &a 1\nb: *a\n', 'a: &a { b: 1 }\nc: { <<: *a }\n']) {
      expect(() => parse(text)).to.throw('a.yaml: aliases are not accepted; repeat the value');
      expect(parseYamlValues(text, 'a.yaml')).to.have.length(1);
    }
  });
});
