import { expect } from 'chai';
import { forwarding } from '../../../../lib/client/index.js';
import type { Client } from '../../../../lib/client/index.js';
import { ConfigMap } from '../../../../lib/object/kinds.js';
import { configMapResource, ResourceRouter, ResourceSet } from '../../../../lib/resource/index.js';
import { typeOf } from './gadget.js';
import type { Gadget } from './gadget.js';
import { finalizersOf } from './scene.js';
import type { OpenScene } from './scene.js';

const ours = 'operator-builder.io/shop';
const foreign = 'other.example.com/held';

/** Declares how an object is held until all its resources are deleted. */
export function finalizersSuite(open: OpenScene): void {
  it('the framework adds the finalizer before it creates anything, in a patch with the resourceVersion, and ends the reconcile', async () => {
    const scene = await open();
    let held: readonly string[] | undefined;
    let given: readonly string[] | undefined;
    const r1 = scene.resource('r1', {
      created: async (_, object) => {
        given ??= finalizersOf(object);
        held ??= finalizersOf(await scene.get(object.metadata.name ?? ''));
      },
    });
    scene.run({ resources: [r1], readyCondition: false });
    await scene.create('a');
    await scene.until(() => scene.calls.length > 0);
    await scene.until(() => held !== undefined);
    // The first create gets an object with the finalizer, because the reconcile that adds the finalizer ends with that.
    expect([held, given]).to.deep.equal([[ours], [ours]]);
    const patches = (await scene.requests()).filter(({ verb }) => verb === 'patch');
    expect(patches.map(({ resource }) => resource)).to.deep.equal(['gadgets']);
  });

  it('the framework continues without a write if the object has the finalizer', async () => {
    const scene = await open();
    await scene.create('a', { metadata: { finalizers: [ours] } });
    scene.run({ readyCondition: false });
    await scene.until(() => scene.calls.includes('r1 created a'));
    const writes = (await scene.requests()).filter(({ verb }) => !['get', 'list'].includes(verb));
    expect(writes).to.deep.equal([]);
  });

  it('the framework appends its finalizer to the finalizers of other controllers', async () => {
    const scene = await open();
    await scene.create('a', { metadata: { finalizers: [foreign] } });
    scene.run();
    await scene.until(() => scene.calls.includes('r1 created a'));
    expect(finalizersOf(await scene.get('a'))).to.deep.equal([foreign, ours]);
  });

  it('the framework neither adds its finalizer to an object that is being deleted, nor reconciles the object', async () => {
    const scene = await open();
    await scene.create('a', { metadata: { finalizers: [foreign] } });
    await scene.delete('a');
    scene.run();
    await scene.create('b');
    await scene.until(() => scene.calls.includes('r1 created b'));
    await scene.calm();
    expect(scene.calls).not.to.include.members(['r1 created a']);
    expect(scene.calls).not.to.include.members(['r1 deleted a']);
    expect(finalizersOf(await scene.get('a'))).to.deep.equal([foreign]);
    await scene.edit('a', { metadata: { finalizers: null } });
  });

  it('the framework calls ensureDeleted of every resource in reverse order, then removes the finalizer, so that the object is deleted', async () => {
    const scene = await open();
    scene.run({ resources: [scene.resource('r1'), scene.resource('r2')] });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r2 created a'));
    await scene.delete('a');
    await scene.until(() => scene.isGone('a'));
    const deletes = scene.calls.filter((call) => call.includes('deleted'));
    expect(deletes).to.deep.equal(['r2 deleted a', 'r1 deleted a']);
  });

  it('the framework keeps the finalizer when ensureDeleted fails, names the step, and retries', async () => {
    const scene = await open();
    let tries = 0;
    const r1 = scene.resource('r1', {
      deleted: () => {
        if (++tries < 3) throw new Error('the disk is busy');
      },
    });
    scene.run({ resources: [r1, scene.resource('r2')] });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r2 created a'));
    await scene.delete('a');
    await scene.until(() => scene.isGone('a'));
    const deletes = scene.calls.filter((call) => call.includes('deleted'));
    const once = ['r2 deleted a', 'r1 deleted a'];
    expect(deletes).to.deep.equal([...once, ...once, ...once]);
    const note = 'set all, resource r1, ensureDeleted: the disk is busy';
    expect(scene.recorded()).to.include(`Warning ResourceFailed: ${note}`);
    expect(scene.lines.join('\n')).to.include(`Gadget ${scene.namespace}/a: ${note}`);
  });

  it('the framework keeps the finalizer while a resource requests to keep it, reports this once, and retries', async () => {
    const scene = await open();
    let left = 3;
    const r1 = scene.resource('r1', {
      deleted: (context) => {
        if (left-- > 0) context.keepFinalizers('the dump goes on');
      },
    });
    scene.run({ resources: [r1, scene.resource('r2')] });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r2 created a'));
    await scene.delete('a');
    await scene.until(() => scene.isGone('a'));
    const deletes = scene.calls.filter((call) => call.includes('deleted'));
    expect(deletes).to.have.length(8);
    expect(deletes.slice(0, 2)).to.deep.equal(['r2 deleted a', 'r1 deleted a']);
    expect(scene.recorded()).to.deep.equal([
      `Normal FinalizerKept: the finalizer ${ours} is kept by r1 (the dump goes on)`,
    ]);
  });

  it('the framework retries at the interval that a resource requests while it keeps the finalizer', async () => {
    const scene = await open();
    let left = 3;
    const r1 = scene.resource('r1', {
      deleted: (context) => {
        if (left-- > 0) context.keepFinalizers();
        context.requeueAfter(100);
      },
    });
    scene.run({ resources: [r1], keptFinalizerRetryMs: 3_600_000 });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    await scene.delete('a');
    await scene.until(() => scene.isGone('a'));
  });

  it('the framework does not change a new object with the name of the deleted object', async () => {
    const scene = await open();
    const finalizers = [ours, 'other.example.com/held'];
    let made: string | undefined;
    const r1 = scene.resource('r1', {
      deleted: async () => {
        if (made !== undefined) return;
        await scene.edit('a', { metadata: { finalizers: null } });
        made = (await scene.create('a', { metadata: { finalizers } })).metadata.uid;
      },
    });
    scene.run({ resources: [r1] });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    await scene.delete('a');
    await scene.until(() => scene.calls.filter((call) => call === 'r1 created a').length > 1);
    await scene.calm();
    const { metadata } = await scene.get('a');
    expect(metadata).to.include({ uid: made, generation: 1 }).and.deep.include({ finalizers });
    await scene.edit('a', { metadata: { finalizers: null } });
  });

  it('the framework keeps the finalizer when ensureDeleted cancels the reconciliation, and reports why', async () => {
    const scene = await open();
    let isReady = false;
    const r2 = scene.resource('r2', {
      deleted: (context) => {
        if (!isReady) context.cancelReconciliation('not before noon');
      },
    });
    scene.run({ resources: [scene.resource('r1'), r2] });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r2 created a'));
    await scene.delete('a');
    await scene.until(() => scene.calls.filter((call) => call === 'r2 deleted a').length > 1);
    expect(scene.calls).not.to.include('r1 deleted a');
    expect(finalizersOf(await scene.get('a'))).to.deep.equal([ours]);
    expect(scene.lines.join('\n')).to.match(/info: reconciliation canceled in .*not before noon/);
    isReady = true;
    await scene.until(() => scene.isGone('a'));
    expect(scene.calls).to.include('r1 deleted a');
  });

  it('the framework leaves the objects of ready-made resources if the owner is deleted with --cascade=orphan', async () => {
    const scene = await open();
    const { namespace } = scene;
    const key = { namespace, name: 'kept' };
    const kept: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };
    const resource = configMapResource({ name: 'settings', getDesiredState: () => [kept] });
    scene.run({ resources: [resource], configure: (controller) => controller.owns(ConfigMap) });
    await scene.create('a');
    await scene.until(() => scene.admin.get(ConfigMap, key));
    const options = { propagationPolicy: 'Orphan' } as const;
    await scene.admin.delete(typeOf('Gadget'), { namespace, name: 'a' }, options);
    // The garbage collector of a real control plane discovers new kinds only twice a minute.
    await scene.until(() => scene.isGone('a'), 2_000);
    const { metadata } = await scene.admin.get(ConfigMap, key);
    expect(metadata.deletionTimestamp).to.equal(undefined);
    expect(metadata.ownerReferences ?? []).to.deep.equal([]);
  });

  it('the framework deletes in the order of creation if the resource set is configured in this way', async () => {
    const scene = await open();
    const resources = [scene.resource('r1'), scene.resource('r2')];
    const set = new ResourceSet<Gadget>({
      ...{ name: 'all', handles: () => true, resources, deletionOrder: 'creation' },
    });
    scene.run({ resourceRouter: new ResourceRouter({ resourceSets: [set] }) });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r2 created a'));
    await scene.delete('a');
    await scene.until(() => scene.isGone('a'));
    const deletes = scene.calls.filter((call) => call.includes('deleted'));
    expect(deletes).to.deep.equal(['r1 deleted a', 'r2 deleted a']);
  });

  it('the framework removes the finalizer when ensureDeleted cancels only its own resource', async () => {
    const scene = await open();
    const r1 = scene.resource('r1', { deleted: (context) => context.cancelResource('skip') });
    scene.run({ resources: [r1, scene.resource('r2')] });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r2 created a'));
    await scene.delete('a');
    await scene.until(() => scene.isGone('a'));
    const deletes = scene.calls.filter((call) => call.includes('deleted'));
    expect(deletes).to.deep.equal(['r2 deleted a', 'r1 deleted a']);
  });

  it('the framework calls ensureDeleted only once while a finalizer of another controller holds the object', async () => {
    const scene = await open();
    await scene.create('a', { metadata: { finalizers: [foreign] } });
    scene.run();
    await scene.until(() => scene.calls.includes('r1 created a'));
    await scene.delete('a');
    await scene.until(async () => !finalizersOf(await scene.get('a')).includes(ours));
    await scene.annotate('a', { touched: 'yes' });
    await scene.calm();
    expect(finalizersOf(await scene.get('a'))).to.deep.equal([foreign]);
    expect(scene.calls.filter((call) => call === 'r1 deleted a')).to.have.length(1);
    await scene.edit('a', { metadata: { finalizers: null } });
    await scene.until(() => scene.isGone('a'));
  });

  it('the framework removes the finalizer although a resource and another client wrote to the object during the clean-up', async () => {
    const scene = await open();
    const r1 = scene.resource('r1', {
      deleted: async (context, object) => {
        const { apiVersion, kind, metadata } = object;
        const { namespace = '', name = '' } = metadata;
        const body = { status: { size: 'gone' } };
        const patch = { type: 'merge', body } as const;
        const options = { subresource: 'status' };
        await context.client.patch({ apiVersion, kind }, { namespace, name }, patch, options);
        await scene.annotate(name, { meanwhile: 'yes' });
      },
    });
    scene.run({ resources: [r1] });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    await scene.delete('a');
    await scene.until(() => scene.isGone('a'));
    expect(scene.calls.filter((call) => call === 'r1 deleted a')).to.have.length(1);
  });

  it('the framework does not call ensureDeleted again when another client changes the object right before the finalizer is removed', async () => {
    const scene = await open();
    const { client } = scene.operator;
    let isMeddled = false;
    const meddling: Client = {
      ...forwarding(client),
      patch: async (type, key, patch, options) => {
        if (scene.calls.includes('r1 deleted a') && !isMeddled) {
          isMeddled = true;
          await scene.annotate('a', { meanwhile: 'yes' });
        }
        return client.patch(type, key, patch, options);
      },
    };
    scene.run({ client: meddling });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    await scene.delete('a');
    await scene.until(() => scene.isGone('a'));
    expect(isMeddled).to.equal(true);
    expect(scene.calls.filter((call) => call === 'r1 deleted a')).to.have.length(1);
  });
}
