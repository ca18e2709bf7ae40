import { expect } from 'chai';
import { Api, configMap, configMaps, deployment, deployments, merge } from '../api.js';

const pods = '/api/v1/namespaces/default/pods';

describe('deletion', () => {
  it('answers a Status with the uid of the deleted object', async () => {
    const api = new Api();
    const { metadata } = await api.create(configMaps, configMap('a'));
    const { body } = await api.call('DELETE', `${configMaps}/a`);
    expect(body['details']).to.deep.equal({ name: 'a', kind: 'configmaps', uid: metadata.uid });
    expect((await api.get(`${configMaps}/a`)).code).to.equal(404);
  });

  it('waits for finalizers, refuses new finalizers, and completes when the last one is removed', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a', {}, { finalizers: ['x.y/z'] }));
    const marked = await api.call('DELETE', `${configMaps}/a`);
    expect(marked.body.metadata.deletionTimestamp).to.equal('2026-01-01T00:00:00Z');
    const more = { metadata: { finalizers: ['x.y/z', 'a.b/c'] } };
    expect((await api.call('PATCH', `${configMaps}/a`, more, merge)).code).to.equal(422);
    await api.call('PATCH', `${configMaps}/a`, { metadata: { finalizers: null } }, merge);
    expect((await api.get(`${configMaps}/a`)).code).to.equal(404);
  });

  it('checks preconditions of uid and resourceVersion', async () => {
    const api = new Api();
    const { metadata } = await api.create(configMaps, configMap('a'));
    const wrong = await api.call('DELETE', `${configMaps}/a`, { preconditions: { uid: 'x' } });
    expect(wrong.body['reason']).to.equal('Conflict');
    const { uid, resourceVersion } = metadata;
    const right = await api.call('DELETE', `${configMaps}/a`, {
      preconditions: { uid, resourceVersion },
    });
    expect(right.code).to.equal(200);
  });

  for (const [policy, finalizers] of [
    ['Foreground', ['foregroundDeletion']],
    ['Orphan', ['orphan']],
  ] as const) {
    it(`sets a finalizer for the garbage collector with the propagation policy ${policy}`, async () => {
      const api = new Api();
      await api.create(deployments, deployment('web'));
      const { body } = await api.call('DELETE', `${deployments}/web`, {
        propagationPolicy: policy,
      });
      expect(body.metadata.finalizers).to.deep.equal(finalizers);
      expect(body.metadata.generation).to.equal(2);
    });
  }

  it('ignores delete options in the query if the request has a body, as a real server does', async () => {
    const api = new Api();
    for (const name of ['a', 'b']) await api.create(configMaps, configMap(name));
    await api.call('DELETE', `${configMaps}/a?dryRun=All`);
    await api.call('DELETE', `${configMaps}/b?dryRun=All`, { kind: 'DeleteOptions' });
    const { body } = await api.get(configMaps);
    expect(body.items.map(({ metadata }) => metadata.name)).to.deep.equal(['a']);
    for (const query of ['uid=other', 'resourceVersion=1']) {
      expect((await api.call('DELETE', `${configMaps}/a?${query}`)).code).to.equal(409);
    }
  });

  it('refuses delete options of the wrong type, and deletes nothing', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    const wrong = [
      [{ dryRun: 'All' }, 'string into Go struct field DeleteOptions.dryRun of type []string'],
      [
        { orphanDependents: 'true' },
        'string into Go struct field DeleteOptions.orphanDependents of type bool',
      ],
      [
        { preconditions: { uid: 5 } },
        'number into Go struct field Preconditions.preconditions.uid of type types.UID',
      ],
    ] as const;
    for (const [options, why] of wrong) {
      const { code, body } = await api.call('DELETE', `${configMaps}/a`, options);
      expect([code, body.message]).to.deep.equal([400, `json: cannot unmarshal ${why}`]);
    }
    for (const query of ['gracePeriodSeconds=x', 'gracePeriodSeconds=']) {
      expect((await api.call('DELETE', `${configMaps}/a?${query}`)).code).to.equal(400);
    }
    expect((await api.get(`${configMaps}/a`)).code).to.equal(200);
  });

  it('gives a running pod a grace period, which can only be shortened', async () => {
    const api = new Api();
    const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'x' }] };
    await api.create(pods, { metadata: { name: 'p' }, spec });
    const first = await api.call('DELETE', `${pods}/p`);
    expect(first.body.metadata).to.include({
      deletionGracePeriodSeconds: 30,
      deletionTimestamp: '2026-01-01T00:00:30Z',
    });
    const longer = await api.call('DELETE', `${pods}/p`, { gracePeriodSeconds: 60 });
    expect(longer.body.metadata.deletionGracePeriodSeconds).to.equal(30);
    const shorter = await api.call('DELETE', `${pods}/p`, { gracePeriodSeconds: 5 });
    expect(shorter.body.metadata.deletionTimestamp).to.equal('2026-01-01T00:00:05Z');
    await api.call('DELETE', `${pods}/p`, { gracePeriodSeconds: 0 });
    expect((await api.get(`${pods}/p`)).code).to.equal(404);
  });

  it('removes a pod without a node at once', async () => {
    const api = new Api();
    await api.create(pods, {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'x' }] },
    });
    await api.call('DELETE', `${pods}/p`);
    expect((await api.get(`${pods}/p`)).code).to.equal(404);
  });

  it('of a collection deletes only the selected objects', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a', {}, { labels: { x: 'y' } }));
    await api.create(configMaps, configMap('b'));
    const { body } = await api.call('DELETE', `${configMaps}?labelSelector=x`);
    expect(body.items.map(({ metadata }) => metadata.name)).to.deep.equal(['a']);
    expect((await api.get(configMaps)).body.items).to.have.length(1);
  });

  it('refuses to delete built-in namespaces', async () => {
    const api = new Api();
    expect((await api.call('DELETE', '/api/v1/namespaces/default')).code).to.equal(403);
  });

  it('of a namespace waits until the finalizer of the namespace is removed', async () => {
    const api = new Api();
    await api.create('/api/v1/namespaces', { metadata: { name: 'x' } });
    const { body } = await api.call('DELETE', '/api/v1/namespaces/x');
    expect(body['status']).to.deep.equal({ phase: 'Terminating' });
    const done = { ...body, spec: { finalizers: [] } };
    await api.call('PUT', '/api/v1/namespaces/x/finalize', done);
    expect((await api.get('/api/v1/namespaces/x')).code).to.equal(404);
  });
});
