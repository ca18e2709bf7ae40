import { expect } from 'chai';
import type { Secret } from '../../../../lib/object/kinds.js';
import {
  ConfigMap,
  Deployment,
  Namespace,
  Pod,
  PersistentVolumeClaim,
  Service,
} from '../../../../lib/object/kinds.js';
import {
  configMapResource,
  newResourceContext,
  objectsResource,
  secretResource,
  serviceResource,
} from '../../../../lib/resource/index.js';
import { podSpec, withCache } from '../../../builder/suite/scene.js';
import { configMap, configMaps, keep, keptNames, leave } from './keeping.js';
import type { OpenScene } from './keeping.js';

/** Declares how missing, different and superfluous objects are handled. */
export function changesSuite(open: OpenScene): void {
  it('objects are created when missing, with owner and labels', async () => {
    const scene = await open();
    await keep(scene, [configMaps([configMap('a', { k: '1' }), configMap('b')])]);
    const { metadata, data } = await scene.get(ConfigMap, 'a');
    expect(data).to.deep.equal({ k: '1' });
    expect(metadata.labels).to.include({
      'operator-builder.io/resource': 'settings',
      'operator-builder.io/owner-uid': scene.owner.metadata.uid,
    });
    expect(metadata.ownerReferences).to.have.length(1);
    expect(metadata.ownerReferences?.[0]).to.include({
      uid: scene.owner.metadata.uid,
      controller: true,
    });
    expect(await scene.writes()).to.deep.equal(['patch configmaps/a', 'patch configmaps/b']);
  });

  it("objects have the labels that mark them as the resource's, whatever the desired state contains", async () => {
    const scene = await open();
    const labels = {
      'operator-builder.io/resource': 'mine',
      'operator-builder.io/owner-uid': 'mine',
      mine: 'too',
    };
    await keep(scene, [configMaps([{ ...configMap('a'), metadata: { name: 'a', labels } }])]);
    expect(await keptNames(scene)).to.deep.equal(['a']);
    expect((await scene.get(ConfigMap, 'a')).metadata.labels).to.include({
      'operator-builder.io/owner-uid': scene.owner.metadata.uid,
      mine: 'too',
    });
    await keep(scene, [configMaps([])]);
    expect(await keptNames(scene)).to.deep.equal([]);
  });

  it('objects are updated only if they differ from the desired state', async () => {
    const scene = await open();
    await keep(scene, [configMaps([configMap('a', { k: '1' }), configMap('b')])]);
    await scene.writes();
    await keep(scene, [configMaps([configMap('a', { k: '2' }), configMap('b')])]);
    expect(await scene.writes()).to.deep.equal(['patch configmaps/a']);
    expect((await scene.get(ConfigMap, 'a')).data).to.deep.equal({ k: '2' });
  });

  it('objects lose a field that is no longer desired', async () => {
    const scene = await open();
    await keep(scene, [configMaps([configMap('a', { k: '1', gone: '1' })])]);
    await keep(scene, [configMaps([configMap('a', { k: '1' })])]);
    expect((await scene.get(ConfigMap, 'a')).data).to.deep.equal({ k: '1' });
  });

  it('objects are created, updated and deleted in one reconcile, in the configured order', async () => {
    const scene = await open();
    const order = ['update', 'delete', 'create'] as const;
    await keep(scene, [configMaps([configMap('a'), configMap('b')])]);
    scene.events.length = 0;
    await keep(scene, [configMaps([configMap('b', { k: '1' }), configMap('c')], { order })]);
    const told = scene.events.map(
      ({ reason, note }) => `${reason} ${/ConfigMap [^ :]+/.exec(note)?.[0]}`,
    );
    const { namespace } = scene;
    expect(told).to.deep.equal([
      `Configured ConfigMap ${namespace}/b`,
      `Deleted ConfigMap ${namespace}/a`,
      `Created ConfigMap ${namespace}/c`,
    ]);
  });

  it('deletions of objects are reported in Events that tell whether the object or its owner is no longer desired', async () => {
    const scene = await open();
    await keep(scene, [configMaps([configMap('a'), configMap('b')])]);
    scene.events.length = 0;
    await keep(scene, [configMaps([configMap('b')])]);
    await leave(scene, [configMaps([configMap('b')])]);
    const told = scene.events.map(({ note }) => /ConfigMap .*/.exec(note)?.[0]);
    expect(told).to.deep.equal([
      `ConfigMap ${scene.namespace}/a (no longer desired)`,
      `ConfigMap ${scene.namespace}/b (its owner is being deleted)`,
    ]);
  });

  it('objects are not changed or deleted by a resource with another name', async () => {
    const scene = await open();
    const others = configMaps([configMap('b')], { name: 'others' });
    await keep(scene, [configMaps([configMap('a')]), others]);
    await keep(scene, [configMaps([]), others]);
    expect(await scene.find(ConfigMap, 'a')).to.equal(undefined);
    expect(await scene.find(ConfigMap, 'b')).not.to.equal(undefined);
  });

  it('objects keep their UID when they move to an earlier resource of the chain', async () => {
    const scene = await open();
    const fieldManager = 'shop';
    await keep(scene, [configMaps([configMap('a', { k: '1', gone: '1' })], { fieldManager })]);
    const { metadata } = await scene.get(ConfigMap, 'a');
    const next = configMaps([configMap('a', { k: '1' })], { name: 'next', fieldManager });
    await keep(scene, [next, configMaps([], { fieldManager })]);
    const moved = await scene.get(ConfigMap, 'a');
    expect(moved.metadata.uid).to.equal(metadata.uid);
    expect(moved.data).to.deep.equal({ k: '1' });
    expect(await keptNames(scene, 'next')).to.deep.equal(['a']);
  });

  it('objects are all deleted with the owner, even if the desired state cannot be computed', async () => {
    const scene = await open();
    await keep(scene, [configMaps([configMap('a'), configMap('b')])]);
    await scene.writes();
    const broken = configMaps(() => {
      throw new Error('a spec that cannot be carried out');
    });
    await leave(scene, [broken]);
    expect(await scene.writes()).to.deep.equal(['delete configmaps/a', 'delete configmaps/b']);
    await leave(scene, [broken]);
    expect(await scene.writes()).to.deep.equal([]);
    expect(await scene.find(ConfigMap, 'shop')).not.to.equal(undefined);
  });

  it('objects can be of several kinds, even PersistentVolumeClaims', async () => {
    const scene = await open();
    const types = [Deployment, Service, PersistentVolumeClaim];
    const all = [workload('web'), service('web'), claim('data')];
    const resource = (desired: readonly (Deployment | Service | PersistentVolumeClaim)[]) =>
      objectsResource({ name: 'app', types, getDesiredState: () => desired });
    await keep(scene, [resource(all)]);
    const [reference] =
      (await scene.get(PersistentVolumeClaim, 'data')).metadata.ownerReferences ?? [];
    expect(reference?.controller).to.equal(true);
    await scene.writes();
    await keep(scene, [resource(all)]);
    expect(await scene.writes()).to.deep.equal([]);
    await keep(scene, [resource([service('web')])]);
    expect(await scene.writes()).to.deep.equal(['delete deployments/web']);
    // The data of a claim is not in the desired state: only the annotation allows its deletion.
    const body = { metadata: { annotations: { 'operator-builder.io/prune': 'true' } } };
    await scene.edit(PersistentVolumeClaim, 'data', { body });
    await keep(scene, [resource([service('web')])]);
    expect(await scene.writes()).to.deep.equal(['delete persistentvolumeclaims/data']);
  });

  it('objects cause no write if they only differ in fields that the server has defaulted', async () => {
    const scene = await open();
    const resources = [
      configMaps([configMap('a', { k: '' })]),
      secretResource({
        name: 'secrets',
        getDesiredState: () => [secret('token', { t: 'x' })],
      }),
      serviceResource({ name: 'services', getDesiredState: () => [service('web')] }),
      objectsResource({
        name: 'app',
        types: [Deployment],
        getDesiredState: () => [workload('web')],
      }),
    ];
    await keep(scene, resources);
    expect(await scene.writes()).to.have.length(4);
    await keep(scene, resources);
    expect(await scene.writes()).to.deep.equal([]);
  });

  it('objects are changed by a patch that contains only the difference, and are not patched without a difference', async () => {
    const scene = await open();
    const { client } = scene.operator;
    const patchOf = async (...names: readonly string[]) => {
      const getDesiredState = () => names.map((name) => configMap(name));
      const { operations } = configMapResource({ name: 'settings', getDesiredState });
      const context = newResourceContext({ client });
      const current = await operations.getCurrentState(context, scene.owner);
      const desired = await operations.getDesiredState(context, scene.owner);
      const patch = await operations.newUpdatePatch(context, scene.owner, { current, desired });
      const parts = ['create', 'delete', 'update'] as const;
      return parts.map((part) =>
        patch?.changeOf(part)?.change.map(({ metadata }) => metadata.name),
      );
    };
    expect(await patchOf('a', 'b')).to.deep.equal([['a', 'b'], undefined, undefined]);
    await keep(scene, [configMaps([configMap('a'), configMap('b')])]);
    expect(await patchOf('a', 'b')).to.deep.equal([undefined, undefined, undefined]);
    await scene.edit(ConfigMap, 'a', { body: { metadata: { labels: null } } });
    expect(await patchOf('b', 'c')).to.deep.equal([['c'], undefined, undefined]);
    await keep(scene, [configMaps([configMap('a'), configMap('b', { k: '1' })])]);
    expect(await patchOf('b', 'c')).to.deep.equal([['c'], ['a'], ['b']]);
  });

  it('objects cause no read request if their kind is cached', async () => {
    const scene = await open();
    const { client, stop } = await withCache(scene.operator.client, [ConfigMap]);
    try {
      const resource = configMaps([configMap('a', { k: '1' }), configMap('b')]);
      await keep(scene, [resource], { client });
      await scene.operator.requests();
      await keep(scene, [resource], { client });
      expect(await scene.operator.requests()).to.deep.equal([]);
      await keep(scene, [configMaps([configMap('a', { k: '2' })])], { client });
      await leave(scene, [resource], { client });
      await leave(scene, [resource], { client });
      expect(await scene.writes()).to.deep.equal([
        'delete configmaps/a',
        'delete configmaps/b',
        'patch configmaps/a',
      ]);
    } finally {
      await stop();
    }
  });

  it('objects are created again when they were deleted', async () => {
    const scene = await open();
    const resource = configMaps([configMap('a')]);
    await keep(scene, [resource]);
    await scene.admin.delete(ConfigMap, { namespace: scene.namespace, name: 'a' });
    await keep(scene, [resource]);
    expect(await keptNames(scene)).to.deep.equal(['a']);
  });

  it('objects that are still being deleted cancel the rest of the chain without a warning', async () => {
    const scene = await open();
    const resources = [
      configMaps([configMap('a')]),
      configMaps([configMap('z')], { name: 'next' }),
    ];
    await keep(scene, [resources[0] ?? configMaps([])]);
    const body = { metadata: { finalizers: ['shop.example.com/hold'] } };
    await scene.edit(ConfigMap, 'a', { body });
    await scene.admin.delete(ConfigMap, { namespace: scene.namespace, name: 'a' });
    await scene.writes();
    const context = await keep(scene, resources);
    expect(context.reconciliationCanceled?.reason).to.include(`ConfigMap ${scene.namespace}/a`);
    expect(context.reconciliationCanceled?.reason).to.include('shop.example.com/hold');
    expect(context.requeueAfterMs).to.equal(5_000);
    expect(await scene.writes()).to.deep.equal([]);
    await scene.edit(ConfigMap, 'a', { body: { metadata: { finalizers: null } } });
    await keep(scene, resources);
    expect(await scene.writes()).to.deep.equal(['patch configmaps/a', 'patch configmaps/z']);
  });

  it('objects are deleted, with their pods, before earlier resources of the chain are deleted', async () => {
    const scene = await open();
    const database = configMaps([configMap('database')], { name: 'database' });
    const workloads = objectsResource({
      ...{ name: 'workloads', types: [Deployment] },
      getDesiredState: () => [workload('web')],
    });
    const chain = [database, workloads];
    await keep(scene, chain);
    await scene.target.eventually(async () => {
      const { items } = await scene.admin.list(Pod, { namespace: scene.namespace });
      expect(items).to.have.length(1);
      const [pod] = items;
      const body = { metadata: { finalizers: ['shop.example.com/writes'] } };
      await scene.edit(Pod, pod?.metadata.name ?? '', { body });
    });
    const context = await leave(scene, chain);
    expect(context.reconciliationCanceled).to.deep.include({ resource: 'workloads' });
    expect(context.reconciliationCanceled?.reason).to.equal(
      `Deployment ${scene.namespace}/web is being deleted`,
    );
    expect(context.requeueAfterMs).to.equal(5_000);
    await leave(scene, chain);
    expect(await keptNames(scene, 'database')).to.deep.equal(['database']);
    const { items } = await scene.admin.list(Pod, { namespace: scene.namespace });
    for (const { metadata } of items) {
      await scene.edit(Pod, metadata.name ?? '', { body: { metadata: { finalizers: null } } });
    }
    await scene.target.eventually(async () => {
      const { reconciliationCanceled } = await leave(scene, chain);
      expect(reconciliationCanceled).to.equal(undefined);
    });
    expect(await keptNames(scene, 'database')).to.deep.equal([]);
  });

  it('objects in a namespace that is being deleted make the resource wait', async () => {
    const scene = await open();
    const body = { metadata: { finalizers: ['shop.example.com/hold'] } };
    await scene.edit(ConfigMap, 'shop', { body });
    await scene.admin.delete(Namespace, { name: scene.namespace });
    const context = await keep(scene, [configMaps([configMap('a')])]);
    expect(context.reconciliationCanceled?.reason).to.include('namespace is being deleted');
    await scene.edit(ConfigMap, 'shop', { body: { metadata: { finalizers: null } } });
  });
}

export function service(name: string): Service {
  const spec = { ports: [{ port: 80 }], selector: { app: name } };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec };
}

export function secret(name: string, stringData: Record<string, string>): Secret {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData };
}

export function workload(name: string): Deployment {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
  };
}

export function claim(name: string): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  };
}
