import { expect } from 'chai';
import type { Builder } from '../../../lib/builder/index.js';
import { ConfigMap, Deployment, Service } from '../../../lib/object/kinds.js';
import { silentLogger } from '../../../lib/system/logger.js';
import type { OpenScene } from './builder-suite.js';
import { controllerName, podSpec, summary, withCache } from './scene.js';
import type { Scene } from './scene.js';

function chainOf(scene: Scene): Builder {
  return scene
    .builder()
    .configMap({ name: 'env', data: { A: '1' } })
    .service({ name: 'web', spec: { ports: [{ port: 80, targetPort: 8000 }] } })
    .deployment({
      name: 'web',
      replicas: 2,
      podAnnotations: { ours: 'yes' },
      podSpec: {
        containers: [
          {
            name: 'web',
            image: 'registry.example/web:1',
            args: ['--fast'],
            resources: { limits: { cpu: '1000m' } },
          },
        ],
      },
    });
}

/** Specs about changes of other managers: the builder repairs its own fields, and keeps the fields of the others. */
export function driftSuite(open: OpenScene): void {
  it('the builder repairs a field that another client edited, and reports path, values and manager', async () => {
    const scene = await open();
    await chainOf(scene).reconcile();
    await scene.edit(ConfigMap, 'env', { body: { data: { A: 'edited' } }, by: 'kubectl-edit' });
    const results = await chainOf(scene).reconcile();
    expect(results[0]).to.deep.include({
      operation: 'configured',
      changes: [{ path: 'data.A', from: 'edited', to: '1', manager: 'kubectl-edit' }],
    });
    expect((await scene.get(ConfigMap, 'env')).data).to.deep.equal({ A: '1' });
    expect(summary(await chainOf(scene).reconcile())).to.include('unchanged ConfigMap/env');
  });

  it('the builder reports a change of the desired state separately from repaired drift', async () => {
    const scene = await open();
    const chain = (b: string): Builder =>
      scene.builder().configMap({ name: 'env', data: { a: '1', b } });
    await chain('1').reconcile();
    await scene.edit(ConfigMap, 'env', { body: { data: { a: 'edited' } } });
    const [result] = await chain('2').reconcile();
    expect(result?.changes).to.deep.equal([
      { path: 'data.a', from: 'edited', to: '1', manager: 'kubectl-edit' },
      { path: 'data.b', from: '1', to: '2' },
    ]);
  });

  const annotations = { 'example.com/cleaned': 'yes' };
  for (const [title, by, body, manager] of [
    ['and names the last writer', 'cleaner', { metadata: { annotations }, data: null }, 'cleaner'],
    [
      'and reports an unknown manager if the writer owns no field',
      'cleaner',
      { data: null },
      'unknown',
    ],
    [
      'and reports an unknown manager instead of itself',
      controllerName,
      { metadata: { annotations }, data: null },
      'unknown',
    ],
  ] as const) {
    it(`the builder restores a removed field, ${title}`, async () => {
      const scene = await open();
      await chainOf(scene).reconcile();
      await scene.edit(ConfigMap, 'env', { body, by });
      const [result] = await chainOf(scene).reconcile();
      expect(result).to.deep.include({
        operation: 'configured',
        changes: [{ path: 'data', from: undefined, to: { A: '1' }, manager }],
      });
      expect((await scene.get(ConfigMap, 'env')).data).to.deep.equal({ A: '1' });
    });
  }

  it('the builder repairs an atomic list and an entry of a keyed list', async () => {
    const scene = await open();
    await chainOf(scene).reconcile();
    const container = { name: 'web', image: 'registry.example/evil', args: ['--slow'] };
    await scene.edit(Deployment, 'web', {
      body: { spec: { template: { spec: { containers: [container] } } } },
    });
    const results = await chainOf(scene).reconcile();
    const changes = results[2]?.changes.map(({ path, manager }) => `${path} ${manager ?? ''}`);
    expect(changes).to.include('spec.template.spec.containers[name=web].image kubectl-edit');
    expect(changes?.some((change) => /args.* kubectl-edit$/.test(change))).to.equal(true);
    const live = (await scene.get(Deployment, 'web')).spec?.template.spec?.containers[0];
    expect([live?.image, live?.args]).to.deep.equal(['registry.example/web:1', ['--fast']]);
  });

  it('the builder repairs a field after another manager replaced the whole object by an update', async () => {
    const scene = await open();
    await chainOf(scene).reconcile();
    const live = await scene.get(ConfigMap, 'env');
    await scene.admin.update({ ...live, data: { A: '2' } }, { fieldManager: 'replacer' });
    expect(summary(await chainOf(scene).reconcile())).to.include('configured ConfigMap/env');
    expect((await scene.get(ConfigMap, 'env')).data).to.deep.equal({ A: '1' });
  });

  it('the builder keeps fields of other managers, even when the desired state changes', async () => {
    const scene = await open();
    await chainOf(scene).reconcile();
    await scene.edit(Deployment, 'web', {
      body: {
        metadata: { annotations: { 'example.com/injected': 'yes' } },
        spec: { template: { metadata: { annotations: { sidecar: 'injected' } } } },
      },
      by: 'mesh',
    });
    await scene.edit(ConfigMap, 'env', { body: { data: { THEIRS: 'x' } }, by: 'other' });
    await scene.writes();
    expect(summary(await chainOf(scene).reconcile())).to.deep.equal([
      'unchanged ConfigMap/env',
      'unchanged Service/web',
      'unchanged Deployment/web',
    ]);
    expect(await scene.writes()).to.deep.equal([]);
    const changed = (): Builder => scene.builder().configMap({ name: 'env', data: { B: '1' } });
    await changed().reconcileConfigMap();
    expect((await scene.get(ConfigMap, 'env')).data).to.deep.equal({ B: '1', THEIRS: 'x' });
    const { metadata, spec } = await scene.get(Deployment, 'web');
    expect(metadata.annotations?.['example.com/injected']).to.equal('yes');
    expect(spec?.template.metadata?.annotations).to.deep.equal({
      ours: 'yes',
      sidecar: 'injected',
    });
  });

  it('the builder keeps an injected sidecar and its ports', async () => {
    const scene = await open();
    await chainOf(scene).reconcile();
    const live = await scene.get(Deployment, 'web');
    const { containers = [] } = live.spec?.template.spec ?? {};
    const sidecar = { name: 'proxy', image: 'registry.example/proxy:1' };
    const body = { spec: { template: { spec: { containers: [...containers, sidecar] } } } };
    await scene.edit(Deployment, 'web', { body, by: 'injector' });
    expect(summary(await chainOf(scene).reconcile())).to.include('unchanged Deployment/web');
    const after = (await scene.get(Deployment, 'web')).spec?.template.spec?.containers;
    expect(after?.map(({ name }) => name)).to.deep.equal(['web', 'proxy']);
  });

  it('the builder applies an object again after its managedFields were cleared', async () => {
    const scene = await open();
    await chainOf(scene).reconcile();
    await scene.edit(Service, 'web', { body: { metadata: { managedFields: [{}] } } });
    expect(summary(await chainOf(scene).reconcile())).to.include('configured Service/web');
    expect(summary(await chainOf(scene).reconcile())).to.include('unchanged Service/web');
  });

  it('the builder removes its own undesired fields, but no others, after managedFields were cleared', async () => {
    const scene = await open();
    const side = { name: 'side', image: 'registry.example/side:1' };
    const chain = (data: Record<string, string>, more: readonly (typeof side)[]): Builder =>
      scene
        .builder()
        .configMap({ name: 'env', data })
        .deployment({ name: 'web', podSpec: { containers: [...podSpec.containers, ...more] } });
    await chain({ A: '1', B: '2' }, [side]).reconcile();
    await scene.edit(ConfigMap, 'env', { body: { data: { THEIRS: 'x' } }, by: 'other' });
    for (const [type, name] of [[ConfigMap, 'env'] as const, [Deployment, 'web'] as const]) {
      await scene.edit(type, name, { body: { metadata: { managedFields: [{}] } } });
    }
    const restored = await chain({ A: '1', B: '2' }, [side]).reconcile();
    expect(restored.map(({ changes }) => changes)).to.deep.equal([[], []]);
    const dropped = await chain({ A: '1' }, []).reconcile();
    expect(dropped[0]?.changes).to.deep.equal([{ path: 'data.B', from: '2', to: undefined }]);
    expect((await scene.get(ConfigMap, 'env')).data).to.deep.equal({ A: '1', THEIRS: 'x' });
    const { containers = [] } = (await scene.get(Deployment, 'web')).spec?.template.spec ?? {};
    expect(containers.map(({ name }) => name)).to.deep.equal(['web']);
  });

  it('the builder warns once that the cache drops managedFields, and reports no changes', async () => {
    const scene = await open();
    const kinds = [ConfigMap];
    const { client, stop } = await withCache(scene.operator.client, kinds, false);
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    const chain = (): Builder =>
      scene.builder({ client, logger, owns: kinds }).configMap({ name: 'env', data: { A: '1' } });
    try {
      await chain().reconcile();
      for (let round = 0; round < 2; round++) {
        const [result] = await chain().reconcile();
        expect(result?.changes).to.deep.equal([]);
      }
    } finally {
      await stop();
    }
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include('ConfigMap').and.to.include('keepManagedFields');
  });

  it('the builder reports drift in an Event with path and manager', async () => {
    const scene = await open();
    await chainOf(scene).reconcile();
    await scene.edit(ConfigMap, 'env', { body: { data: { A: 'edited' } } });
    scene.events.length = 0;
    await chainOf(scene).reconcile();
    const [event] = scene.events;
    expect(event).to.deep.include({ type: 'Normal', reason: 'Configured' });
    expect(event?.note).to.include('data.A').and.to.include('drift by kubectl-edit');
  });
}
