import { expect } from 'chai';
import type { Builder } from '../../../lib/builder/index.js';
import { forwarding } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { ConfigMap, Deployment, Service } from '../../../lib/object/kinds.js';
import type { KubernetesObject, ObjectKey } from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import type { OpenScene } from './builder-suite.js';
import { errorsOf } from './immutable.js';
import { newOwner, podSpec, summary } from './scene.js';
import type { Scene } from './scene.js';

/** Objects that were there before. */
export function takingOverSuite(open: OpenScene): void {
  const chainOf = (scene: Scene, adopt = false): Builder =>
    scene.builder({ adopt }).configMap({ name: 'env', data: { A: '1' } });

  const existing = (scene: Scene, owners: readonly KubernetesObject[] = []): Promise<ConfigMap> =>
    scene.admin.create<ConfigMap>({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { A: '0', B: '0' } },
      metadata: {
        namespace: scene.namespace,
        name: 'env',
        ownerReferences: owners.map(({ apiVersion, kind, metadata: { name = '', uid = '' } }) => ({
          ...{ apiVersion, kind, name, uid, controller: true },
        })),
      },
    });

  it('refuses an object that nobody controls, and leaves it as it is', async () => {
    const scene = await open();
    const before = await existing(scene);
    const [error] = await errorsOf(chainOf(scene));
    expect(error?.code).to.equal('NotOurs');
    expect(error?.message).to.include(`ConfigMap ${scene.namespace}/env`).and.to.include('adopt');
    expect(scene.events.map(({ reason }) => reason)).to.include('NotOurs');
    expect(await scene.writes()).to.deep.equal([]);
    expect(await scene.get(ConfigMap, 'env')).to.deep.equal(before);
  });

  it('takes it over where it is told to adopt', async () => {
    const scene = await open();
    const before = await existing(scene);
    expect(summary(await chainOf(scene, true).reconcile())).to.deep.equal([
      'configured ConfigMap/env',
    ]);
    const { metadata, data } = await scene.get(ConfigMap, 'env');
    expect(metadata.uid).to.equal(before.metadata.uid);
    expect(metadata.ownerReferences?.[0]?.uid).to.equal(scene.owner.metadata.uid);
    expect(data).to.deep.equal({ A: '1', B: '0' });
  });

  it('refuses an object of another controller, adopt or not, and names it', async () => {
    const scene = await open();
    const other = await newOwner(scene.admin, scene.namespace, 'other');
    await existing(scene, [other]);
    const [error] = await errorsOf(chainOf(scene, true));
    expect(error?.code).to.equal('AlreadyOwned');
    expect(error?.message).to.include('its controller is ConfigMap other');
    expect(await scene.writes()).to.deep.equal([]);
  });

  it('refuses it also where another controller has got it since it was read', async () => {
    const scene = await open();
    const other = await newOwner(scene.admin, scene.namespace, 'other');
    await existing(scene, [other]);
    const inner = scene.operator.client;
    let reads = 0;
    const get = ((type: ResourceType, key: ObjectKey) =>
      inner.get(type, reads++ === 0 ? { ...key, name: 'not-there' } : key)) as Client['get'];
    const chain = scene
      .builder({ client: { ...forwarding(inner), get } })
      .configMap({ name: 'env', data: { A: '1' } });
    const [error] = await errorsOf(chain);
    expect(error?.code).to.equal('AlreadyOwned');
    expect((await scene.get(ConfigMap, 'env')).data).to.deep.equal({ A: '0', B: '0' });
  });

  it('waits for what an earlier owner of its name has left, and makes it anew', async () => {
    const scene = await open();
    const chain = (): Builder => chainOf(scene).deployment({ name: 'web', podSpec });
    await scene.reconcileUntilDone(chain);
    const earlier = await scene.get(ConfigMap, 'env');
    const { namespace, name = '' } = scene.owner.metadata;
    await scene.admin.delete(ConfigMap, { namespace, name });
    // At once: garbage collection has hardly begun.
    scene.owner = await newOwner(scene.admin, scene.namespace, 'shop');
    const first = await chain().reconcile();
    for (const { operation } of first) expect(operation).to.be.oneOf(['pending', 'created']);
    await scene.reconcileUntilDone(chain);
    const { metadata } = await scene.get(ConfigMap, 'env');
    expect(metadata.uid).not.to.equal(earlier.metadata.uid);
    expect(metadata.ownerReferences?.[0]?.uid).to.equal(scene.owner.metadata.uid);
  });

  it('waits for an object that is being deleted', async () => {
    const scene = await open();
    await chainOf(scene).reconcile();
    const finalizers = ['example.com/held'];
    await scene.edit(ConfigMap, 'env', { body: { metadata: { finalizers } } });
    await scene.admin.delete(ConfigMap, { namespace: scene.namespace, name: 'env' });
    const [result] = await chainOf(scene).reconcile();
    expect(result?.operation).to.equal('pending');
    expect(result?.reason).to.include('is being deleted').and.to.include('example.com/held');
    await scene.edit(ConfigMap, 'env', { body: { metadata: { finalizers: null } } });
    expect(summary(await chainOf(scene).reconcile())).to.deep.equal(['created ConfigMap/env']);
  });

  it('leaves nothing of what create and update have made, once it is no longer desired', async () => {
    const scene = await open();
    await madeByUpdates(scene);
    const chain = (): Builder =>
      scene
        .builder({ adoptManagers: ['manager'] })
        .configMap({ name: 'env', data: { A: '1' } })
        .deployment({ name: 'web', podSpec, selector: { app: 'web' } });
    await chain().reconcile();
    expect((await scene.get(ConfigMap, 'env')).data).to.deep.equal({ A: '1' });
    const container = (await scene.get(Deployment, 'web')).spec?.template.spec?.containers[0];
    expect(container?.env).to.equal(undefined);
    await scene.writes();
    const again = await chain().reconcile();
    expect(again.map(({ operation }) => operation)).to.deep.equal(['unchanged', 'unchanged']);
    expect(await scene.writes()).to.deep.equal([]);
  });

  it('would leave them for ever without adoptManagers', async () => {
    const scene = await open();
    await madeByUpdates(scene);
    await scene
      .builder()
      .configMap({ name: 'env', data: { A: '1' } })
      .reconcileConfigMap();
    expect((await scene.get(ConfigMap, 'env')).data).to.deep.equal({ A: '1', OLD: 'x' });
  });

  it('makes an object again that was deleted behind its back', async () => {
    const scene = await open();
    await chainOf(scene).reconcile();
    await scene.admin.delete(ConfigMap, { namespace: scene.namespace, name: 'env' });
    expect(summary(await chainOf(scene).reconcile())).to.deep.equal(['created ConfigMap/env']);
  });

  it('writes nothing for an owner that is being deleted', async () => {
    const scene = await open();
    scene.owner = {
      ...scene.owner,
      metadata: { ...scene.owner.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    const builder = chainOf(scene).service({ name: 'web', spec: { ports: [{ port: 80 }] } });
    expect(await builder.reconcile()).to.deep.equal([]);
    expect(await builder.reconcileConfigMap()).to.deep.equal([]);
    expect(await builder.reconcileStore()).to.deep.equal([]);
    expect((await builder.plan()).changed).to.equal(false);
    expect(await scene.writes()).to.deep.equal([]);
    expect(await scene.find(Service, 'web')).to.equal(undefined);
  });
}

/** What an operator that creates and updates has made for the owner. */
async function madeByUpdates(scene: Scene): Promise<void> {
  const { namespace } = scene;
  const { apiVersion, kind, metadata } = scene.owner;
  const { name: ownerName = '', uid = '' } = metadata;
  const ownerReferences = [{ apiVersion, kind, name: ownerName, uid, controller: true }];
  const by = { fieldManager: 'manager' };
  await scene.admin.create<ConfigMap>(
    {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { A: '0', OLD: 'x' } },
      metadata: { namespace, name: 'env', ownerReferences },
    },
    by,
  );
  const labels = { app: 'web' };
  const env = [{ name: 'OLD', value: 'x' }];
  await scene.admin.create<Deployment>(
    {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
      metadata: { namespace, name: 'web', ownerReferences },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'web', image: 'registry.example/web:0', env }] },
        },
      },
    },
    by,
  );
}
