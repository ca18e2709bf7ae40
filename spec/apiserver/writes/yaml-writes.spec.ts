import { expect } from 'chai';
import { Api, apply, configMap, configMaps } from '../api.js';

describe('writes with a body in YAML', () => {
  it('parse applies as YAML', async () => {
    const api = new Api();
    const flow = '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: "1"}}';
    const json = JSON.stringify(configMap('a', { x: '1' }));
    const block = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: "1"}\n';
    for (const text of [block, flow, `${json}\n---\n${json}\n`]) {
      const { body } = await api.call('PATCH', `${configMaps}/a?fieldManager=m`, text, apply);
      expect(body['data']).to.deep.equal({ x: '1' });
    }
  });

  it('refuse repeated keys of YAML with the line of each, if fieldValidation is Strict', async () => {
    const api = new Api();
    const text = [
      ...['apiVersion: v1', 'kind: ConfigMap', 'metadata: {name: a, name: a}'],
      ...['data:', '  x: "1"', '  x: "2"', 'data:', '  5: y', '  5:', '    z', 'foo: 1', ''],
    ].join('\n');
    const problem = [
      'yaml: unmarshal errors:',
      ...['line 3: key "name" already set in map', 'line 6: key "x" already set in map'],
      ...['line 10: key 5 already set in map', 'line 8: key "data" already set in map'],
    ].join('\n  ');
    const yaml = 'application/yaml';
    const strict = '?fieldValidation=Strict&fieldManager=m';
    const created = await api.call('POST', `${configMaps}${strict}`, text, yaml);
    expect([created.code, created.body.message]).to.deep.equal([
      400,
      `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${problem}, unknown field "foo"`,
    ]);
    const applied = await api.call(
      'PATCH',
      `${configMaps}/a${strict}`,
      text.replace('foo: 1\n', ''),
      apply,
    );
    expect([applied.code, applied.body.message]).to.deep.equal([
      400,
      `error strict decoding YAML: error converting YAML to JSON: ${problem}`,
    ]);
    const json =
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1","x":"2"}}';
    const ofJson = await api.call('PATCH', `${configMaps}/a${strict}`, json, apply);
    expect(ofJson.body.message).to.include('  line 1: key "x" already set in map');
    const warned = await api.call('POST', configMaps, text, yaml);
    const [, ...lines] = problem.split('\n  ');
    expect(warned.headers['warning']?.split(', ')).to.deep.equal(
      [...lines, 'unknown field "foo"'].map((each) => `299 - ${JSON.stringify(each)}`),
    );
    expect(warned.body['data']).to.deep.equal({ 5: 'z' });
  });

  it('read JSON in the body of an apply as YAML, also its characters and escapes', async () => {
    const api = new Api();
    const answerTo = async (text: string): Promise<unknown> => {
      const meta = '"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}';
      const json = `{${meta},\n"data":{"x":"${text}"}}`;
      const path = `${configMaps}/a?fieldManager=m&dryRun=All`;
      const { code, body } = await api.call('PATCH', path, json, apply);
      return code === 201 ? (body['data'] as { x: string }).x : body.message;
    };
    const refused = 'error decoding YAML: error converting YAML to JSON: yaml: ';
    for (const text of ['\u007f', '\u0080', '\ufffe', '\u0001', '\f']) {
      expect(await answerTo(text)).to.equal(`${refused}control characters are not allowed`);
    }
    expect(await answerTo('a \u0085 b')).to.equal('a b');
    expect(await answerTo('a \u2028 \u2029 b')).to.equal('a\u2028\u2029b');
    expect(await answerTo('\u{1f600}\ufeff')).to.equal('\u{1f600}\ufeff');
    expect(await answerTo('\\u007f\\u0085\\\\/\\\\ud83d')).to.equal('\u007f\u0085\\/\\ud83d');
    const escape = 'line 2: found unknown escape character';
    expect(await answerTo('a\\/b')).to.equal(`${refused}${escape}`);
    const half = 'line 2: found invalid Unicode character escape code';
    expect(await answerTo('\\ud83d\\ude00')).to.equal(`${refused}${half}`);
  });

  it('apply the merge keys of YAML in the order of the keys, and treat 1 and 1.0 as different keys', async () => {
    const api = new Api();
    const dataOf = async (...lines: readonly string[]): Promise<unknown> => {
      const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:';
      const validation = lines.some((line) => line.includes('<<')) ? 'Ignore' : 'Strict';
      const path = `${configMaps}/a?fieldManager=m&dryRun=All&fieldValidation=${validation}`;
      const text = [head, ...lines].join('\n  ');
      const { code, body } = await api.call('PATCH', path, text, apply);
      return code === 201 ? body['data'] : body.message;
    };
    expect(await dataOf('x: own', '<<: {x: m, z: m}')).to.deep.equal({ x: 'm', z: 'm' });
    expect(await dataOf('<<: {x: m, z: m}', 'x: own')).to.deep.equal({ x: 'own', z: 'm' });
    expect(await dataOf('<<: {x: a}', '<<: {x: b}')).to.deep.equal({ x: 'b' });
    expect(await dataOf('<<: [{x: a}, {x: b}]')).to.deep.equal({ x: 'a' });
    expect(await dataOf('<<: {<<: {x: a}, z: b}')).to.deep.equal({ x: 'a', z: 'b' });
    expect(await dataOf('<<: x')).to.equal(
      'error decoding YAML: error converting YAML to JSON: yaml: map merge requires map or sequence of maps as the value',
    );
    expect(await dataOf('1: a', '1.0: b')).to.deep.equal({ 1: 'b' });
    expect(await dataOf('1: a', '1: b')).to.include('key 1 already set in map');
    expect(await dataOf('1.0: a', '1e0: b')).to.include('key 1 already set in map');
  });

  it('name the place of the first error in YAML, in a short message also if there are many errors', async () => {
    const { code, body } = await new Api().call(
      'PATCH',
      `${configMaps}/a?fieldManager=m`,
      'a: 1\n} ]',
      apply,
    );
    expect(code).to.equal(400);
    expect(body.message).to.match(
      /^error decoding YAML: Unexpected flow-map-end.* at line 2, column 1$/,
    );
  });

  it('refuse YAML whose merge keys would copy too many maps', async () => {
    const levels = Array.from({ length: 5 }, (_, level) => {
      const sources = Array.from({ length: 10 }, () => `*a${level}`).join(', ');
      return `x${level + 1}: &a${level + 1} {<<: [${sources}]}`;
    });
    const text = ['apiVersion: v1', 'kind: ConfigMap', 'x0: &a0 {k: v}', ...levels].join('\n');
    const { code, body } = await new Api().call('POST', configMaps, text, 'application/yaml');
    expect(code).to.equal(400);
    expect(body.message).to.equal(
      'error decoding YAML: error converting YAML to JSON: yaml: document contains excessive aliasing',
    );
  });

  it('read YAML with aliases and tags as Go does', async () => {
    const api = new Api();
    const dataOf = async (data: string): Promise<unknown> => {
      const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n${data}`;
      const path = `${configMaps}?fieldManager=m&dryRun=All`;
      const { code, body } = await api.call('POST', path, text, 'application/yaml');
      return code === 201 ? body['data'] : body.message;
    };
    const many = Array.from({ length: 1_000 }, (_, nth) => `k${nth}`);
    const aliases = many.map((key) => `${key}: *x`).join(', ');
    const expected = Object.fromEntries(many.map((key) => [key, 'v']));
    expect(await dataOf(`data: {k: &x v, ${aliases}}`)).to.deep.equal({ k: 'v', ...expected });
    expect(await dataOf('data: {k: &x v, l: &x w, m: *x}')).to.have.property('m', 'w');
    expect(await dataOf('data: {k: &x v, *x : w}')).to.have.property('v', 'w');
    expect(await dataOf('data: {k: !!timestamp 2001-01-01}')).to.deep.equal({ k: '2001-01-01' });
    const refused = 'error decoding YAML: error converting YAML to JSON: yaml: ';
    expect(await dataOf('data: *x')).to.equal(`${refused}unknown anchor 'x' referenced`);
    expect(await dataOf('data: &x {k: *x}')).to.equal(`${refused}anchor 'x' value contains itself`);
    expect(await dataOf('data: {k: {{ x }}}')).to.include(`${refused}invalid map key`);
  });

  it('refuse keys of YAML that are lists or maps, also if there are many', async () => {
    const keys = Array.from({ length: 30_000 }, (_, nth) => `? [&b${nth} a${nth}]\n: x`);
    const { code } = await new Api().call('POST', configMaps, keys.join('\n'), 'application/yaml');
    expect(code).to.equal(400);
  });

  it('report repeated keys of YAML that come from merge keys and aliases', async () => {
    const api = new Api();
    const problemsOf = async (...data: readonly string[]): Promise<readonly string[]> => {
      const text = ['apiVersion: v1', 'kind: ConfigMap', 'metadata: {name: a}', ...data].join('\n');
      const path = `${configMaps}?fieldValidation=Strict&dryRun=All`;
      const { code, body } = await api.call('POST', path, text, 'application/yaml');
      return code === 201 ? [] : (body.message.match(/line .*/g) ?? []);
    };
    const line6 = 'line 6: key "x" already set in map';
    expect(await problemsOf('data:', '  <<: {x: "1"}', '  x: "2"')).to.deep.equal([line6]);
    expect(await problemsOf('data:', '  <<: {x: "1"}', '  <<: {x: "2"}')).to.deep.equal([line6]);
    expect(await problemsOf('data:', '  <<: [{x: "1"}, {x: "2"}]')).to.deep.equal([
      'line 5: key "x" already set in map',
    ]);
    expect(await problemsOf('data:', '  <<: {x: "1"}', '  <<: {z: "2"}')).to.deep.equal([]);
    const line4 = 'line 4: key "x" already set in map';
    const base = 'binaryData: &base {x: "MQ==", x: "MQ=="}';
    expect(await problemsOf(base, 'data: *base')).to.deep.equal([line4, line4]);
    expect(await problemsOf(base, 'data: {<<: *base}')).to.deep.equal([line4, line4]);
  });
});
