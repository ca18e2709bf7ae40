import { expect } from 'chai';
import { Api, configMaps } from '../api.js';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
const yaml = 'application/yaml';
const refused = 'error decoding YAML: error converting YAML to JSON: yaml: ';

/** Returns the data of a created config map, or the message of the error. */
async function dataOf(text: string): Promise<unknown> {
  const path = `${configMaps}?fieldManager=m&dryRun=All`;
  const { code, body } = await new Api().call('POST', path, text, yaml);
  return code === 201 ? body['data'] : body.message;
}

describe('a body in YAML', () => {
  const fillers = { 'empty lines': '\n', comments: '\n #' };
  for (const [name, filler] of Object.entries(fillers)) {
    it(`may have 100,000 ${name} in a list or map in brackets`, async () => {
      const many = filler.repeat(100_000);
      expect(await dataOf(`${head}data: {k: ${many}\n v${many}\n }`)).to.deep.equal({ k: 'v' });
      expect(await dataOf(`${head}data: {k: v}\nx: [${many}\n ]`)).to.deep.equal({ k: 'v' });
    });
  }

  it('is refused if a value in brackets has many anchors, tags or colons', async () => {
    for (const text of ['[&a ', '[!t ', '{: ']) {
      const [bracket = '', ...filler] = text;
      const value = bracket + filler.join('').repeat(50_000);
      expect(await dataOf(`${head}data: ${value}`)).to.include('error decoding YAML: ');
    }
  });

  it('is refused with the line of the alias if a repeated key or its value is an alias', async () => {
    const problemsOf = async (text: string): Promise<unknown> => {
      const path = `${configMaps}?fieldValidation=Strict&dryRun=All`;
      const { body } = await new Api().call('POST', path, head + text, yaml);
      return body.message.match(/line .*? already set in map/g);
    };
    const at = (line: number, key = 'a') => [`line ${line}: key "${key}" already set in map`];
    expect(await problemsOf('x: &x 1\na: 2\na: *x')).to.deep.equal(at(6));
    expect(await problemsOf('x: &x\n  k: 1\na: 2\nb: 3\na: *x')).to.deep.equal(at(8));
    expect(await problemsOf('x: &x ~\na: 1\na:\n  *x')).to.deep.equal(at(7));
    expect(await problemsOf('&a a: &b b\n*a : *b\n*b : *a')).to.deep.equal(at(5));
    expect(await problemsOf('k: &k a\na: 1\n\n*k : ~')).to.deep.equal(at(7));
    expect(await problemsOf('k: &k a\na: 1\n*k :\n\n')).to.deep.equal(at(6));
    expect(await problemsOf('a: 1\na:\n  ~')).to.deep.equal(at(6));
  });

  it('is read the same way with the directive %YAML 1.1', async () => {
    const read = (data: string) => dataOf(`%YAML 1.1\n---\n${head}data: ${data}`);
    expect(await read('{k: !!str 2001-01-01}')).to.deep.equal({ k: '2001-01-01' });
    expect(await read('{k: 2001-01-01, l: 1:30}')).to.deep.equal({ k: '2001-01-01', l: '1:30' });
    expect(await read('!!set {k: a}')).to.deep.equal({ k: 'a' });
    expect(await read('{k: !!binary aGk=, <<: {l: m}}')).to.deep.equal({ k: 'hi', l: 'm' });
    expect(await read('!!omap [k: a]')).to.include('cannot unmarshal array');
  });

  it('is refused with a %YAML directive of another version, or with an unknown directive', async () => {
    for (const version of ['1.0', '1.2', '2.0']) {
      expect(await dataOf(`%YAML ${version}\n---\n${head}`)).to.equal(
        `${refused}found incompatible YAML document`,
      );
    }
    expect(await dataOf(`%FOO\n---\n${head}`)).to.include('Unknown directive %FOO at line 1');
  });

  it('is refused if its aliases expand to more characters than a body may have', async () => {
    const text = (aliases: number): string =>
      `${head}x: [&x ${'v'.repeat(1_000)}${', *x'.repeat(aliases)}]\ndata: {k: v}`;
    expect(await dataOf(text(3_000))).to.deep.equal({ k: 'v' });
    expect(await dataOf(text(3_200))).to.equal(`${refused}document contains excessive aliasing`);
  });
});
