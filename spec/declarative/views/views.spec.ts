import { expect } from 'chai';
import { isGone, isNotFound } from '../../../lib/object/api-error.js';
import { Views } from '../../../lib/declarative/views/index.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { failureOf } from '../../client/scripted-transport.js';
import { HealthView, eventsOf, healthView, keysOf, withViews } from './view-objects.js';

const inNone = { name: 'a' };
const inOne = { namespace: 'nowhere', name: 'a' };

describe('Views', () => {
  it('have a kind that is registered on first use, by ensure, a create or an apply', () =>
    withViews(async ({ views }) => {
      expect(views.types()).to.deep.equal([]);
      const type = await views.ensure('op', 'HealthView');
      const group = 'op.view.dcontroller.io';
      expect(type).to.deep.equal({
        ...{ group, version: 'v1alpha1', kind: 'HealthView', plural: 'healthview' },
        namespaced: true,
      });
      await views.client.create({ ...healthView(inOne), kind: 'Second' });
      const third = { ...healthView(inOne), apiVersion: 'other.view.dcontroller.io/v1alpha1' };
      await views.client.apply(third, { fieldManager: 'spec' });
      expect(views.types('op').map(({ kind }) => kind)).to.deep.equal(['HealthView', 'Second']);
      expect(views.types()).to.have.length(3);
    }));

  it('have a kind that is not registered by calls that only read or change views', () =>
    withViews(async ({ views }) => {
      const { client } = views;
      const calls: (() => Promise<unknown>)[] = [
        () => client.get(HealthView, inOne),
        () => client.list(HealthView),
        () => client.update(healthView(inOne)),
        () => client.patch(HealthView, inOne, { type: 'merge', body: {} }),
        () => client.delete(HealthView, inOne),
        () => client.deleteCollection(HealthView),
        () => client.resourceType(HealthView),
        () => client.resourceType({ group: 'op.view.dcontroller.io', kind: 'HealthView' }),
        () => eventsOf(client, 1),
      ];
      for (const call of calls) {
        const error = await failureOf(call());
        expect(error).to.have.property('code', 'UnknownKind');
        expect(error.message).to.match(/^HealthView of op.view.dcontroller.io\/v1alpha1: /);
      }
      expect(views.types()).to.deep.equal([]);
    }));

  it('have a kind that concurrent calls register only once, with the same result', () =>
    withViews(async ({ views }) => {
      const asked = ['A', 'B', 'A', 'A'].map((kind) => views.ensure('op', kind));
      const [a, b, ...others] = await Promise.all(asked);
      expect([b?.plural, ...others]).to.deep.equal(['b', a, a]);
      const made = views.server.requests.count(({ verb }) => verb === 'create');
      expect(made).to.equal(2);
    }));

  const refused: [string, string, string][] = [
    ['op', 'No Name', "lower case letters, digits and '-'"],
    ['op', '', 'operator op: '],
    ['Op_', 'A', 'operator Op_: '],
    ['', 'A', 'operator : '],
  ];
  for (const [operator, kind, why] of refused) {
    it(`refuse the kind '${kind}' of operator '${operator}'`, () =>
      withViews(async ({ views }) => {
        const error = await failureOf(views.ensure(operator, kind));
        expect(error).to.have.property('code', 'InvalidObject');
        expect(error.message).to.include(why);
      }));
  }

  it('refuse kinds whose names differ only in capitals, without side effects', () =>
    withViews(async ({ views }) => {
      await views.ensure('op', 'HealthView');
      const error = await failureOf(views.ensure('op', 'Healthview'));
      expect(error).to.have.property('code', 'InvalidObject');
      expect(error.message).to.include('HealthView is served under the same name, healthview');
      await views.ensure('op', 'HealthView');
      await views.ensure('other', 'Healthview');
    }));

  it('keep nothing of a kind whose names the server refuses', () =>
    withViews(async ({ views }) => {
      await views.ensure('op', 'Foo');
      const error = await failureOf(views.ensure('op', 'FooList'));
      expect(error).to.have.property('code', 'InvalidObject');
      expect(error.message).to.include('"FooList" is already in use');
      expect(views.types().map(({ kind }) => kind)).to.deep.equal(['Foo']);
      await views.drop('op');
      await views.ensure('op', 'FooList');
    }));

  it('accept no kinds other than views of registered operators', () =>
    withViews(async ({ views: { client } }) => {
      const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: inOne };
      expect(await failureOf(client.create(configMap))).to.have.property('code', 'UnknownKind');
      await client.create(healthView(inOne));
      const other = { ...healthView(inNone), apiVersion: 'op.view.dcontroller.io/v1' };
      for (const call of [client.list(other), client.create(other)]) {
        expect(await failureOf(call)).to.have.property('code', 'UnknownKind');
      }
    }));

  it('keep any fields and their uid, and get a new resourceVersion and generation with each change', () =>
    withViews(async ({ views: { client } }) => {
      const fields = { spec: { a: [{ b: null }] }, status: { c: 1.5 }, pods: [1, 'x'], data: 'y' };
      const created = await client.create(healthView(inOne, fields));
      expect(created).to.deep.include(fields);
      const updated = await client.update({ ...created, pods: [] });
      const patched = await client.patch(HealthView, inOne, { type: 'merge', body: { data: 1 } });
      const applied = healthView(inOne, { pods: [2] });
      const { object, created: isNew } = await client.apply(applied, {
        ...{ fieldManager: 'spec', force: true },
      });
      expect(isNew).to.equal(false);
      expect(object).to.deep.include({ ...fields, pods: [2], data: 1 });
      const states = [created, updated, patched, object].map(({ metadata }) => metadata);
      expect(new Set(states.map(({ uid }) => uid)).size).to.equal(1);
      expect(states.map(({ generation }) => generation)).to.deep.equal([1, 2, 3, 4]);
      const versions = states.map(({ resourceVersion }) => Number(resourceVersion));
      expect(versions).to.deep.equal([...new Set(versions)].sort((one, other) => one - other));
    }));

  for (const [what, laterMs, problem] of [
    ['', 1, 'too old resource version'],
    [' whose clock was ahead', -1, 'too large resource version'],
  ] as const) {
    it(`cannot be watched from a resourceVersion of an earlier process${what}`, async () => {
      const first = await Views.start({ clock: new VirtualClock(10_000) });
      let last = '';
      for (const name of ['a', 'b', 'c']) {
        const { metadata } = await first.client.create(healthView({ name }));
        last = metadata.resourceVersion ?? '';
      }
      await first.stop();
      const second = await Views.start({ clock: new VirtualClock(10_000 + laterMs) });
      await second.client.create(healthView({ name: 'a' }));
      const watch = second.client.watch(HealthView, { resourceVersion: last });
      const error = await failureOf(watch[Symbol.asyncIterator]().next());
      expect(isGone(error)).to.equal(true);
      expect(error.message).to.include(problem);
      await second.stop();
    });
  }

  it('keep their resourceVersion after an update without changes', () =>
    withViews(async ({ views: { client } }) => {
      const created = await client.create(healthView(inOne, { pods: [1] }));
      const updated = await client.update({ ...created, pods: [1] });
      expect(updated.metadata.resourceVersion).to.equal(created.metadata.resourceVersion);
    }));

  it('can have a namespace or none within one kind, for every call', () =>
    withViews(async ({ views: { client } }) => {
      for (const key of [inNone, inOne]) {
        const created = await client.create(healthView(key, { pods: [] }));
        expect(await client.get(HealthView, key)).to.deep.equal(created);
        await client.update({ ...created, pods: [1] });
        await client.patch(HealthView, key, { type: 'merge', body: { spec: 1 } });
        const wanted = healthView(key, { data: 2 });
        await client.apply(wanted, { fieldManager: 'spec' });
        expect(await client.get(HealthView, key)).to.deep.include({ pods: [1], spec: 1, data: 2 });
      }
      expect(await keysOf(client)).to.deep.equal(['a', 'nowhere/a']);
      expect(await keysOf(client, { namespace: 'nowhere' })).to.deep.equal(['nowhere/a']);
      await client.delete(HealthView, { namespace: '', name: 'a' });
      expect(await keysOf(client)).to.deep.equal(['nowhere/a']);
      await client.create(healthView(inNone));
      await client.delete(HealthView, inOne);
      expect(await keysOf(client)).to.deep.equal(['a']);
      expect(isNotFound(await failureOf(client.get(HealthView, inOne)))).to.equal(true);
      await client.deleteCollection(HealthView);
      expect(await keysOf(client)).to.deep.equal([]);
    }));

  it('can have names and labels that other objects cannot have', () =>
    withViews(async ({ views: { client } }) => {
      const labels = { app: 'a/b c' };
      for (const at of [{ name: 'web-TCP-80' }, { namespace: 'Ü 1', name: '*' }]) {
        const { metadata } = await client.create(healthView({ ...at, labels }));
        expect(metadata).to.deep.include({ ...at, labels });
        await client.patch(HealthView, at, { type: 'merge', body: { data: 1 } });
        expect(await client.get(HealthView, at)).to.deep.include({ data: 1 });
      }
      expect(await keysOf(client)).to.deep.equal(['web-TCP-80', 'Ü 1/*']);
      for (const name of ['a/b', 'a%b', '..']) {
        const error = await failureOf(client.apply(healthView({ name }), { fieldManager: 'x' }));
        expect(error).to.have.property('code', 'InvalidObject');
      }
    }));

  it('are selected by label and field selectors', () =>
    withViews(async ({ views: { client } }) => {
      const labelled = { ...inNone, labels: { app: 'web' } };
      await client.create(healthView(labelled, { status: { phase: 'Up', ready: true } }));
      await client.create(healthView(inOne, { status: { phase: 'Down', ready: false } }));
      expect(await keysOf(client, { labelSelector: 'app=web' })).to.deep.equal(['a']);
      expect(await keysOf(client, { labelSelector: '!app' })).to.deep.equal(['nowhere/a']);
      const byField = (fieldSelector: string) => keysOf(client, { fieldSelector });
      expect(await byField('metadata.name=a')).to.have.length(2);
      expect(await byField('metadata.name=b')).to.have.length(0);
      expect(await byField('metadata.namespace=nowhere')).to.deep.equal(['nowhere/a']);
      expect(await byField('metadata.namespace=')).to.deep.equal(['a']);
      expect(await byField('status.phase=Up')).to.deep.equal(['a']);
      expect(await byField('status.ready=false')).to.deep.equal(['nowhere/a']);
    }));

  it('are listed in a new watch before their changes', () =>
    withViews(async ({ views: { client } }) => {
      await client.create(healthView(inNone));
      await client.create(healthView(inOne));
      const seen = eventsOf(client, 4);
      await client.delete(HealthView, inNone);
      await client.create(healthView({ name: 'b' }));
      expect(await seen).to.deep.equal(['ADDED a', 'ADDED nowhere/a', 'DELETED a', 'ADDED b']);
    }));

  it('are deleted at once with every propagation policy', () =>
    withViews(async ({ views: { client } }) => {
      await client.create(healthView(inNone));
      await client.delete(HealthView, inNone, { propagationPolicy: 'Foreground' });
      expect(await keysOf(client)).to.deep.equal([]);
    }));

  it('can be created with generateName', () =>
    withViews(async ({ views: { client } }) => {
      const { metadata } = await client.create(healthView({ generateName: 'x-' }));
      expect(metadata.name).to.match(/^x-/);
    }));
});

describe('Views.stop', () => {
  it('ends watches and refuses later calls of the client, and can be called again', async () => {
    const views = await Views.start();
    await views.client.create(healthView(inNone));
    const watching = failureOf(eventsOf(views.client, 2));
    await new Promise((resolve) => setImmediate(resolve));
    expect(views.server.openWatches).to.equal(1);
    await Promise.all([views.stop(), views.stop()]);
    await views.stop();
    expect(await watching).to.have.property('code', 'Stopped');
    expect(views.server.openWatches).to.equal(0);
    for (const call of [views.ensure('op', 'A'), views.client.list(HealthView)]) {
      expect(await failureOf(call)).to.have.property('code', 'Stopped');
    }
    const request = { method: 'GET', path: '/apis', headers: {} } as const;
    expect(await failureOf(views.server.handle(request))).to.have.property('code', 'Stopped');
    await views.drop('op');
  });

  it('does not wait for pending calls', async () => {
    const views = await Views.start();
    await views.client.create(healthView(inNone));
    const dropping = views.drop('op');
    const ensuring = failureOf(views.ensure('other', 'A'));
    await views.stop();
    await dropping;
    await ensuring;
  });
});
