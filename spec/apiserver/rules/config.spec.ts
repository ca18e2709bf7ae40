import { expect } from 'chai';
import { Api, apply, configMap, configMaps, merge } from '../api.js';
import { causeFields } from '../causes.js';

const secrets = '/api/v1/namespaces/default/secrets';

describe('ConfigMaps', () => {
  it('are refused above 1 MiB', async () => {
    const api = new Api();
    const big = configMap('a', { x: 'x'.repeat(1024 * 1024 + 1) });
    const { code, body } = await api.call('POST', configMaps, big);
    expect(code).to.equal(422);
    expect(body.message).to.equal(
      'ConfigMap "a" is invalid: []: Too long: may not be more than 1048576 bytes',
    );
  });

  it('refuse changes of their data and of immutable once they are immutable', async () => {
    const api = new Api();
    await api.create(configMaps, { ...configMap('a', { x: '1' }), immutable: true });
    const patch = { data: { x: '2' }, immutable: false };
    const answer = await api.call('PATCH', `${configMaps}/a`, patch, merge);
    expect(causeFields(answer)).to.deep.equal(['immutable', 'data']);
    const label = { metadata: { labels: { a: 'b' } } };
    expect((await api.call('PATCH', `${configMaps}/a`, label, merge)).code).to.equal(200);
  });

  it('refuse duplicate keys and keys that are not file names', async () => {
    const api = new Api();
    const body = { ...configMap('a', { x: '1', 'a/b': '2' }), binaryData: { x: 'eA==' } };
    const answer = await api.call('POST', configMaps, body);
    expect(causeFields(answer)).to.have.members(['data[x]', 'data[a/b]']);
  });
});

describe('Secrets', () => {
  it('encode stringData, and keep base64', async () => {
    const api = new Api();
    const body = { metadata: { name: 'a' }, data: { x: 'eA==' }, stringData: { y: 'é' } };
    const created = await api.create(secrets, body);
    expect(created).to.deep.include({ data: { x: 'eA==', y: 'w6k=' }, type: 'Opaque' });
    expect(created).not.to.have.property('stringData');
  });

  it('keep keys and types that are names of JavaScript members, such as constructor and __proto__', async () => {
    const stringData = JSON.parse('{"__proto__":"x","constructor":"y"}') as object;
    const body = { metadata: { name: 'a' }, stringData, type: 'constructor' };
    const { data, type } = await new Api().create(secrets, body);
    expect(Object.entries(data as object)).to.deep.equal([
      ['__proto__', 'eA=='],
      ['constructor', 'eQ=='],
    ]);
    expect(type).to.equal('constructor');
  });

  it('answer 500 to an apply with invalid base64', async () => {
    const api = new Api();
    const metadata = { namespace: 'default', name: 'a' };
    const body = { apiVersion: 'v1', kind: 'Secret', metadata, data: { x: '!!' } };
    const path = `${secrets}/a?fieldManager=spec`;
    const answer = await api.call('PATCH', path, body, apply);
    expect(answer.code).to.equal(500);
    expect(answer.body.message).to.equal(
      'failed to convert new object (default/a; /v1, Kind=Secret) to proper version: unable to convert unstructured object to /v1, Kind=Secret: error decoding from json: illegal base64 data at input byte 0',
    );
  });

  it('have an immutable type', async () => {
    const api = new Api();
    await api.create(secrets, { metadata: { name: 'a' } });
    const answer = await api.call('PATCH', `${secrets}/a`, { type: 'other' }, merge);
    expect(causeFields(answer)).to.deep.equal(['type']);
  });

  it('require the keys of their type', async () => {
    const api = new Api();
    const body = { metadata: { name: 'a' }, type: 'kubernetes.io/tls', data: { 'tls.crt': '' } };
    expect(causeFields(await api.call('POST', secrets, body))).to.deep.equal(['data[tls.key]']);
  });

  it('do not show their values in an error', async () => {
    const api = new Api();
    const data = { '.dockerconfigjson': Buffer.from('hunter2').toString('base64') };
    const body = { metadata: { name: 'a' }, type: 'kubernetes.io/dockerconfigjson', data };
    const { code, text } = await api.call('POST', secrets, body);
    expect(code).to.equal(422);
    expect(text).not.to.contain('hunter2');
  });
});
