import { expect } from 'chai';
import { faulty, forwarding } from '../../../../lib/client/index.js';
import type { Client, Fault, FaultyClient } from '../../../../lib/client/index.js';
import { ConfigMap, Deployment } from '../../../../lib/object/kinds.js';
import { objectsResource } from '../../../../lib/resource/index.js';
import type { Resource } from '../../../../lib/resource/index.js';
import { newOwner, withCache } from '../../../builder/suite/scene.js';
import type { Scene } from '../../../builder/suite/scene.js';
import { configMap, configMaps, failureOf, keep, keptNames, leave } from './keeping.js';
import type { OpenScene } from './keeping.js';

/** Declares how objects and fields of others are treated. */
export function othersSuite(open: OpenScene): void {
  it('a manual change is reverted, and an Event names the path and the field manager', async () => {
    const scene = await open();
    const resource = configMaps([configMap('a', { k: '1' })]);
    await keep(scene, [resource]);
    await scene.edit(ConfigMap, 'a', { body: { data: { k: 'edited' } } });
    scene.events.length = 0;
    await keep(scene, [resource]);
    expect((await scene.get(ConfigMap, 'a')).data).to.deep.equal({ k: '1' });
    expect(scene.events).to.have.length(1);
    expect(scene.events[0]?.note).to.include('data.k').and.to.include('drift');
  });

  it('replicas that an autoscaler has set are reverted, and the Event tells how to keep them', async () => {
    const scene = await open();
    const labels = { app: 'web' };
    const spec = {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    };
    const web = (replicas: { replicas?: number }): Resource =>
      objectsResource({
        ...{ name: 'workloads', types: [Deployment] },
        getDesiredState: () => [
          {
            ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
            spec: { ...spec, ...replicas },
          },
        ],
      });
    const scale = { type: 'merge', body: { spec: { replicas: 5 } } } as const;
    const autoscaler = { subresource: 'scale', fieldManager: 'horizontal-pod-autoscaler' };
    const key = { namespace: scene.namespace, name: 'web' };
    await keep(scene, [web({ replicas: 3 })]);
    await scene.admin.patch(Deployment, key, scale, autoscaler);
    scene.events.length = 0;
    await keep(scene, [web({ replicas: 3 })]);
    expect(scene.events[0]?.note).to.include(
      "spec.replicas (drift by horizontal-pod-autoscaler; if an autoscaler sets it: set replicas: 'external' in a builder, and leave replicas out elsewhere)",
    );
    await scene.admin.patch(Deployment, key, scale, autoscaler);
    await keep(scene, [web({})]);
    expect((await scene.get(Deployment, 'web')).spec?.replicas).to.equal(5);
  });

  it('an object of another client that the cache does not contain yet is not adopted', async () => {
    const scene = await open();
    await scene.admin.create({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { password: 'theirs' } },
      metadata: { namespace: scene.namespace, name: 'a' },
    });
    const { client } = scene.operator;
    let misses = 0;
    const lagging: Client = {
      ...forwarding(client),
      get: async (type, key, options) => {
        if (key.name !== 'a' || misses++ > 0) return client.get(type, key, options);
        return client.get(type, { ...key, name: 'missing' }, options);
      },
    };
    const resource = configMaps([configMap('a', { password: 'ours' })]);
    const failure = await failureOf(keep(scene, [resource], { client: lagging }));
    expect(failure.errors.map(({ code }) => code)).to.deep.equal(['NotOurs']);
    expect(misses).to.be.greaterThan(1);
    const { data, metadata } = await scene.get(ConfigMap, 'a');
    expect(data).to.deep.equal({ password: 'theirs' });
    expect(metadata.ownerReferences).to.equal(undefined);
  });

  it('fields that only other managers have set are kept', async () => {
    const scene = await open();
    await keep(scene, [configMaps([configMap('a', { k: '1' })])]);
    const metadata = { labels: { team: 'blue' }, annotations: { 'mesh.example.com/x': 'y' } };
    await scene.edit(ConfigMap, 'a', { body: { metadata, data: { theirs: '1' } } });
    await scene.writes();
    await keep(scene, [configMaps([configMap('a', { k: '1' })])]);
    expect(await scene.writes()).to.deep.equal([]);
    await keep(scene, [configMaps([configMap('a', { k: '2' })])]);
    const live = await scene.get(ConfigMap, 'a');
    expect(live.data).to.deep.equal({ k: '2', theirs: '1' });
    expect(live.metadata.labels).to.include({ team: 'blue' });
    expect(live.metadata.annotations).to.include({ 'mesh.example.com/x': 'y' });
  });

  it('a label in allowedLabels that others set is kept, and other changed labels are reverted', async () => {
    const scene = await open();
    const labelled = (tier: string): ConfigMap => {
      const metadata = { name: 'a', labels: { team: 'red', tier } };
      return { ...configMap('a'), metadata };
    };
    const resource = (tier = 'web') => configMaps([labelled(tier)], { allowedLabels: ['team'] });
    await keep(scene, [resource()]);
    expect((await scene.get(ConfigMap, 'a')).metadata.labels).to.include({ team: 'red' });
    await scene.edit(ConfigMap, 'a', { body: { metadata: { labels: { team: 'green' } } } });
    await scene.writes();
    await keep(scene, [resource()]);
    expect(await scene.writes()).to.deep.equal([]);
    const labels = { team: 'blue', tier: 'edited' };
    await scene.edit(ConfigMap, 'a', { body: { metadata: { labels } } });
    await keep(scene, [resource()]);
    const found = (await scene.get(ConfigMap, 'a')).metadata.labels;
    expect(found).to.include({ team: 'blue', tier: 'web' });
    await scene.writes();
    await keep(scene, [resource()]);
    expect(await scene.writes()).to.deep.equal([]);
    await keep(scene, [resource('db')]);
    const after = (await scene.get(ConfigMap, 'a')).metadata.labels;
    expect(after).to.include({ team: 'blue', tier: 'db' });
  });

  it('a label in allowedLabels that only this resource sets is updated', async () => {
    const scene = await open();
    const labelled = (team: string): ConfigMap => ({
      ...configMap('a'),
      metadata: { name: 'a', labels: { team } },
    });
    const allowedLabels = ['team'];
    await keep(scene, [configMaps([labelled('red')], { allowedLabels })]);
    await keep(scene, [configMaps([labelled('blue')], { allowedLabels })]);
    expect((await scene.get(ConfigMap, 'a')).metadata.labels).to.include({ team: 'blue' });
  });

  it('a label in allowedLabels is kept when an object is adopted', async () => {
    const scene = await open();
    const labels = { team: 'blue' };
    const metadata = { name: 'a', namespace: scene.namespace, labels };
    await scene.admin.create({ ...configMap('a'), metadata });
    const desired = { ...configMap('a'), metadata: { name: 'a', labels: { team: 'red' } } };
    const options = { adopt: true, allowedLabels: ['team'] };
    await keep(scene, [configMaps([desired], options)]);
    const live = await scene.get(ConfigMap, 'a');
    expect(live.metadata.labels).to.include({ team: 'blue' });
    expect(live.metadata.ownerReferences?.[0]?.uid).to.equal(scene.owner.metadata.uid);
  });

  it('a label in allowedLabels that was removed is restored, even if the cache omits managedFields', async () => {
    const scene = await open();
    const desired = { ...configMap('a'), metadata: { name: 'a', labels: { team: 'red' } } };
    const resource = configMaps([desired], { allowedLabels: ['team'] });
    await keep(scene, [resource]);
    await scene.edit(ConfigMap, 'a', { body: { metadata: { labels: { team: null } } } });
    const { client, stop } = await withCache(scene.operator.client, [ConfigMap], false);
    try {
      await keep(scene, [resource], { client });
    } finally {
      await stop();
    }
    expect((await scene.get(ConfigMap, 'a')).metadata.labels).to.include({ team: 'red' });
  });

  it("the labels that mark an object as the resource's are restored when removed", async () => {
    const scene = await open();
    await keep(scene, [configMaps([configMap('a')])]);
    const { metadata } = await scene.get(ConfigMap, 'a');
    const labels = {
      'operator-builder.io/resource': null,
      'operator-builder.io/owner-uid': null,
    };
    await scene.edit(ConfigMap, 'a', { body: { metadata: { labels } } });
    expect(await keptNames(scene)).to.deep.equal([]);
    await keep(scene, [configMaps([configMap('a')])]);
    expect(await keptNames(scene)).to.deep.equal(['a']);
    expect((await scene.get(ConfigMap, 'a')).metadata.uid).to.equal(metadata.uid);
  });

  it('objects without an owner are rejected with their names, and the rest of the list is written', async () => {
    const scene = await open();
    for (const name of ['a', 'c']) {
      const metadata = { name, namespace: scene.namespace };
      await scene.admin.create({ ...configMap(name, { theirs: '1' }), metadata });
    }
    const list = ['a', 'b', 'c'].map((name) => configMap(name, { k: '1' }));
    const failure = await failureOf(keep(scene, [configMaps(list)]));
    expect(failure.errors.map(({ code }) => code)).to.deep.equal(['NotOurs', 'NotOurs']);
    expect(failure.message)
      .to.include(`ConfigMap ${scene.namespace}/a`)
      .and.to.include(`ConfigMap ${scene.namespace}/c`)
      .and.to.include('adopt');
    expect(failure.step).to.equal('applyCreateChange');
    expect((await scene.get(ConfigMap, 'a')).data).to.deep.equal({ theirs: '1' });
    expect(await keptNames(scene)).to.deep.equal(['b']);
    expect(scene.events.map(({ reason }) => reason)).to.include('NotOurs');
  });

  it('an object of another owner is rejected even if adopt is set, and never deleted', async () => {
    const scene = await open();
    const owner = await newOwner(scene.admin, scene.namespace, 'other');
    await keep(scene, [configMaps([configMap('a', { theirs: '1' })])], { owner });
    const resource = configMaps([configMap('a', { k: '1' })], { adopt: true });
    const failure = await failureOf(keep(scene, [resource]));
    expect(failure.errors.map(({ code }) => code)).to.deep.equal(['AlreadyOwned']);
    await keep(scene, [configMaps([])]);
    await leave(scene, [resource]);
    expect((await scene.get(ConfigMap, 'a')).data).to.deep.equal({ theirs: '1' });
  });

  it("a copy that has the resource's labels but no owner reference is not deleted", async () => {
    const scene = await open();
    await keep(scene, [configMaps([configMap('a')])]);
    const { labels = {} } = (await scene.get(ConfigMap, 'a')).metadata;
    const metadata = { name: 'copy', namespace: scene.namespace, labels };
    await scene.admin.create({ ...configMap('copy'), metadata });
    await keep(scene, [configMaps([])]);
    await leave(scene, [configMaps([])]);
    expect(await keptNames(scene)).to.deep.equal(['copy']);
  });

  it('objects with the same owner but another controller stay, even if its resource has the same name', async () => {
    const scene = await open();
    await keep(scene, [configMaps([configMap('a')])], { fieldManager: 'one' });
    await keep(scene, [configMaps([configMap('b')])], { fieldManager: 'two' });
    expect(await keptNames(scene)).to.deep.equal(['a', 'b']);
    // The garbage collector of a real control plane takes some time to end a foreground deletion.
    for (const [fieldManager, left] of [
      ['two', ['a']],
      ['one', []],
    ] as const) {
      await leave(scene, [configMaps([])], { fieldManager });
      await scene.target.eventually(async () => {
        expect(await keptNames(scene)).to.deep.equal(left);
      });
    }
  });

  it('an object that lost the label managed-by is deleted when it is no longer desired', async () => {
    const scene = await open();
    await keep(scene, [configMaps([configMap('a')])]);
    const body = { metadata: { labels: { 'app.kubernetes.io/managed-by': null } } };
    await scene.edit(ConfigMap, 'a', { body });
    await keep(scene, [configMaps([])]);
    expect(await keptNames(scene)).to.deep.equal([]);
  });

  it('AlreadyExists does not fail the resource when the object belongs to it', async () => {
    const scene = await open();
    const client = stumbling(scene, 'apply', alreadyExists);
    await keep(scene, [configMaps([configMap('a')])], { client });
    expect(client.injected).to.have.length(1);
    expect(await keptNames(scene)).to.deep.equal(['a']);
  });

  it('NotFound does not fail the resource when an object to delete no longer exists', async () => {
    const scene = await open();
    await keep(scene, [configMaps([configMap('a'), configMap('b')])]);
    const client = stumbling(scene, 'delete', notFound);
    await leave(scene, [configMaps([])], { client });
    expect(client.injected).to.have.length(1);
    expect(await scene.writes()).to.include('delete configmaps/b');
  });

  it('an object that was recreated is not deleted instead of the object that was read', async () => {
    const scene = await open();
    await keep(scene, [configMaps([configMap('a')])]);
    const key = { namespace: scene.namespace, name: 'a' };
    const { client } = scene.operator;
    const late: Client = {
      ...forwarding(client),
      delete: async (type, name, options) => {
        await scene.admin.delete(ConfigMap, key);
        await scene.admin.create({ ...configMap('a', { new: '1' }), metadata: key });
        return client.delete(type, name, options);
      },
    };
    await keep(scene, [configMaps([])], { client: late });
    expect((await scene.get(ConfigMap, 'a')).data).to.deep.equal({ new: '1' });
  });
}

const alreadyExists = { type: 'error', status: 409, reason: 'AlreadyExists' } as const;
const notFound = { type: 'error', status: 404, reason: 'NotFound' } as const;

/** Returns a client whose first call of `verb` changes the server, but throws `fault`. */
function stumbling(scene: Scene, verb: 'apply' | 'delete', fault: Fault): FaultyClient {
  const rules = [{ fault, verbs: [verb], calls: 1, when: 'after' as const }];
  return faulty(scene.operator.client, { rules });
}
