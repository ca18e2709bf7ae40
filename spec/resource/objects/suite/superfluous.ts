import { expect } from 'chai';
import { ensureCrd } from '../../../../lib/client/index.js';
import { ConfigMap, PersistentVolumeClaim } from '../../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../../lib/object/kubernetes-object.js';
import { objectsResource } from '../../../../lib/resource/index.js';
import type { Resource } from '../../../../lib/resource/index.js';
import { crdOf, typeOf } from '../../framework/suite/gadget.js';
import { claim } from './changes.js';
import { configMap, configMaps, keep, keptNames, leave } from './keeping.js';
import type { OpenScene } from './keeping.js';

/** Declares which objects are deleted once they are no longer desired. */
export function superfluousSuite(open: OpenScene): void {
  it('objects are deleted when they are no longer desired', async () => {
    const scene = await open();
    await keep(scene, [configMaps([configMap('a'), configMap('b'), configMap('c')])]);
    await scene.writes();
    await keep(scene, [configMaps([configMap('b')])]);
    expect(await scene.writes()).to.deep.equal(['delete configmaps/a', 'delete configmaps/c']);
    expect(await keptNames(scene)).to.deep.equal(['b']);
  });

  it('superfluous objects are not deleted again while a finalizer holds them, and not at all if an annotation keeps them', async () => {
    const scene = await open();
    const names = ['a', 'held', 'stays'];
    await keep(scene, [configMaps(names.map((name) => configMap(name)))]);
    const finalizers = ['shop.example.com/hold'];
    await scene.edit(ConfigMap, 'held', { body: { metadata: { finalizers } } });
    const annotations = { 'operator-builder.io/prune': 'false' };
    await scene.edit(ConfigMap, 'stays', { body: { metadata: { annotations } } });
    await scene.writes();
    await keep(scene, [configMaps([])]);
    expect(await scene.writes()).to.deep.equal(['delete configmaps/a', 'delete configmaps/held']);
    await keep(scene, [configMaps([])]);
    const { reconciliationCanceled } = await leave(scene, [configMaps([])]);
    expect(await scene.writes()).to.deep.equal([]);
    expect(reconciliationCanceled?.reason).to.equal(
      `ConfigMap ${scene.namespace}/held is being deleted, held by finalizers shop.example.com/hold`,
    );
    expect(await keptNames(scene)).to.deep.equal(['held', 'stays']);
    await scene.edit(ConfigMap, 'held', { body: { metadata: { finalizers: null } } });
  });

  it('superfluous objects do not stop the chain while a finalizer holds them', async () => {
    const scene = await open();
    await ensureCrd(scene.admin, crdOf('Gadget'), { clock: scene.target.clock });
    const gadget = (name: string): KubernetesObject => {
      const metadata = { name, finalizers: ['shop.example.com/hold'] };
      return { ...typeOf('Gadget'), metadata };
    };
    const gadgets = (...names: readonly string[]): Resource =>
      objectsResource({
        ...{ name: 'gadgets', types: [typeOf('Gadget')] },
        getDesiredState: () => names.map(gadget),
      });
    await keep(scene, [gadgets('a', 'b')]);
    const next = configMaps([configMap('z')], { name: 'next' });
    const context = await keep(scene, [gadgets('b'), next]);
    expect(context.reconciliationCanceled).to.equal(undefined);
    expect(context.requeueAfterMs).to.equal(5_000);
    expect(await keptNames(scene, 'next')).to.deep.equal(['z']);
    const { reconciliationCanceled } = await leave(scene, [gadgets('b')]);
    expect(reconciliationCanceled?.reason).to.include('held by finalizers shop.example.com/hold');
    for (const name of ['a', 'b']) {
      const key = { namespace: scene.namespace, name };
      const body = { metadata: { finalizers: null } };
      await scene.admin.patch(typeOf('Gadget'), key, { type: 'merge', body });
    }
  });

  it('superfluous PersistentVolumeClaims are kept if an annotation says so, and otherwise deleted with their owner', async () => {
    const scene = await open();
    const resource = (desired: readonly PersistentVolumeClaim[]) =>
      objectsResource({
        ...{ name: 'data', types: [PersistentVolumeClaim] },
        getDesiredState: () => desired,
      });
    await keep(scene, [resource([claim('kept')])]);
    const annotate = (mark: string | null): Promise<void> => {
      const body = { metadata: { annotations: { 'operator-builder.io/prune': mark } } };
      return scene.edit(PersistentVolumeClaim, 'kept', { body });
    };
    await annotate('false');
    await scene.writes();
    await keep(scene, [resource([])]);
    await leave(scene, [resource([])]);
    expect(await scene.writes()).to.deep.equal([]);
    await annotate(null);
    await leave(scene, [resource([])]);
    expect(await scene.writes()).to.deep.equal(['delete persistentvolumeclaims/kept']);
  });

  it('a PersistentVolumeClaim that moves to a later resource of the chain is not deleted', async () => {
    const scene = await open();
    const resource = (name: string, ...names: readonly string[]): Resource =>
      objectsResource({
        ...{ name, types: [PersistentVolumeClaim], fieldManager: 'shop' },
        getDesiredState: () => names.map(claim),
      });
    await keep(scene, [resource('one', 'data'), resource('two')]);
    const { metadata } = await scene.get(PersistentVolumeClaim, 'data');
    const chain = [resource('one'), resource('two', 'data')];
    for (let n = 0; n < 2; n++) await keep(scene, chain);
    const moved = await scene.get(PersistentVolumeClaim, 'data');
    expect(moved.metadata.uid).to.equal(metadata.uid);
    expect(moved.metadata.labels).to.include({ 'operator-builder.io/resource': 'two' });
  });
}
