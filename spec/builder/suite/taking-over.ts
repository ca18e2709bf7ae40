import { expect } from 'chai';
import type { Builder } from '../../../lib/builder/index.js';
import { Cache, cachedClient } from '../../../lib/cache/index.js';
import { forwarding } from '../../../lib/client/index.js';
import type { Client, WatchOptions } from '../../../lib/client/index.js';
import { ConfigMap, Deployment, Secret, Service } from '../../../lib/object/kinds.js';
import type { KubernetesObject, ObjectKey } from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import type { OpenScene } from './builder-suite.js';
import { errorsOf } from './immutable.js';
import { newOwner, podSpec, summary } from './scene.js';
import type { Scene } from './scene.js';

/** Specs about objects that exist before the first reconcile. */
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

  it('the builder refuses to change an object that has no controller', async () => {
    const scene = await open();
    const before = await existing(scene);
    const [error] = await errorsOf(chainOf(scene));
    expect(error?.code).to.equal('NotOurs');
    expect(error?.message).to.include(`ConfigMap ${scene.namespace}/env`).and.to.include('adopt');
    expect(scene.events.map(({ reason }) => reason)).to.include('NotOurs');
    expect(await scene.writes()).to.deep.equal([]);
    expect(await scene.get(ConfigMap, 'env')).to.deep.equal(before);
  });

  it('the builder takes over an object without a controller with the option adopt', async () => {
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

  it('the builder refuses an object of another controller, even with adopt, and names the controller', async () => {
    const scene = await open();
    const other = await newOwner(scene.admin, scene.namespace, 'other');
    await existing(scene, [other]);
    const [error] = await errorsOf(chainOf(scene, true));
    expect(error?.code).to.equal('AlreadyOwned');
    expect(error?.message).to.include('its controller is ConfigMap other');
    expect(await scene.writes()).to.deep.equal([]);
  });

  it('the builder refuses an object that another controller adopted after the read', async () => {
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

  it('the builder refuses a Secret without a controller that the cache does not show yet', async () => {
    const scene = await open();
    const lagging = await withoutNews(scene.operator.client);
    try {
      const before = await passwordOf(scene);
      const chain = (): Builder =>
        scene
          .builder({ client: lagging.client })
          .secret({ name: 'db', data: { password: 'eA==' } });
      const { objects } = await chain().plan();
      expect(objects.map(({ action, error }) => [action, error?.code])).to.deep.equal([
        ['fail', 'NotOurs'],
      ]);
      const [error] = await errorsOf(chain());
      expect(error?.code).to.equal('NotOurs');
      expect(await scene.get(Secret, 'db')).to.deep.equal(before);
    } finally {
      await lagging.stop();
    }
  });

  it('the builder reads an object once before it creates it, and refuses an object that appears after that read', async () => {
    const scene = await open();
    const inner = scene.operator.client;
    const apply: Client['apply'] = async (object, options) => {
      // A Secret is created between the builder's read of it and its write.
      if (object.kind === 'Secret' && options?.dryRun !== true) await passwordOf(scene);
      return inner.apply(object, options);
    };
    const env = (): Builder => scene.builder().configMap({ name: 'env' });
    await env().reconcileConfigMap();
    const requests = await scene.operator.requests();
    expect(requests.map(({ verb }) => verb)).to.deep.equal(['get', 'patch']);
    const chain = scene
      .builder({ client: { ...forwarding(inner), apply } })
      .secret({ name: 'db', data: { password: 'eA==' } });
    const [error] = await errorsOf(chain);
    expect(error?.code).to.equal('NotOurs');
    const { data, metadata } = await scene.get(Secret, 'db');
    expect(data).to.deep.equal({ password: 'c2VjcmV0' });
    expect(metadata.ownerReferences).to.equal(undefined);
  });

  it('the builder waits until an object of a previous owner is garbage-collected, then creates the object again', async () => {
    const scene = await open();
    const chain = (): Builder => chainOf(scene).deployment({ name: 'web', podSpec });
    await scene.reconcileUntilDone(chain);
    const earlier = await scene.get(ConfigMap, 'env');
    const { namespace, name = '' } = scene.owner.metadata;
    await scene.admin.delete(ConfigMap, { namespace, name });
    // The garbage collector may not yet have deleted the objects of the first owner.
    scene.owner = await newOwner(scene.admin, scene.namespace, 'shop');
    const first = await chain().reconcile();
    for (const { operation } of first) expect(operation).to.be.oneOf(['pending', 'created']);
    await scene.reconcileUntilDone(chain);
    const { metadata } = await scene.get(ConfigMap, 'env');
    expect(metadata.uid).not.to.equal(earlier.metadata.uid);
    expect(metadata.ownerReferences?.[0]?.uid).to.equal(scene.owner.metadata.uid);
  });

  it('the builder waits while an object is being deleted', async () => {
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

  it('the builder removes undesired fields that other managers set by create and update with adoptManagers', async () => {
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

  it('the builder removes undesired fields of the managers in adoptManagers even if its own apply changes nothing', async () => {
    const scene = await open();
    await madeByUpdates(scene);
    const data = { A: '1' };
    await scene.builder().configMap({ name: 'env', data }).reconcile();
    expect((await scene.get(ConfigMap, 'env')).data).to.deep.equal({ A: '1', OLD: 'x' });
    const adopting = (): Builder =>
      scene.builder({ adoptManagers: ['manager'] }).configMap({ name: 'env', data });
    const planned = (await adopting().plan()).objects[0];
    expect(planned?.changes).to.deep.equal([{ path: 'data.OLD', from: 'x', to: undefined }]);
    const [result] = await adopting().reconcile();
    expect(result?.changes).to.deep.equal(planned?.changes);
    expect((await scene.get(ConfigMap, 'env')).data).to.deep.equal({ A: '1' });
    expect((await adopting().reconcile())[0]?.operation).to.equal('unchanged');
  });

  it('the builder keeps undesired fields of other managers without adoptManagers', async () => {
    const scene = await open();
    await madeByUpdates(scene);
    await scene
      .builder()
      .configMap({ name: 'env', data: { A: '1' } })
      .reconcileConfigMap();
    expect((await scene.get(ConfigMap, 'env')).data).to.deep.equal({ A: '1', OLD: 'x' });
  });

  it('the builder creates an object again that was deleted between reconciles', async () => {
    const scene = await open();
    await chainOf(scene).reconcile();
    await scene.admin.delete(ConfigMap, { namespace: scene.namespace, name: 'env' });
    expect(summary(await chainOf(scene).reconcile())).to.deep.equal(['created ConfigMap/env']);
  });

  it('the builder writes nothing for an owner that is being deleted', async () => {
    const scene = await open();
    scene.owner = {
      ...scene.owner,
      metadata: { ...scene.owner.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    };
    const builder = chainOf(scene).service({
      name: 'web',
      spec: { selector: {}, ports: [{ port: 80 }] },
    });
    expect(await builder.reconcile()).to.deep.equal([]);
    expect(await builder.reconcileConfigMap()).to.deep.equal([]);
    expect(await builder.reconcileStore()).to.deep.equal([]);
    expect((await builder.plan()).changed).to.equal(false);
    expect(await scene.writes()).to.deep.equal([]);
    expect(await scene.find(Service, 'web')).to.equal(undefined);
  });
}

/** Creates objects of the owner like an operator that uses create and update instead of server-side apply. */
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

/** Creates a Secret as a user. */
async function passwordOf({ admin, namespace }: Scene): Promise<Secret> {
  return admin.create<Secret>({
    ...{ apiVersion: 'v1', kind: 'Secret', data: { password: 'c2VjcmV0' } },
    metadata: { namespace, name: 'db' },
  });
}

/** Returns a client that reads Secrets from a cache whose watch sends no events. */
async function withoutNews(
  client: Client,
): Promise<{ readonly client: Client; readonly stop: () => Promise<void> }> {
  const silent: Client = { ...forwarding(client), watch: initialEvents(client) as Client['watch'] };
  const cache = new Cache({ client: silent });
  cache.informer(Secret, { keepManagedFields: true });
  cache.start();
  await cache.waitForSync();
  const cached = cachedClient(client, cache, { staleWaitMs: 20 });
  return { client: cached, stop: () => cache.stop() };
}

/** Returns a watch that stays open without an event after its initial events. */
function initialEvents(client: Client) {
  return async function* (type: ResourceType, options: WatchOptions = {}) {
    for await (const event of client.watch(type, options)) {
      yield event;
      if (event.type === 'BOOKMARK' && event.initialEventsEnd) break;
    }
    await new Promise((resolve) => {
      options.signal?.addEventListener('abort', resolve, { once: true });
    });
  };
}
