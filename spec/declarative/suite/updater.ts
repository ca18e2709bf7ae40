import { expect } from 'chai';
import { ConfigMap, Deployment, Service } from '../../../lib/object/kinds.js';
import type { OwnerReference, UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { isOperatorError } from '../../../lib/system/operator-error.js';
import { thrownBy } from './patcher.js';
import { Gadget, Realm, Widget } from './target-scene.js';
import type { OpenTargetScene, TargetScene } from './target-scene.js';

const podSpec = { containers: [{ name: 'main', image: 'registry.example/main:1' }] };

/** The content of a Deployment, with `more` in its spec. */
export function deployment(more: object = {}) {
  const template = { metadata: { labels: { app: 'web' } }, spec: podSpec };
  return { spec: { selector: { matchLabels: { app: 'web' } }, template, ...more } };
}

/** Sets the replicas as an autoscaler does. */
async function scaleTo({ admin, namespace }: TargetScene, replicas: number): Promise<void> {
  const scale = { type: 'merge', body: { spec: { replicas } } } as const;
  const options = { subresource: 'scale', fieldManager: 'autoscaler' };
  await admin.patch(Deployment, { namespace, name: 'web' }, scale, options);
}

/** Creates two ConfigMaps. Returns references to them as owners. */
async function twoOwners(scene: TargetScene): Promise<Record<'ours' | 'theirs', OwnerReference>> {
  const created = async (name: string): Promise<OwnerReference> => {
    const { metadata } = (await scene.create(ConfigMap, {}, name)) as UnstructuredObject;
    return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: metadata.uid ?? '' };
  };
  return { ours: await created('ours'), theirs: await created('theirs') };
}

function labelsOf({ metadata }: UnstructuredObject): object {
  return metadata.labels ?? {};
}

export function updaterSuite(open: OpenTargetScene): void {
  it('an Updater creates an object of its target kind, whatever apiVersion and kind its document has', async () => {
    const scene = await open();
    const updater = scene.updater(ConfigMap);
    const document = { apiVersion: 'shop.view.dcontroller.io/v1alpha1', kind: 'Health' };
    expect(await updater.write({ ...document, data: { a: '1' } })).to.equal('created');
    expect(await scene.get(ConfigMap)).to.deep.include({ kind: 'ConfigMap', data: { a: '1' } });
  });

  it('an Updater ignores metadata that only the server sets', async () => {
    const scene = await open();
    const metadata = {
      ...{ uid: 'other', resourceVersion: '1', generation: 7, managedFields: [], selfLink: '/x' },
      ...{ creationTimestamp: '2020-01-01T00:00:00Z', deletionTimestamp: '2020-01-01T00:00:00Z' },
      ...{ generateName: 'x-', labels: { app: 'web' } },
    };
    expect(await scene.updater(ConfigMap).write({ metadata })).to.equal('created');
    expect((await scene.get(ConfigMap)).metadata).to.deep.include({ labels: { app: 'web' } });
  });

  it('an Updater ignores finalizers and owners that its document copied from another object, and writes other ones', async () => {
    const scene = await open();
    const updater = scene.updater(ConfigMap);
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'no-such-uid' };
    const theirs = { finalizers: ['shop.example.com/theirs'], ownerReferences: [owner] };
    await updater.write({ metadata: { ...theirs, uid: 'other', labels: { app: 'web' } } });
    const { metadata } = await scene.get(ConfigMap);
    expect(metadata.labels).to.deep.equal({ app: 'web' });
    expect(metadata).not.to.have.any.keys('finalizers', 'ownerReferences');
    await updater.write({ metadata: { finalizers: theirs.finalizers } });
    expect((await scene.get(ConfigMap)).metadata.finalizers).to.deep.equal(theirs.finalizers);
    await updater.write({ metadata: { labels: { app: 'web' } } });
    expect((await scene.get(ConfigMap)).metadata).not.to.have.property('finalizers');
  });

  it('an Updater removes fields that the document no longer has', async () => {
    const scene = await open();
    const updater = scene.updater(ConfigMap);
    await updater.write({ data: { a: '1', b: '2' }, binaryData: { c: 'AA==' } });
    expect(await updater.write({ data: { b: '3' } })).to.equal('configured');
    const { data, binaryData } = await scene.get(ConfigMap);
    expect({ data, binaryData }).to.deep.equal({ data: { b: '3' }, binaryData: undefined });
  });

  it('an Updater reverts changes, additions and removals by other clients', async () => {
    const scene = await open();
    const updater = scene.updater(ConfigMap);
    await updater.write({ data: { a: '1', b: '2' } });
    await scene.edit(ConfigMap, { data: { a: 'x', b: null, c: '3' } });
    expect(await updater.write({ data: { a: '1', b: '2' } })).to.equal('configured');
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ a: '1', b: '2' });
  });

  it('an Updater replaces an object that another client created, except for its metadata', async () => {
    const scene = await open();
    const metadata = { labels: { theirs: '1' }, finalizers: ['shop.example.com/theirs'] };
    await scene.create(Gadget, { metadata, spec: { old: true, list: [1] }, other: 'x' });
    await scene.updater(Gadget).write({ metadata: { labels: { ours: '1' } }, spec: { list: [2] } });
    const { metadata: after, spec, other } = await scene.get(Gadget);
    expect({ spec, other }).to.deep.equal({ spec: { list: [2] }, other: undefined });
    expect(after.labels).to.deep.equal({ theirs: '1', ours: '1' });
    expect(after.finalizers).to.deep.equal(['shop.example.com/theirs']);
    await scene.edit(Gadget, { metadata: { finalizers: null } });
  });

  it('an Updater does not change or delete an object whose controller reference names another owner', async () => {
    const scene = await open();
    const { theirs } = await twoOwners(scene);
    const ownerReferences = [{ ...theirs, controller: true }];
    await scene.create(ConfigMap, { metadata: { ownerReferences }, data: { theirs: '1' } });
    const updater = scene.updater(ConfigMap);
    await scene.writes();
    const error = await thrownBy(updater.write({ data: { a: '1' } }));
    expect(isOperatorError(error, 'AlreadyOwned')).to.equal(true);
    expect(String(error)).to.contain(`ConfigMap ${scene.namespace}/web: `);
    expect(String(error)).to.contain('its controller is ConfigMap theirs').and.contain('Patcher');
    expect(await updater.remove()).to.equal('unchanged');
    expect(await scene.writes()).to.deep.equal([]);
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ theirs: '1' });
    // Once the object has no controller, the operator may take it over.
    await scene.edit(ConfigMap, { metadata: { ownerReferences: null } });
    expect(await updater.write({ data: { a: '1' } })).to.equal('configured');
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ a: '1' });
  });

  it('an Updater takes over an object whose controller its document names, or whose owner is not its controller', async () => {
    const scene = await open();
    const { ours, theirs } = await twoOwners(scene);
    for (const [owner, documented] of [
      [{ ...ours, controller: true }, [{ ...ours, controller: true }]],
      [theirs, undefined],
    ] as const) {
      await scene.create(ConfigMap, { metadata: { ownerReferences: [owner] }, data: { b: '2' } });
      const updater = scene.updater(ConfigMap);
      const metadata = documented === undefined ? {} : { ownerReferences: documented };
      expect(await updater.write({ metadata, data: { a: '1' } })).to.equal('configured');
      expect((await scene.get(ConfigMap))['data']).to.deep.equal({ a: '1' });
      expect(await updater.remove()).to.equal('deleted');
    }
  });

  it('an Updater updates and deletes its own object, even after another client has set a controller reference', async () => {
    const scene = await open();
    const { theirs } = await twoOwners(scene);
    await scene.updater(ConfigMap).write({ data: { a: '1' } });
    const ownerReferences = [{ ...theirs, controller: true }];
    await scene.edit(ConfigMap, { metadata: { ownerReferences } });
    const updater = scene.updater(ConfigMap);
    expect(await updater.write({ data: { a: '2' } })).to.equal('configured');
    expect((await scene.get(ConfigMap))['data']).to.deep.equal({ a: '2' });
    expect(await updater.remove()).to.equal('deleted');
  });

  it('an Updater removes its own labels and annotations, and keeps those of other clients', async () => {
    const scene = await open();
    const updater = scene.updater(ConfigMap);
    await updater.write({ metadata: { labels: { a: '1', b: '1' }, annotations: { c: '1' } } });
    await scene.edit(ConfigMap, { metadata: { labels: { theirs: '1' }, annotations: { d: '1' } } });
    await updater.write({ metadata: { labels: { b: '2' } } });
    const after = await scene.get(ConfigMap);
    expect(labelsOf(after)).to.deep.equal({ b: '2', theirs: '1' });
    expect(after.metadata.annotations).to.deep.equal({ d: '1' });
  });

  it('an Updater keeps a label that another manager also sets', async () => {
    const scene = await open();
    await scene.create(ConfigMap, { metadata: { labels: { app: 'web' } } });
    const updater = scene.updater(ConfigMap);
    await updater.write({ metadata: { labels: { app: 'web', tier: 'front' } } });
    await updater.write({ data: { a: '1' } });
    expect(labelsOf(await scene.get(ConfigMap))).to.deep.equal({ app: 'web' });
  });

  it('an Updater empties a map or list that is empty in its document', async () => {
    const scene = await open();
    const updater = scene.updater(Gadget);
    await updater.write({ spec: { a: 1, map: { b: 1 }, list: ['x'] } });
    await updater.write({ spec: { map: {}, list: [] } });
    expect((await scene.get(Gadget))['spec']).to.deep.equal({ map: {}, list: [] });
    await updater.write({ spec: {} });
    expect((await scene.get(Gadget))['spec']).to.deep.equal({});
  });

  it('an Updater treats a null in its document as absent', async () => {
    const scene = await open();
    const updater = scene.updater(Widget);
    await updater.write({ metadata: { labels: { a: '1' } }, spec: { color: 'red', size: 4 } });
    await updater.write({ metadata: { labels: { a: null } }, spec: { color: null, size: null } });
    const after = await scene.get(Widget);
    expect(labelsOf(after)).to.deep.equal({});
    expect(after['spec']).to.deep.equal({ size: 3 });
  });

  it('an Updater keeps defaults of the server and fields written through a subresource', async () => {
    const scene = await open();
    const updater = scene.updater(Deployment);
    await updater.write(deployment());
    await scaleTo(scene, 4);
    await updater.write(deployment({ minReadySeconds: 5 }));
    const { spec } = (await scene.get(Deployment)) as Deployment;
    expect(spec).to.include({ replicas: 4, minReadySeconds: 5, revisionHistoryLimit: 10 });
  });

  it('an Updater changes the strategy type of a Deployment although the server added defaults for the earlier type', async () => {
    const scene = await open();
    const updater = scene.updater(Deployment);
    await updater.write(deployment());
    await scaleTo(scene, 4);
    await updater.write(deployment({ strategy: { type: 'Recreate' } }));
    const recreating = (await scene.get(Deployment)) as Deployment;
    expect(recreating.spec?.strategy).to.deep.equal({ type: 'Recreate' });
    expect(recreating.spec?.replicas).to.equal(4);
    await updater.write(deployment());
    const rolling = (await scene.get(Deployment)) as Deployment;
    expect(rolling.spec?.strategy).to.include({ type: 'RollingUpdate' });
  });

  it('an Updater keeps the cluster IP that the server gave to a Service', async () => {
    const scene = await open();
    const updater = scene.updater(Service);
    await updater.write({
      spec: { ports: [{ name: 'http', port: 80 }], selector: { app: 'web' } },
    });
    const { spec: before } = (await scene.get(Service)) as Service;
    await updater.write({ spec: { ports: [{ name: 'http', port: 81 }] } });
    const { spec } = (await scene.get(Service)) as Service;
    expect(spec?.clusterIP).to.equal(before?.clusterIP);
    expect(spec?.ports).to.have.length(1).with.nested.property('[0].port', 81);
    expect(spec?.selector).to.equal(undefined);
  });

  it('an Updater keeps the fields of a Patcher on the same object', async () => {
    const scene = await open();
    const [updater, patcher] = [scene.updater(Widget), scene.patcher(Widget, 'shop/paint')];
    await updater.write({ spec: { size: 4 } });
    await patcher.write({ spec: { color: 'red' } });
    await scene.writes();
    expect(await updater.write({ spec: { size: 4 } })).to.equal('unchanged');
    expect(await patcher.write({ spec: { color: 'red' } })).to.equal('unchanged');
    expect(await scene.writes()).to.deep.equal([]);
    expect((await scene.get(Widget))['spec']).to.deep.equal({ size: 4, color: 'red' });
  });

  it('an Updater writes objects without a namespace', async () => {
    const scene = await open();
    const updater = scene.updater(Realm);
    await updater.write({ spec: { a: 1 } });
    expect((await scene.admin.get(Realm, { name: 'web' }))['spec']).to.deep.equal({ a: 1 });
    expect(await updater.remove()).to.equal('deleted');
  });

  it('an Updater deletes its object together with dependents, and succeeds if the object is missing', async () => {
    const scene = await open();
    const updater = scene.updater(Deployment);
    await updater.write(deployment());
    expect(await updater.remove()).to.equal('deleted');
    await scene.target.eventually(async () =>
      expect(await scene.find(Deployment)).to.equal(undefined),
    );
    expect(await updater.remove()).to.equal('unchanged');
  });

  it('an Updater deletes no object that it did not write', async () => {
    const scene = await open();
    await scene.create(ConfigMap, { data: { a: '1' } });
    expect(await scene.updater(ConfigMap).remove()).to.equal('unchanged');
    expect(await scene.find(ConfigMap)).not.to.equal(undefined);
  });

  it('an Updater deletes an object of which it wrote only the name', async () => {
    const scene = await open();
    await scene.updater(ConfigMap).write({});
    expect((await scene.get(ConfigMap)).metadata.annotations ?? {}).to.deep.equal({});
    expect(await scene.updater(ConfigMap).remove()).to.equal('deleted');
  });
}
