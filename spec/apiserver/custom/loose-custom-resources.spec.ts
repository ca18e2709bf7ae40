import { expect } from 'chai';
import { Api, apply, merge } from '../api.js';
import { installed, widget } from './widgets.js';

const inNone = '/apis/example.com/v1/widgets';
const elsewhere = '/apis/example.com/v1/namespaces/nowhere/widgets';
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

async function started(): Promise<Api> {
  const api = new Api({ looseCustomResources: true });
  await installed(api);
  return api;
}

describe('custom resources with the option looseCustomResources', () => {
  it('may be in namespaces that do not exist', async () => {
    const api = await started();
    const { metadata } = await api.create(elsewhere, widget('a'));
    expect(metadata).to.include({ name: 'a', namespace: 'nowhere' });
    const ofCluster = '/api/v1/namespaces/nowhere/configmaps';
    expect((await api.call('POST', ofCluster, configMap)).code).to.equal(404);
  });

  it('may have any name that is valid in a path', async () => {
    const api = await started();
    const path = elsewhere.replace('nowhere', 'No%20where');
    for (const name of ['web-TCP-80', 'é ü', 'x'.repeat(300)]) {
      const { metadata } = await api.create(path, widget(name));
      expect(metadata).to.include({ name, namespace: 'No where' });
      expect((await api.get(`${path}/${encodeURIComponent(name)}`)).code).to.equal(200);
    }
    for (const name of ['', '.', '..', 'a/b', 'a%b']) {
      const answer = await api.call('POST', path, widget(name));
      expect([answer.code, answer.body.message]).to.deep.equal([422, answer.body.message]);
      expect(answer.body.message).to.include('metadata.name: ');
    }
  });

  it('may have invalid labels, annotations, owners and finalizers, on create and update', async () => {
    const api = await started();
    const metadata = {
      name: 'a',
      labels: { 'no key!': 'no value!' },
      annotations: { 'no key!': 'x'.repeat(300_000) },
      ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }],
      finalizers: ['no name!'],
    };
    const created = await api.create(inNone, widget('a', {}, { metadata }));
    expect(created.metadata).to.deep.include(metadata);
    const labels = { other: 'x'.repeat(64) };
    const patched = await api.call('PATCH', `${inNone}/a`, { metadata: { labels } }, merge);
    expect(patched.body.metadata.labels).to.deep.equal({ ...metadata.labels, ...labels });
    const uid = await api.call('PATCH', `${inNone}/a`, { metadata: { uid: 'other' } }, merge);
    expect(uid.code).to.be.oneOf([409, 422]);
  });

  it('have a new generation after changes outside metadata and status', async () => {
    const api = await started();
    await api.create(inNone, widget('a', { size: 1 }));
    const patched = async (body: object) => {
      const { body: object } = await api.call('PATCH', `${inNone}/a`, body, merge);
      return object.metadata.generation;
    };
    expect(await patched({ status: { phase: 'Ready' } })).to.equal(1);
    expect(await patched({ metadata: { labels: { a: 'b' } } })).to.equal(1);
    expect(await patched({ spec: { size: 2 }, status: { phase: 'Busy' } })).to.equal(2);
    expect(await patched({ status: null })).to.equal(2);
  });

  it('support every verb without a namespace', async () => {
    const api = await started();
    const created = await api.create(inNone, widget('a'));
    expect(created.metadata).not.to.have.property('namespace');
    expect((await api.get(`${inNone}/a`)).body).to.deep.equal(created);
    const spec = { spec: { size: 2 } };
    expect((await api.call('PATCH', `${inNone}/a`, spec, merge)).body['spec']).to.include({
      size: 2,
    });
    const { body: live } = await api.get(`${inNone}/a`);
    expect((await api.call('PUT', `${inNone}/a`, { ...live, spec: { size: 3 } })).code).to.equal(
      200,
    );
    const applied = await api.call('PATCH', `${inNone}/b?fieldManager=me`, widget('b'), apply);
    expect([applied.code, applied.body.metadata.namespace]).to.deep.equal([201, undefined]);
    expect((await api.call('DELETE', `${inNone}/a`)).code).to.equal(200);
    expect((await api.get(`${inNone}/a`)).code).to.equal(404);
  });

  it('are separate in each namespace, and without a namespace', async () => {
    const api = await started();
    await api.create(inNone, widget('a', { size: 1 }));
    await api.create(elsewhere, widget('a', { size: 2 }));
    const named = (items: readonly { metadata: { namespace?: string } }[]) =>
      items.map(({ metadata: { namespace = 'none' } }) => namespace);
    expect(named((await api.get(inNone)).body.items)).to.have.members(['none', 'nowhere']);
    expect(named((await api.get(elsewhere)).body.items)).to.deep.equal(['nowhere']);
    const none = `${inNone}?fieldSelector=metadata.namespace%3D`;
    expect(named((await api.get(none)).body.items)).to.deep.equal(['none']);
    expect((await api.call('DELETE', elsewhere)).code).to.equal(200);
    expect(named((await api.get(inNone)).body.items)).to.deep.equal(['none']);
  });

  it('are watched in all namespaces or in one', async () => {
    const api = await started();
    const all = await api.watch(`${inNone}?watch=1`);
    const one = await api.watch(`${elsewhere}?watch=1`);
    await api.create(inNone, widget('a'));
    await api.create(elsewhere, widget('b'));
    expect(await all.names(2)).to.deep.equal(['ADDED a', 'ADDED b']);
    expect(await one.names(1)).to.deep.equal(['ADDED b']);
  });

  it('may lack a namespace, in contrast to objects of built-in kinds', async () => {
    const api = await started();
    expect((await api.call('POST', '/api/v1/configmaps', configMap)).code).to.equal(405);
    expect((await api.get('/api/v1/configmaps/a')).code).to.equal(404);
  });

  for (const propagationPolicy of ['Foreground', 'Orphan']) {
    it(`are deleted at once with the propagation policy ${propagationPolicy}`, async () => {
      const api = await started();
      await api.create(elsewhere, widget('a'));
      await api.call('DELETE', `${elsewhere}/a`, { propagationPolicy });
      expect((await api.get(`${elsewhere}/a`)).code).to.equal(404);
    });
  }
});

describe('custom resources without the option looseCustomResources', () => {
  it('need an existing namespace and a valid name', async () => {
    const api = new Api();
    await installed(api);
    const widgets = '/apis/example.com/v1/namespaces/default/widgets';
    expect((await api.call('POST', elsewhere, widget('a'))).code).to.equal(404);
    expect((await api.call('POST', inNone, widget('a'))).code).to.equal(404);
    expect((await api.call('POST', widgets, widget('A'))).code).to.equal(422);
    await api.create(widgets, widget('a'));
    await api.call('DELETE', `${widgets}/a`, { propagationPolicy: 'Foreground' });
    expect((await api.get(`${widgets}/a`)).body.metadata.finalizers).to.deep.equal([
      'foregroundDeletion',
    ]);
  });
});
