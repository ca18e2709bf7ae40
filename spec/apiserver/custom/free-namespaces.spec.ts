import { expect } from 'chai';
import { Api, apply, merge } from '../api.js';
import { installed, widget } from './widgets.js';

const inNone = '/apis/example.com/v1/widgets';
const elsewhere = '/apis/example.com/v1/namespaces/nowhere/widgets';
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

async function started(): Promise<Api> {
  const api = new Api({ namespaces: 'names' });
  await installed(api);
  return api;
}

describe('Namespaces that are only names', () => {
  it('need not be there, for built-in kinds neither', async () => {
    const api = await started();
    const { metadata } = await api.create(elsewhere, widget('a'));
    expect(metadata).to.include({ name: 'a', namespace: 'nowhere' });
    await api.create('/api/v1/namespaces/nowhere/configmaps', configMap);
  });

  it('are names still', async () => {
    const api = await started();
    const { code, body } = await api.call('POST', elsewhere.replace('nowhere', 'No'), widget('a'));
    expect([code, body.message]).to.deep.equal([
      422,
      'Widget.example.com "a" is invalid: metadata.namespace: Invalid value: "No": ' +
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', " +
        "and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', " +
        "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ]);
  });

  it('are not needed by custom resources: every verb works without one', async () => {
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

  it('keep objects apart: with one, with another, with none', async () => {
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

  it('are watched with all others, or one at a time', async () => {
    const api = await started();
    const all = await api.watch(`${inNone}?watch=1`);
    const one = await api.watch(`${elsewhere}?watch=1`);
    await api.create(inNone, widget('a'));
    await api.create(elsewhere, widget('b'));
    expect(await all.names(2)).to.deep.equal(['ADDED a', 'ADDED b']);
    expect(await one.names(1)).to.deep.equal(['ADDED b']);
  });

  it('are needed by built-in kinds', async () => {
    const api = await started();
    expect((await api.call('POST', '/api/v1/configmaps', configMap)).code).to.equal(405);
    expect((await api.get('/api/v1/configmaps/a')).code).to.equal(404);
  });

  it('are there by default, or nothing is created, and everything is in one', async () => {
    const api = new Api();
    await installed(api);
    expect((await api.call('POST', elsewhere, widget('a'))).code).to.equal(404);
    expect((await api.call('POST', inNone, widget('a'))).code).to.equal(405);
  });
});

describe('A server without a garbage collector', () => {
  for (const propagationPolicy of ['Foreground', 'Orphan']) {
    it(`deletes at once where ${propagationPolicy} is asked for`, async () => {
      const api = new Api({ garbageCollector: false });
      await installed(api);
      const widgets = '/apis/example.com/v1/namespaces/default/widgets';
      await api.create(widgets, widget('a'));
      await api.call('DELETE', `${widgets}/a`, { propagationPolicy });
      expect((await api.get(`${widgets}/a`)).code).to.equal(404);
    });
  }

  it('takes a collector for granted by default', async () => {
    const api = new Api();
    await installed(api);
    const widgets = '/apis/example.com/v1/namespaces/default/widgets';
    await api.create(widgets, widget('a'));
    await api.call('DELETE', `${widgets}/a`, { propagationPolicy: 'Foreground' });
    expect((await api.get(`${widgets}/a`)).body.metadata.finalizers).to.deep.equal([
      'foregroundDeletion',
    ]);
  });
});
