import { expect } from 'chai';
import type { CommittedChange } from '../../lib/apiserver/loopback.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { ConfigMap, Deployment } from '../../lib/object/kinds.js';
import { Api, configMap, configMaps, deployment, merge } from './api.js';
import { installed, widget, widgets } from './custom/widgets.js';

const manager = 'kube-controller-manager';
const key = { namespace: 'default', name: 'a' };

function object(body: object): UnstructuredObject {
  const given = body as UnstructuredObject;
  return { ...given, metadata: { namespace: 'default', ...given.metadata } };
}

function shown(changes: readonly CommittedChange[]): string[] {
  return changes.map(({ type, object: { kind, metadata } }) => `${type} ${kind} ${metadata.name}`);
}

describe('the loopback client of the embedded server', () => {
  it('writes with defaults, validation and managed fields, like requests', async () => {
    const { server } = new Api();
    const created = await server.loopback.create(object(deployment('a')), { manager });
    expect(created).to.have.nested.property('spec.revisionHistoryLimit', 10);
    expect(created.metadata.managedFields?.[0]).to.include({ manager, operation: 'Update' });
    const error = await server.loopback
      .create(object(deployment('A')), { manager })
      .catch((e: unknown) => e);
    expect(error).to.have.property('status', 422);
  });

  it('reads shared, frozen objects', async () => {
    const { server } = new Api();
    const created = await server.loopback.create(object(configMap('a')), { manager });
    expect(server.loopback.get(ConfigMap, key)).to.equal(created);
    expect(server.loopback.list(ConfigMap, 'default')).to.deep.equal([created]);
    expect(server.loopback.list(ConfigMap, 'kube-system')).to.deep.equal([]);
    expect(created).to.be.frozen;
  });

  it('updates subresources, and refuses stale objects', async () => {
    const { server } = new Api();
    const { loopback } = server;
    const created = await loopback.create(object(deployment('a')), { manager });
    const status = { ...created, status: { replicas: 1 } };
    const updated = await loopback.update(status, { manager, subresource: 'status' });
    expect(updated['status']).to.deep.include({ replicas: 1 });
    expect(loopback.get(Deployment, key)).to.equal(updated);
    const stale = { ...created, metadata: { ...created.metadata, labels: { a: 'b' } } };
    const error = await loopback.update(stale, { manager }).catch((e: unknown) => e);
    expect(error).to.have.property('status', 409);
  });

  it('deletes with preconditions', async () => {
    const { server } = new Api();
    const { metadata } = await server.loopback.create(object(configMap('a')), { manager });
    const wrong = { preconditions: { uid: 'other' } };
    const error = await server.loopback.delete(ConfigMap, key, wrong).catch((e: unknown) => e);
    expect(error).to.have.property('status', 409);
    const preconditions = { uid: metadata.uid ?? '' };
    await server.loopback.delete(ConfigMap, key, { preconditions });
    expect(server.loopback.get(ConfigMap, key)).to.equal(undefined);
  });

  it('notifies of every change in order, with the previous object', async () => {
    const api = new Api();
    const changes: CommittedChange[] = [];
    const stop = api.server.loopback.subscribe((change) => changes.push(change));
    const created = await api.create(configMaps, configMap('a'));
    await api.call('PATCH', `${configMaps}/a`, { data: { x: 'y' } }, merge);
    await api.call('DELETE', `${configMaps}/a`);
    stop();
    await api.create(configMaps, configMap('b'));
    expect(shown(changes)).to.deep.equal([
      'ADDED ConfigMap a',
      'MODIFIED ConfigMap a',
      'DELETED ConfigMap a',
    ]);
    expect(changes[1]?.previous?.metadata.resourceVersion).to.equal(
      created.metadata.resourceVersion,
    );
  });

  it('finds dependents of any kind by the uid of their owner', async () => {
    const api = new Api();
    await installed(api);
    const owner = await api.create(configMaps, configMap('owner'));
    const { uid = '' } = owner.metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }];
    await api.create(configMaps, configMap('a', {}, { ownerReferences }));
    await api.create(widgets, { ...widget('w'), metadata: { name: 'w', ownerReferences } });
    const found = (): string[] =>
      api.server.loopback.dependents(uid).map(({ resourceType }) => resourceType.kind);
    expect(found()).to.have.members(['ConfigMap', 'Widget']);
    await api.call('PATCH', `${configMaps}/a`, { metadata: { ownerReferences: null } }, merge);
    expect(found()).to.deep.equal(['Widget']);
    await api.call('DELETE', `${widgets}/w`);
    expect(found()).to.deep.equal([]);
  });

  it('lists the currently served kinds, once each', async () => {
    const api = new Api();
    const kinds = (): string[] => api.server.loopback.resourceTypes().map(({ kind }) => kind);
    expect(kinds()).not.to.include('Widget');
    await installed(api);
    expect(kinds()).to.include('Widget');
    expect(new Set(kinds()).size).to.equal(kinds().length);
  });
});
