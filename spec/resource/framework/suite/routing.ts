import { expect } from 'chai';
import { ResourceRouter, ResourceSet } from '../../../../lib/resource/index.js';
import type { Gadget } from './gadget.js';
import { finalizersOf } from './scene.js';
import type { OpenScene, Scene } from './scene.js';

/** Returns a router with one resource set for each version. With `handles`, several sets can claim an object. */
function routerOf(
  scene: Scene,
  handles: (version: string) => readonly string[] = (version) => [version],
): ResourceRouter<Gadget> {
  const set = (name: string): ResourceSet<Gadget> =>
    new ResourceSet({
      name,
      handles: ({ spec }) => handles(spec?.version ?? '').includes(name),
      resources: [scene.resource(`${name}-r1`), scene.resource(`${name}-r2`)],
    });
  return new ResourceRouter({ resourceSets: [set('v1'), set('v2')] });
}

const both = (version: string): readonly string[] =>
  version === 'both' ? ['v1', 'v2'] : [version];

/** Declares which set reconciles an object. */
export function routingSuite(open: OpenScene): void {
  it("the framework runs the resource set that handles the object, and another set when the object's version changes", async () => {
    const scene = await open();
    scene.run({ resourceRouter: routerOf(scene) });
    await scene.create('a', { spec: { version: 'v1' } });
    await scene.until(() => scene.calls.includes('v1-r2 created a'));
    expect(scene.calls.some((call) => call.startsWith('v2'))).to.equal(false);
    await scene.edit('a', { spec: { version: 'v2' } });
    await scene.until(() => scene.calls.includes('v2-r2 created a'));
    await scene.delete('a');
    await scene.until(() => scene.isGone('a'));
    const deletes = scene.calls.filter((call) => call.includes('deleted'));
    expect(deletes).to.deep.equal(['v2-r2 deleted a', 'v2-r1 deleted a']);
  });

  it('the framework adds no finalizer and reports nothing when no set handles the object', async () => {
    const scene = await open();
    scene.run({ resourceRouter: routerOf(scene) });
    await scene.create('other', { spec: { version: 'v3' } });
    await scene.create('a', { spec: { version: 'v1' } });
    await scene.until(() => scene.calls.includes('v1-r2 created a'));
    await scene.calm();
    expect(finalizersOf(await scene.get('other'))).to.deep.equal([]);
    expect(scene.recorded()).to.deep.equal([]);
    expect(scene.lines.filter((line) => /^(warn|error)/.test(line))).to.deep.equal([]);
    await scene.delete('other');
    expect(await scene.isGone('other')).to.equal(true);
  });

  it('the framework warns about a deleted object that keeps its finalizer because no set handles it now', async () => {
    const scene = await open();
    scene.run({ resourceRouter: routerOf(scene) });
    await scene.create('a', { spec: { version: 'v1' } });
    await scene.until(() => scene.calls.includes('v1-r2 created a'));
    await scene.edit('a', { spec: { version: 'v3' } });
    await scene.delete('a');
    await scene.until(() => scene.events.length > 0);
    await scene.annotate('a', { touched: 'yes' });
    await scene.calm();
    expect(scene.recorded()).to.have.length(1);
    expect(scene.recorded()[0]).to.match(
      /^Warning NoResourceSet: .* finalizer operator-builder\.io\/shop stays/,
    );
    await scene.edit('a', { spec: { version: 'v1' } });
    await scene.until(() => scene.isGone('a'));
    expect(scene.calls).to.include('v1-r1 deleted a');
  });

  it('the framework removes the finalizer when a set handles the object again, even if the object does not change', async () => {
    const scene = await open();
    let isBack = true;
    const resourceRouter = routerOf(scene, () => (isBack ? ['v1'] : []));
    scene.run({ resourceRouter, resyncPeriodMs: 300 });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('v1-r2 created a'));
    isBack = false;
    await scene.delete('a');
    await scene.until(() => scene.recorded().join().includes('NoResourceSet'));
    isBack = true;
    await scene.until(() => scene.isGone('a'));
  });

  it('the framework warns about each deleted object that no set handles, even if an earlier one had the same name', async () => {
    const scene = await open();
    scene.run({ resourceRouter: routerOf(scene) });
    for (const warnings of [1, 2]) {
      await scene.create('a', { spec: { version: 'v1' } });
      await scene.until(async () => finalizersOf(await scene.get('a')).length > 0);
      await scene.edit('a', { spec: { version: 'v3' } });
      await scene.delete('a');
      await scene.until(() => scene.recorded().length === warnings);
      await scene.edit('a', { metadata: { finalizers: null } });
      await scene.until(() => scene.isGone('a'));
    }
  });

  it('the framework does not report that several sets handle a paused object', async () => {
    const scene = await open();
    scene.run({ resourceRouter: routerOf(scene, both) });
    const annotations = { 'operator-builder.io/paused': 'true' };
    await scene.create('a', { metadata: { annotations }, spec: { version: 'both' } });
    await scene.until(async () => (await scene.condition('a', 'Paused'))?.status === 'True');
    await scene.calm();
    expect(await scene.condition('a', 'ResourceSetsOverlap')).to.equal(undefined);
  });

  it('the framework reports sets that handle the same object by a condition and an Event, reconciles nothing, and does not retry', async () => {
    const scene = await open();
    scene.run({ resourceRouter: routerOf(scene, both) });
    await scene.create('a', { spec: { version: 'both' } });
    const status = async () => (await scene.condition('a', 'ResourceSetsOverlap'))?.status;
    await scene.until(async () => (await status()) === 'True');
    const { message } = (await scene.condition('a', 'ResourceSetsOverlap')) ?? {};
    expect(message).to.equal(
      'shop: several resource sets handle it: v1, v2; nothing is reconciled',
    );
    await scene.calm();
    const tries = scene.events.length;
    await scene.pass(scene.target.real ? 1_000 : 60_000);
    expect(scene.events).to.have.length(tries);
    expect(scene.recorded()[0]).to.match(
      /^Warning ResourceSetsOverlap: .*several resource sets handle it: v1, v2/,
    );
    expect(scene.calls).to.deep.equal([]);
    await scene.edit('a', { spec: { version: 'v1' } });
    await scene.until(() => scene.calls.includes('v1-r2 created a'));
    expect(await status()).to.equal('False');
    expect(await scene.condition('a', 'Paused')).to.equal(undefined);
  });

  it('the framework reports sets that handle the same object without overwriting the report of another framework again and again', async () => {
    const scene = await open();
    for (const name of ['one', 'two']) {
      scene.run({ name, readyCondition: false, resourceRouter: routerOf(scene, both) });
    }
    // A framework without an overlap does not clear the condition of the others, either.
    scene.run({ name: 'three', readyCondition: false, resources: [scene.resource('three')] });
    await scene.create('a', { spec: { version: 'both' } });
    await scene.until(async () => {
      const told = await scene.condition('a', 'ResourceSetsOverlap');
      const isGoing = scene.calls.includes('three created a');
      return told?.status === 'True' && scene.events.length > 1 && isGoing;
    });
    await scene.calm();
    const { resourceVersion } = (await scene.get('a')).metadata;
    await scene.annotate('a', { touched: 'yes' });
    await scene.calm();
    const conditions = (await scene.get('a')).status?.conditions ?? [];
    expect(conditions.map(({ status }) => status)).to.deep.equal(['True']);
    expect(Number((await scene.get('a')).metadata.resourceVersion)).to.be.above(
      Number(resourceVersion),
    );
    const writes = (await scene.requests()).filter(({ verb }) => verb === 'patch');
    // The writes are the condition, by one of the frameworks, a finalizer, and late writes.
    expect(writes.length).to.be.within(2, 5);
    await scene.edit('a', { spec: { version: 'v1' } });
    await scene.until(async () => {
      return (await scene.condition('a', 'ResourceSetsOverlap'))?.status === 'False';
    });
  });

  it('the framework names the set whose function handles throws', async () => {
    const scene = await open();
    const resources = [scene.resource('r1')];
    const handles = (object: Gadget): boolean => object.spec?.size?.includes('large') as boolean;
    const resourceSets = [new ResourceSet<Gadget>({ name: 'large', handles, resources })];
    scene.run({ resourceRouter: new ResourceRouter({ resourceSets }) });
    await scene.create('a', { spec: {} });
    await scene.until(() => scene.events.length > 0);
    expect(scene.recorded()[0]).to.match(
      /^Warning ReconcileFailed: .*set large, handles: want a boolean/,
    );
    await scene.edit('a', { spec: { size: 'very large' } });
    await scene.until(() => scene.calls.includes('r1 created a'));
  });
}
