import { expect } from 'chai';
import type { DeclarativeController } from '../../../lib/declarative/runtime/declarative-controller.js';
import { failureOf } from '../../client/scripted-transport.js';
import { ScriptedLeadership } from '../../manager/manager-setup.js';
import { ControllerScene, configMap, sameName, view, views } from './controller-scene.js';

const ConfigMaps = { apiVersion: 'v1', kind: 'ConfigMap' };
const keyOfA = { namespace: 'default', name: 'a' };

/** A controller that writes a Secret for each ConfigMap in the namespace. */
const secrets = {
  ...{ name: 'secrets', sources: [{ apiGroup: '', kind: 'ConfigMap', namespace: 'default' }] },
  pipeline: [{ '@project': { metadata: sameName, data: '$.data' } }],
  target: { apiGroup: '', kind: 'Secret' },
};

/** A controller that annotates the ConfigMap of each view Note. */
const notes = {
  ...{ name: 'notes', sources: [{ kind: 'Note' }] },
  pipeline: [
    { '@project': { metadata: { ...sameName, annotations: { 'example.com/note': '$.note' } } } },
  ],
  target: { apiGroup: '', version: 'v1', kind: 'ConfigMap', type: 'Patcher' },
};

const Secrets = { apiVersion: 'v1', kind: 'Secret' };

async function annotationsOfA(scene: ControllerScene): Promise<unknown> {
  return (await scene.get(ConfigMaps, keyOfA))?.metadata.annotations ?? null;
}

describe('the lifecycle of declarative controllers', () => {
  let scene: ControllerScene;
  afterEach(async () => scene.end());

  it('finds by discovery the versions of kinds that the API server serves', async () => {
    scene = await ControllerScene.start();
    await scene.put(configMap('a', { x: '1' }));
    await scene.run(secrets);
    const secret = await scene.get(Secrets, keyOfA);
    expect(secret?.['data']).to.deep.equal({ x: Buffer.from('1').toString('base64') });
  });

  it('writes nothing while nothing changes, nor after a restart', async () => {
    scene = await ControllerScene.start();
    const { cluster, clock } = scene.base;
    for (const name of ['a', 'b', 'c']) await scene.put(configMap(name, { x: '1' }));
    const period = {
      apiGroup: 'source.dcontroller.io',
      kind: 'Periodic',
      parameters: { period: '1m' },
    };
    const spec = { ...secrets, sources: [...secrets.sources, period] };
    const [controller] = (await scene.run(spec)) as [DeclarativeController];
    const mark = cluster.requests.mark();
    await clock.advance(180_000);
    await scene.settled();
    await controller.stop();
    const again = scene.controller(spec);
    await again.start();
    await scene.during(again.whenSynced());
    expect(cluster.requests.since(mark).writes).to.equal(0);
    // Each of three ticks, and the list after the restart, reads every object at most once.
    const gets = cluster.requests.since(mark).count(({ verb }) => verb === 'get');
    expect(gets).to.be.at.most(4 * 3);
  });

  it('writes and deletes nothing before the lists of all sources are complete', async () => {
    scene = await ControllerScene.start();
    const left = { ...Secrets, metadata: keyOfA, data: { x: 'MQ==' } };
    await scene.client.apply(left, { fieldManager: 'op/secrets' });
    const sources = [
      ...secrets.sources,
      { apiGroup: 'example.com', version: 'v1', kind: 'Widget', as: 'W' },
    ];
    const pipeline = [{ '@join': true }, { '@project': { metadata: { name: 'x' } } }];
    const controller = scene.controller({ ...secrets, sources, pipeline });
    await controller.start();
    await scene.base.run(scene.manager);
    await scene.base.clock.advance(60_000);
    expect(await scene.names(Secrets)).to.deep.equal(['a']);
    expect(scene.ready(controller)).to.equal('Unknown ReconciliationFailed');
  });

  it('writes and deletes nothing if the manager does not watch the namespace of a source', async () => {
    scene = await ControllerScene.start({ cacheOptions: { namespaces: ['shop'] } });
    await scene.put(configMap('a', { x: '1' }));
    const name = { name: 'shop' };
    await scene.client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: name });
    const left = { ...Secrets, metadata: { name: 'a', namespace: 'shop' }, data: { x: 'MQ==' } };
    await scene.client.apply(left, { fieldManager: 'op/secrets' });
    const metadata = { name: '$.metadata.name', namespace: 'shop' };
    const pipeline = [{ '@project': { metadata, data: '$.data' } }];
    const controller = scene.controller({ ...secrets, pipeline });
    await controller.start();
    await scene.base.run(scene.manager);
    await scene.base.clock.advance(60_000);
    expect(await scene.names(Secrets)).to.deep.equal(['a']);
    expect(scene.ready(controller)).to.equal('Unknown ReconciliationFailed');
    expect(controller.status().conditions[0]?.message).to.include(
      'source ConfigMap: ConfigMap in namespace default: the manager is limited to other namespaces',
    );
  });

  it('writes and deletes nothing if a source has a namespace although its kind is cluster-scoped', async () => {
    scene = await ControllerScene.start();
    await scene.client.apply(configMap('left'), { fieldManager: 'op/copies' });
    const controller = scene.controller({
      ...{ name: 'copies', target: { apiGroup: '', kind: 'ConfigMap' } },
      sources: [{ apiGroup: '', version: 'v1', kind: 'Namespace', namespace: 'default' }],
      pipeline: { '@project': { metadata: { name: '$.metadata.name', namespace: 'default' } } },
    });
    await controller.start();
    await scene.base.run(scene.manager);
    await scene.base.clock.advance(60_000);
    expect(await scene.names(ConfigMaps)).to.include('left');
    expect(controller.status().conditions[0]?.message).to.include('Namespace is cluster-scoped');
  });

  it('deletes nothing while views are empty only because the controller that writes them has not run yet', async () => {
    scene = await ControllerScene.start();
    await scene.put(configMap('a', { x: '1' }));
    const written = { ...Secrets, metadata: keyOfA, type: 'Opaque', data: { x: 'MQ==' } };
    await scene.client.apply(written, { fieldManager: 'op/secrets' });
    const before = await scene.get(Secrets, keyOfA);
    const refused = scene.base.cluster.faults.add({
      match: { resource: 'configmaps', user: 'operator' },
      effect: { type: 'status', code: 500, reason: 'InternalError', message: 'no' },
    });
    const { sources, pipeline } = secrets;
    const reader = scene.controller({ ...secrets, sources: [{ kind: 'Copy' }] });
    const filler = scene.controller({ name: 'views', sources, pipeline, target: { kind: 'Copy' } });
    await reader.start();
    await filler.start();
    await scene.base.run(scene.manager);
    await scene.base.clock.advance(30_000);
    expect(await scene.get(Secrets, keyOfA)).to.deep.equal(before);
    refused.remove();
    await scene.base.clock.advance(120_000);
    await scene.during(reader.whenSynced());
    expect((await scene.get(Secrets, keyOfA))?.metadata.uid).to.equal(before?.metadata.uid);
  });

  it('warns about a view that no controller writes', async () => {
    scene = await ControllerScene.start();
    const { sources, pipeline } = secrets;
    const filler = { name: 'views', sources, pipeline, target: { kind: 'Copy' } };
    await scene.run({ ...secrets, sources: [{ kind: 'Copi' }] }, filler);
    const warnings = scene.base.lines.filter(({ level }) => level === 'warn');
    const copi =
      'no controller fills the view Copi of op, so it counts as empty; did you mean Copy?';
    expect(warnings.map(({ message }) => message)).to.deep.equal([
      `controller op/secrets: ${copi}`,
    ]);
  });

  it('does not wait for views that another controller cannot write', async () => {
    scene = await ControllerScene.start();
    await scene.put(view('Wish', 'a', { marks: { x: '1' } }));
    await scene.put(view('Wish', 'b', { marks: 'no labels' }));
    const metadata = { ...sameName, labels: '$.marks' };
    const passed = { '@project': { metadata: sameName } };
    const named = { sources: [{ kind: 'Wish' }], pipeline: [{ '@project': { metadata } }] };
    const filler = scene.controller({ name: 'views', ...named, target: { kind: 'Copy' } });
    const sources = [{ kind: 'Copy' }];
    const reader = scene.controller({ ...secrets, sources, pipeline: [passed] });
    await Promise.all([filler.start(), reader.start()]);
    await scene.base.run(scene.manager);
    await scene.during(reader.whenSynced());
    expect(scene.ready(filler)).to.equal('Unknown ReconciliationFailed');
    expect(await scene.names(Secrets)).to.deep.equal(['a']);
  });

  describe('the stop of a declarative controller', () => {
    it('keeps the objects the controller wrote, and leaves no watches', async () => {
      scene = await ControllerScene.start();
      await scene.put(configMap('a', { x: '1' }));
      const [controller] = (await scene.run(secrets)) as [DeclarativeController];
      await scene.during(controller.stop());
      expect(scene.manager.cache.status()).to.deep.equal([]);
      expect(scene.manager.status().controllers).to.deep.equal([]);
      await scene.put(configMap('b', { x: '1' }));
      await scene.settled();
      expect(await scene.names(Secrets)).to.deep.equal(['a']);
      expect(await failureOf(controller.start())).to.have.property('code', 'AlreadyStarted');
    });

    it('deletes with the clean-up policy "delete" the objects that the controller wrote, also in earlier processes', async () => {
      scene = await ControllerScene.start();
      await scene.put(configMap('a', { x: '1' }));
      await scene.put({ ...configMap('mine'), ...Secrets });
      await scene.client.apply(
        { ...Secrets, metadata: { name: 'left', namespace: 'default' }, data: { x: 'MQ==' } },
        { fieldManager: 'op/secrets' },
      );
      const [controller] = (await scene.run(secrets)) as [DeclarativeController];
      expect(await scene.names(Secrets)).to.deep.equal(['a', 'mine']);
      await scene.during(controller.stop({ cleanUp: 'delete' }));
      expect(await scene.names(Secrets)).to.deep.equal(['mine']);
    });

    it('removes the fields that a Patcher has set if the clean-up policy is "delete"', async () => {
      scene = await ControllerScene.start();
      await scene.put(configMap('a', { x: '1' }));
      await scene.put(view('Note', 'a', { note: 'hello' }));
      const [controller] = (await scene.run(notes)) as [DeclarativeController];
      expect(await annotationsOfA(scene)).to.deep.equal({ 'example.com/note': 'hello' });
      await scene.during(controller.stop({ cleanUp: 'delete' }));
      expect(await annotationsOfA(scene)).to.equal(null);
      expect(await scene.get(ConfigMaps, keyOfA)).to.deep.include({ data: { x: '1' } });
    });

    it('does not delete objects outside of the namespaces of the cache', async () => {
      scene = await ControllerScene.start({ cacheOptions: { namespaces: ['default'] } });
      const left = (namespace: string) => ({ ...Secrets, metadata: { name: 'left', namespace } });
      for (const namespace of ['default', 'kube-system']) {
        const object = { ...left(namespace), data: { x: 'MQ==' } };
        await scene.client.apply(object, { fieldManager: 'op/secrets' });
      }
      const [controller] = (await scene.run(secrets)) as [DeclarativeController];
      const there = async (): Promise<unknown[]> =>
        (await scene.client.list(Secrets)).items.map(({ metadata }) => metadata.namespace);
      expect(await there()).to.deep.equal(['kube-system']);
      await scene.during(controller.stop({ cleanUp: 'delete' }));
      expect(await there()).to.deep.equal(['kube-system']);
    });

    it('deletes objects of earlier processes with the clean-up policy "delete", also if the controller was not started', async () => {
      scene = await ControllerScene.start();
      await scene.client.apply(
        { ...Secrets, metadata: { name: 'left', namespace: 'default' }, data: { x: 'MQ==' } },
        { fieldManager: 'op/secrets' },
      );
      await scene.during(scene.controller(secrets).stop({ cleanUp: 'delete' }));
      expect(await scene.names(Secrets)).to.deep.equal([]);
    });

    it('fails when the objects that it has to delete cannot be listed', async () => {
      scene = await ControllerScene.start();
      const fault = scene.base.cluster.faults.add({
        match: { verb: 'list', resource: 'secrets' },
        effect: { type: 'status', code: 403, reason: 'Forbidden', message: 'no' },
      });
      const stopped = failureOf(scene.controller(secrets).stop({ cleanUp: 'delete' }));
      expect(String(await scene.during(stopped))).to.include('clean-up of op/secrets: ');
      expect(fault.struck).to.be.above(0);
    });

    it('rejects a call of whenSynced that waits for a kind that the server does not serve', async () => {
      scene = await ControllerScene.start();
      const controller = scene.controller({
        ...secrets,
        sources: [{ apiGroup: 'example.com', kind: 'Widget' }],
      });
      await controller.start();
      await scene.base.run(scene.manager);
      const waiting = failureOf(controller.whenSynced());
      await controller.stop({ cleanUp: 'delete' });
      expect(await waiting).to.have.property('code', 'Stopped');
    });

    it('makes a later start fail', async () => {
      scene = await ControllerScene.start();
      const controller = scene.controller(secrets);
      await controller.stop();
      expect(await failureOf(controller.start())).to.have.property('code', 'Stopped');
    });
  });

  describe('with targets in several namespaces', () => {
    const labels = { copied: 'yes' };
    const spread = {
      ...secrets,
      sources: [{ apiGroup: '', kind: 'ConfigMap', labelSelector: { matchLabels: labels } }],
    };
    const putIn = async (...namespaces: readonly string[]): Promise<void> => {
      for (const name of namespaces) {
        await scene.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
        await scene.put(configMap(`in-${name}`, { x: '1' }, { namespace: name, labels }));
      }
    };

    it('writes to the other namespaces if access to one is forbidden, and reports the forbidden one', async () => {
      scene = await ControllerScene.start();
      await putIn('locked', 'open');
      scene.base.cluster.faults.add({
        match: { resource: 'secrets', namespace: 'locked', user: 'operator' },
        effect: { type: 'status', code: 403, reason: 'Forbidden', message: 'no' },
      });
      const controller = scene.controller(spread);
      await controller.start();
      await scene.base.run(scene.manager);
      await putIn('later');
      await scene.eventually(async () => {
        expect(await scene.names(Secrets)).to.deep.equal(['in-later', 'in-open']);
      }, 100);
      const [{ message } = { message: '' }] = controller.status().conditions;
      expect(message).to.match(/^target of locked\/in-locked: .* 403 Forbidden/);
    });

    it('reports no error for targets that are deleted with their namespace, and creates the targets again with the namespace', async () => {
      scene = await ControllerScene.start();
      await putIn('leaving');
      const [controller] = (await scene.run(spread)) as [DeclarativeController];
      await scene.client.delete({ apiVersion: 'v1', kind: 'Namespace' }, { name: 'leaving' });
      await scene.base.clock.advance(120_000);
      expect(await scene.names(Secrets)).to.deep.equal([]);
      expect(scene.errors.map(({ message }) => message)).to.deep.equal([]);
      expect(scene.ready(controller)).to.equal('True Ready');
      await putIn('leaving');
      await scene.eventually(async () => {
        expect(await scene.names(Secrets)).to.deep.equal(['in-leaving']);
      }, 100);
    });
  });

  it('removes patched annotations when the source is deleted', async () => {
    scene = await ControllerScene.start();
    await scene.put(configMap('a', { x: '1' }));
    await scene.run(notes);
    await scene.put(view('Note', 'a', { note: 'hello' }));
    await scene.settled();
    expect(await annotationsOfA(scene)).to.deep.equal({ 'example.com/note': 'hello' });
    await scene.delete(view('Note', 'a'));
    await scene.settled();
    expect(await annotationsOfA(scene)).to.equal(null);
  });

  it('patches a missing object when it has been created', async () => {
    scene = await ControllerScene.start();
    const controller = scene.controller(notes);
    await controller.start();
    await scene.base.run(scene.manager);
    await scene.put(view('Note', 'a', { note: 'hello' }));
    await scene.eventually(() => {
      expect(scene.ready(controller)).to.equal('Unknown ReconciliationFailed');
    });
    await scene.put(configMap('a'));
    await scene.base.clock.advance(60_000);
    await scene.settled();
    expect(scene.ready(controller)).to.equal('True Ready');
    expect(await annotationsOfA(scene)).to.deep.equal({ 'example.com/note': 'hello' });
  });

  it('writes only while its process leads, and reconciles all objects when its process becomes the leader', async () => {
    const leadership = new ScriptedLeadership();
    scene = await ControllerScene.start({
      leaderElection: leadership,
      whenLeadershipIsLost: 'standby',
    });
    await scene.put(configMap('a', { x: '1' }));
    const controller = scene.controller(secrets);
    await controller.start();
    await scene.base.run(scene.manager);
    await scene.eventually(() => expect(scene.ready(controller)).to.equal('True Ready'));
    expect(await scene.names(Secrets)).to.deep.equal([]);
    leadership.lead();
    await scene.eventually(async () => expect(await scene.names(Secrets)).to.deep.equal(['a']));
    leadership.lose();
    await scene.base.clock.advance(0);
    // While there is no leader, changes wait for the next leader.
    await scene.delete({ ...configMap('a'), ...Secrets });
    await scene.put(configMap('b', { x: '1' }));
    await scene.base.clock.advance(1_000);
    expect(await scene.names(Secrets)).to.deep.equal([]);
    leadership.lead();
    await scene.eventually(async () => {
      expect(await scene.names(Secrets)).to.deep.equal(['a', 'b']);
    });
  });

  it('does not use what views held in an earlier term of leadership', async () => {
    const leadership = new ScriptedLeadership();
    scene = await ControllerScene.start({
      leaderElection: leadership,
      whenLeadershipIsLost: 'standby',
    });
    await scene.put(configMap('a', { x: '1' }));
    const filler = scene.controller({ ...secrets, name: 'views', target: { kind: 'Copy' } });
    const reader = scene.controller({ ...secrets, sources: [{ kind: 'Copy' }] });
    await Promise.all([filler.start(), reader.start()]);
    await scene.base.run(scene.manager);
    leadership.lead();
    await scene.eventually(async () => expect(await scene.names(Secrets)).to.deep.equal(['a']));
    leadership.lose();
    await scene.base.clock.advance(0);
    // Another process leads meanwhile, and writes the Secret.
    await scene.put(configMap('b', { x: '1' }));
    const metadata = { name: 'b', namespace: 'default' };
    const written = { ...Secrets, metadata, data: { x: 'MQ==' } };
    await scene.client.apply(written, { fieldManager: 'op/secrets' });
    const before = await scene.get(Secrets, metadata);
    await scene.base.clock.advance(1_000);
    leadership.lead();
    await scene.eventually(async () => {
      expect(await scene.names({ apiVersion: views, kind: 'Copy' })).to.deep.equal(['a', 'b']);
      expect(scene.ready(reader)).to.equal('True Ready');
    });
    await scene.settled();
    expect((await scene.get(Secrets, metadata))?.metadata.uid).to.equal(before?.metadata.uid);
  });
});
