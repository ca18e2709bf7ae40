import { expect } from 'chai';
import type { DeclarativeController } from '../../../lib/declarative/runtime/declarative-controller.js';
import { ControllerScene, configMap, sameName, view, views } from './controller-scene.js';
import type { Thing } from './controller-scene.js';

const Copies = { apiVersion: views, kind: 'Copy' };
const ConfigMaps = { apiVersion: 'v1', kind: 'ConfigMap' };

function deployment(image: string, metadata: object = {}): Thing {
  const labels = { app: 'a' };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
    metadata: { name: 'a', namespace: 'default', ...metadata },
    spec: {
      replicas: 0,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image }] } },
    },
  };
}

/** A controller that writes a view Copy for each Deployment, with labels and image. */
function copies(source: object): object {
  return {
    name: 'copies',
    sources: [{ apiGroup: 'apps', kind: 'Deployment', ...source }],
    pipeline: {
      '@project': {
        metadata: sameName,
        labels: '$.metadata.labels',
        image: '$.spec.template.spec.containers[0].image',
      },
    },
    target: { kind: 'Copy' },
  };
}

/** A controller that writes the ConfigMap `made` at its start. */
function oneShot(more: readonly object[] = []): object {
  const trigger = { apiGroup: 'source.dcontroller.io', kind: 'OneShot' };
  const made = { metadata: { name: 'made', namespace: 'default' }, data: { by: '$.kind' } };
  return {
    name: 'made',
    sources: [trigger, ...more],
    pipeline: [{ '@project': made }],
    target: { apiGroup: '', version: 'v1', kind: 'ConfigMap' },
  };
}

const periodic = (period: string) => ({
  ...{ apiGroup: 'source.dcontroller.io', kind: 'Periodic' },
  parameters: { period },
});

describe('sources of declarative controllers', () => {
  let scene: ControllerScene;
  afterEach(async () => scene.end());

  describe('with a predicate', () => {
    it('skip filtered updates, and include their changes in the next update that passes', async () => {
      scene = await ControllerScene.start();
      await scene.put(deployment('one'));
      await scene.run(copies({ predicate: 'GenerationChanged' }));
      await scene.put(deployment('one', { labels: { x: '1' } }));
      await scene.settled();
      const [unheard] = Object.values(await scene.all(Copies));
      expect([unheard?.['labels'] ?? null, unheard?.['image']]).to.deep.equal([null, 'one']);
      await scene.put(deployment('two', { labels: { x: '1' } }));
      await scene.settled();
      const [heard] = Object.values(await scene.all(Copies));
      expect([heard?.['labels'], heard?.['image']]).to.deep.equal([{ x: '1' }, 'two']);
    });

    it('ignore changes of the status of a view, so that a controller can write the status of its own source', async () => {
      scene = await ControllerScene.start();
      const named = { '@project': { metadata: sameName, status: { at: '@now' } } };
      await scene.run({
        name: 'stamp',
        sources: [{ kind: 'Wanted', predicate: 'GenerationChanged' }],
        pipeline: named,
        target: { kind: 'Wanted', type: 'Patcher' },
      });
      await scene.put(view('Wanted', 'a', { spec: { x: 1 } }));
      await scene.settled();
      await scene.base.clock.advance(5_000);
      const Wanted = { apiVersion: views, kind: 'Wanted' };
      const { a } = await scene.all(Wanted);
      expect(a?.['status']).to.deep.equal({ at: '2026-01-01T00:00:00Z' });
      expect(a?.metadata.generation).to.equal(1);
      await scene.put(view('Wanted', 'a', { spec: { x: 2 } }));
      await scene.settled();
      expect(await scene.all(Wanted)).to.have.nested.property(
        'a.status.at',
        '2026-01-01T00:00:05Z',
      );
    });

    it('handle objects that begin or cease to match the label selector, even if the predicate filters the update', async () => {
      scene = await ControllerScene.start();
      const labelSelector = { matchLabels: { x: '1' } };
      await scene.put(deployment('one', { labels: { x: '1' } }));
      await scene.run(copies({ predicate: 'GenerationChanged', labelSelector }));
      await scene.put(deployment('one', { labels: { x: '2' } }));
      await scene.settled();
      expect(await scene.names(Copies)).to.deep.equal([]);
      await scene.put(deployment('one', { labels: { x: '1' } }));
      await scene.settled();
      expect(await scene.names(Copies)).to.deep.equal(['a']);
    });

    it('handle additions and deletions, whatever the predicate is', async () => {
      scene = await ControllerScene.start();
      await scene.run(copies({ predicate: { Not: 'ResourceVersionChanged' } }));
      await scene.put(deployment('one'));
      await scene.settled();
      expect(await scene.names(Copies)).to.deep.equal(['a']);
      await scene.put(deployment('two'));
      await scene.settled();
      expect(Object.values(await scene.all(Copies))[0]).to.include({ image: 'one' });
      await scene.delete(deployment('two'));
      await scene.settled();
      expect(await scene.names(Copies)).to.deep.equal([]);
    });
  });

  describe('of type OneShot', () => {
    it('trigger one write at the start', async () => {
      scene = await ControllerScene.start();
      await scene.run(oneShot());
      expect(await scene.all(ConfigMaps)).to.have.nested.property('made.data.by', 'OneShot');
    });

    it('provide an object named one-shot-trigger of the given kind', async () => {
      scene = await ControllerScene.start();
      const pipeline = { '@project': { metadata: '$.metadata', by: '$.kind' } };
      const sources = [{ type: 'OneShot', kind: 'FirstTable' }];
      await scene.run({ name: 'table', sources, pipeline, target: { kind: 'Copy' } });
      expect(await scene.all(Copies)).to.have.nested.property('one-shot-trigger.by', 'FirstTable');
    });
  });

  describe('of type Periodic', () => {
    it('delete objects of earlier processes once in a period, and do not delay other writes', async () => {
      scene = await ControllerScene.start();
      await scene.run(oneShot([periodic('30s')]));
      await scene.client.apply(configMap('left'), { fieldManager: 'op/made', force: true });
      await scene.delete(configMap('made'));
      await scene.settled();
      expect(await scene.names(ConfigMaps)).to.include.members(['made', 'left']);
      await scene.base.clock.advance(29_000);
      expect(await scene.names(ConfigMaps)).to.include('left');
      await scene.base.clock.advance(2_000);
      await scene.settled();
      expect(await scene.names(ConfigMaps)).to.not.include('left');
    });

    it('correct manual changes, and delete objects of earlier processes', async () => {
      scene = await ControllerScene.start();
      const spec = {
        ...{ name: 'copies', target: { apiGroup: '', version: 'v1', kind: 'ConfigMap' } },
        sources: [{ kind: 'Wanted' }, periodic('1m')],
        pipeline: { '@project': { metadata: sameName, data: '$.data' } },
      };
      await scene.put(view('Wanted', 'a', { data: { x: '1' } }));
      await scene.put(view('Wanted', 'b', { data: { x: '1' } }));
      await scene.run(spec);
      const live = await scene.get(ConfigMaps, { namespace: 'default', name: 'a' });
      await scene.put({ ...configMap('a', { x: '2' }), metadata: { ...live!.metadata } });
      // Simulates a leftover of a process that stopped before the delete.
      const left = configMap('left', { x: '1' });
      await scene.client.apply(left, { fieldManager: 'op/copies', force: true });
      await scene.settled();
      expect(await scene.names(ConfigMaps)).to.include('left');
      await scene.base.clock.advance(60_000);
      await scene.settled();
      const all = await scene.all(ConfigMaps);
      expect(all['a']?.['data']).to.deep.equal({ x: '1' });
      expect(all).to.not.have.property('left');
    });

    it('process changes that a predicate has filtered', async () => {
      scene = await ControllerScene.start();
      const spec = copies({ predicate: 'GenerationChanged' }) as { sources: object[] };
      await scene.put(deployment('one'));
      await scene.run({ ...spec, sources: [...spec.sources, periodic('1m')] });
      await scene.put(deployment('one', { labels: { x: '1' } }));
      await scene.base.clock.advance(60_000);
      await scene.settled();
      expect(Object.values(await scene.all(Copies))[0]).to.deep.include({ labels: { x: '1' } });
    });

    it('cause expressions that depend on the time to be evaluated again', async () => {
      scene = await ControllerScene.start();
      const spec = {
        ...{ name: 'copies', target: { kind: 'Copy' } },
        sources: [{ kind: 'Wanted' }, periodic('1m')],
        pipeline: { '@project': { metadata: sameName, at: '@now' } },
      };
      await scene.put(view('Wanted', 'a'));
      await scene.run(spec);
      expect(await scene.all(Copies)).to.have.nested.property('a.at', '2026-01-01T00:00:00Z');
      await scene.base.clock.advance(60_000);
      await scene.settled();
      expect(await scene.all(Copies)).to.have.nested.property('a.at', '2026-01-01T00:01:00Z');
      await scene.delete(view('Wanted', 'a'));
      await scene.settled();
      expect(await scene.names(Copies)).to.deep.equal([]);
    });

    it('cause keys of groups that depend on the time to be evaluated again', async () => {
      scene = await ControllerScene.start();
      const isPast = { '@lt': ['$.until', '@now'] };
      const spec = {
        ...{ name: 'copies', target: { kind: 'Copy' } },
        sources: [{ kind: 'Wanted' }, periodic('1m')],
        pipeline: [
          { '@project': { metadata: sameName, until: '$.until', ids: '$.metadata.name' } },
          { '@gather': [{ '@cond': [isPast, 'past', 'current'] }, '$.ids'] },
        ],
      };
      await scene.put(view('Wanted', 'a', { until: '2026-01-01T00:00:30Z' }));
      await scene.put(view('Wanted', 'b', { until: '2026-01-02T00:00:00Z' }));
      await scene.run(spec);
      const { a } = await scene.all(Copies);
      expect(a?.['ids']).to.deep.equal(['a', 'b']);
      await scene.base.clock.advance(60_000);
      await scene.settled();
      const all = await scene.all(Copies);
      expect([all['a']?.['ids'], all['b']?.['ids']]).to.deep.equal([['a'], ['b']]);
    });

    it('provide a document when there is no other source', async () => {
      scene = await ControllerScene.start();
      const { pipeline, target } = oneShot() as { pipeline: unknown; target: unknown };
      await scene.run({ name: 'made', sources: [periodic('1m')], pipeline, target });
      expect(await scene.all(ConfigMaps)).to.have.nested.property('made.data.by', 'Periodic');
    });
  });

  it('keep the result of a join while an object changes that is in both sources of the join', async () => {
    scene = await ControllerScene.start();
    const source = { apiGroup: '', version: 'v1', kind: 'ConfigMap', namespace: 'default' };
    const group = (alias: string): string => `$.${alias}.data.group`;
    await scene.put(configMap('a', { group: '1' }));
    await scene.run({
      ...{ name: 'pairs', target: { apiGroup: '', version: 'v1', kind: 'Secret' } },
      sources: [
        { ...source, as: 'One' },
        { ...source, as: 'Other' },
      ],
      pipeline: [
        { '@join': { '@eq': [group('One'), group('Other')] } },
        { '@select': { '@eq': ['$.One.metadata.name', '$.Other.metadata.name'] } },
        {
          '@project': {
            metadata: { name: '$.One.metadata.name', namespace: 'default' },
            stringData: { group: group('One') },
          },
        },
      ],
    });
    const Secrets = { apiVersion: 'v1', kind: 'Secret' };
    const key = { name: 'a', namespace: 'default' };
    const before = await scene.get(Secrets, key);
    await scene.put(configMap('a', { group: '2' }));
    await scene.eventually(async () => {
      const data = (await scene.get(Secrets, key))?.['data'];
      expect(data).to.deep.equal({ group: Buffer.from('2').toString('base64') });
    });
    expect((await scene.get(Secrets, key))?.metadata.uid).to.equal(before?.metadata.uid);
  });

  describe('of a kind that the server does not serve', () => {
    const widgets = (version: string | undefined) => ({
      ...{ name: 'widgets', target: { kind: 'Copy' } },
      sources: [{ apiGroup: 'example.com', ...(version && { version }), kind: 'Widget' }],
      pipeline: { '@project': { metadata: sameName, spec: '$.spec' } },
    });
    const widget = (name: string): Thing => ({
      ...{ apiVersion: 'example.com/v1', kind: 'Widget' },
      metadata: { name, namespace: 'default' },
      spec: { x: 1 },
    });
    const definition: Thing = {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: 'widgets.example.com' },
      spec: {
        ...{ group: 'example.com', scope: 'Namespaced' },
        names: { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' },
        versions: [
          {
            ...{ name: 'v1', served: true, storage: true },
            schema: {
              openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        ],
      },
    };

    for (const version of ['v1', undefined]) {
      it(`wait for the kind in ${version ?? 'a version found by discovery'}, with a Ready condition of status Unknown`, async () => {
        scene = await ControllerScene.start();
        const controller: DeclarativeController = scene.controller(widgets(version));
        await controller.start();
        await scene.base.run(scene.manager);
        await scene.eventually(() => {
          expect(scene.ready(controller)).to.equal('Unknown ReconciliationFailed');
        });
        expect(controller.status().conditions[0]?.message).to.contain('Widget');
        expect(controller.reportErrors()[0]?.message).to.contain('CustomResourceDefinition');
        await scene.put(definition);
        await scene.base.clock.advance(10_000);
        await scene.put(widget('a'));
        await scene.eventually(async () => {
          expect(await scene.names(Copies)).to.deep.equal(['a']);
          expect(scene.ready(controller)).to.equal('True Ready');
        });
      });
    }
  });
});
