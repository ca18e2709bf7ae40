import { expect } from 'chai';
import { Event } from '../../../../lib/object/kinds.js';
import { forwarding } from '../../../../lib/client/index.js';
import type { Client } from '../../../../lib/client/index.js';
import {
  CrudResource,
  ResourceRouter,
  ResourceSet,
  contextKey,
} from '../../../../lib/resource/index.js';
import type { Patch } from '../../../../lib/resource/index.js';
import { TerminalError } from '../../../../lib/controller/result.js';
import type { Gadget } from './gadget.js';
import { finalizersOf } from './scene.js';
import type { OpenScene } from './scene.js';

/** Declares the cost and reports of reconciles, and their sequence. */
export function passesSuite(open: OpenScene): void {
  it('the framework sends no request when nothing changes', async () => {
    const scene = await open();
    scene.run({ resyncPeriodMs: 500 });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('r1 created a'));
    await scene.calm();
    await scene.requests();
    const before = scene.calls.length;
    await scene.annotate('a', { touched: 'yes' });
    await scene.until(() => scene.calls.length > before + 2);
    expect(await scene.requests()).to.deep.equal([]);
  });

  it('the framework reconciles every object again after the resync period, which varies by up to 10%', async () => {
    const scene = await open();
    const at: number[] = [];
    const r1 = scene.resource('r1', {
      created: ({ clock }) => void at.push(clock.monotonicMs()),
    });
    scene.run({ resources: [r1], resyncPeriodMs: 400 });
    await scene.create('a');
    // The watch may cause the first reconciles, because it delivers the added finalizer.
    await scene.until(() => at.length > 6);
    const waits = at.slice(3).map((ms, index) => ms - (at[index + 2] ?? 0));
    for (const ms of waits) expect(ms).to.be.within(359, scene.target.real ? 2_000 : 441);
  });

  it('the framework reconciles an object again when a resource requests it before the resync', async () => {
    const scene = await open();
    const r1 = scene.resource('r1', { created: (context) => context.requeueAfter(100) });
    scene.run({ resources: [r1], resyncPeriodMs: Infinity });
    await scene.create('a');
    await scene.until(() => scene.calls.length > 5);
  });

  it('the framework reconciles an object after the resync period although a resource requests a later time', async () => {
    const scene = await open();
    const r1 = scene.resource('r1', { created: (context) => context.requeueAfter(3_600_000) });
    scene.run({ resources: [r1], resyncPeriodMs: 300 });
    await scene.create('a');
    await scene.until(() => scene.calls.length > 5);
  });

  it('the framework keeps a status that a resource writes, and passes values from initContext to resources', async () => {
    const scene = await open();
    const size = contextKey<string>('size');
    const r1 = scene.resource('r1', {
      created: async (context, object) => {
        const { metadata, apiVersion, kind, status } = object;
        const { namespace = '', name = '' } = metadata;
        const now = context.need(size);
        if (status?.size === now) return;
        const patch = { type: 'merge', body: { status: { size: now } } } as const;
        const key = { namespace, name };
        await context.client.patch({ apiVersion, kind }, key, patch, { subresource: 'status' });
      },
    });
    const set = new ResourceSet<Gadget>({
      ...{ name: 'v1', handles: () => true, resources: [r1] },
      initContext: (context, object) => context.set(size, object.spec?.size ?? 'none'),
    });
    scene.run({ resourceRouter: new ResourceRouter({ resourceSets: [set] }) });
    await scene.create('a', { spec: { size: 'large' } });
    await scene.until(async () => (await scene.get('a')).status?.size === 'large');
    await scene.calm();
    expect((await scene.get('a')).status?.size).to.equal('large');
    expect(finalizersOf(await scene.get('a'))).to.deep.equal(['operator-builder.io/shop']);
    expect(scene.recorded()).to.deep.equal([]);
  });

  it('the framework reports once that the resource chain was canceled, and why', async () => {
    const scene = await open();
    let isReady = false;
    const r1 = scene.resource('r1', {
      created: (context) => {
        if (!isReady) context.cancelReconciliation('the network is not there');
        context.requeueAfter(100);
      },
    });
    scene.run({ resources: [r1, scene.resource('r2')] });
    await scene.create('a');
    await scene.until(() => scene.calls.length > 3);
    const note = 'the chain ended early: r1 (the network is not there)';
    expect(scene.recorded()).to.deep.equal([`Normal ReconciliationCanceled: ${note}`]);
    expect(scene.calls).not.to.include('r2 created a');
    isReady = true;
    await scene.until(() => scene.calls.includes('r2 created a'));
  });

  it('the framework ends the chain at the first error, names set, resource, step and object in it, and retries', async () => {
    const scene = await open();
    let isBroken = true;
    const r2 = scene.resource('r2', {
      created: () => {
        if (isBroken) throw new TypeError('size is not a number');
      },
    });
    scene.run({ resources: [scene.resource('r1'), r2, scene.resource('r3')] });
    await scene.create('a');
    await scene.create('b', {
      metadata: { annotations: { 'operator-builder.io/paused': 'true' } },
    });
    await scene.until(() => scene.calls.filter((call) => call === 'r2 created a').length > 3);
    expect(scene.calls).not.to.include('r3 created a');
    const note = 'set all, resource r2, ensureCreated: size is not a number';
    expect(scene.recorded()).to.include(`Warning ResourceFailed: ${note}`);
    expect(scene.lines.join('\n')).to.include(`Gadget ${scene.namespace}/a: ${note}`);
    isBroken = false;
    await scene.until(() => scene.calls.includes('r3 created a'));
  });

  it('the framework names the step that returned a malformed patch, and applies nothing', async () => {
    const scene = await open();
    const noted = (step: string) => (): void => void scene.calls.push(step);
    const operations = {
      name: 'env',
      ...{ getCurrentState: () => 1, getDesiredState: () => 2, newDeletePatch: () => undefined },
      newUpdatePatch: () => ({ create: ['a'] }) as unknown as Patch<string>,
      ...{ applyCreateChange: noted('create'), applyDeleteChange: noted('delete') },
      applyUpdateChange: noted('update'),
    };
    scene.run({ resources: [new CrudResource<Gadget, number, string>({ operations })] });
    await scene.create('a');
    await scene.until(() => scene.events.length > 0);
    expect(scene.recorded()[0]).to.match(
      /^Warning ResourceFailed: set all, resource env, newUpdatePatch: want a Patch/,
    );
    expect(scene.calls).to.deep.equal([]);
  });

  it('the framework reports nothing for an object that is deleted before its finalizer is added', async () => {
    const scene = await open();
    const { client } = scene.operator;
    const slow: Client = {
      ...forwarding(client),
      patch: async (type, key, patch, options) => {
        if (key.name === 'a') await scene.delete('a').catch(() => undefined);
        return client.patch(type, key, patch, options);
      },
    };
    scene.run({ client: slow });
    await scene.create('a');
    await scene.create('b');
    await scene.until(() => scene.calls.includes('r1 created b'));
    await scene.until(() => scene.isGone('a'));
    await scene.calm();
    expect(scene.recorded()).to.deep.equal([]);
    expect(scene.lines.filter((line) => /^(warn|error)/.test(line))).to.deep.equal([]);
  });

  it('the framework retries a terminal error only after a change of the object', async () => {
    const scene = await open();
    const r1 = scene.resource('r1', {
      created: (_, { spec }) => {
        if (spec?.size === 'huge') throw new TerminalError('no machine is that large');
      },
    });
    scene.run({ resources: [r1] });
    await scene.create('a', { spec: { size: 'huge' } });
    await scene.until(() => scene.events.length > 0);
    await scene.calm();
    const before = scene.calls.length;
    await scene.pass(scene.target.real ? 1_000 : 60_000);
    expect(scene.calls).to.have.length(before);
    await scene.edit('a', { spec: { size: 'small' } });
    await scene.until(() => scene.calls.length > before);
  });

  it('the framework retries a terminal error after the resync period, since the server may accept the objects by then', async () => {
    const scene = await open();
    let tries = 0;
    const r1 = scene.resource('r1', {
      created: () => {
        if (++tries < 3) throw new TerminalError('the webhook refuses it');
      },
    });
    scene.run({ resources: [r1], resyncPeriodMs: 400 });
    await scene.create('a');
    await scene.until(async () => (await scene.condition('a', 'Ready'))?.status === 'True');
    expect(tries).to.be.at.least(3);
  });

  it('the framework retries a conflict in a step without a warning', async () => {
    const scene = await open();
    let [tries, isMeddled] = [0, false];
    const r1 = scene.resource('r1', {
      created: async (context, object) => {
        tries++;
        const { name = '' } = object.metadata;
        if (!isMeddled) await scene.annotate(name, { meanwhile: 'yes' });
        isMeddled = true;
        await context.client.update({ ...object, spec: { size: 'ours' } });
      },
    });
    scene.run({ resources: [r1] });
    await scene.create('a');
    await scene.until(async () => (await scene.get('a')).spec?.size === 'ours');
    expect(tries).to.be.above(1);
    expect(scene.recorded()).to.deep.equal([]);
    expect(scene.lines.filter((line) => /^(warn|error)/.test(line))).to.deep.equal([]);
  });

  it('the framework reconciles several objects in parallel, but never the same object twice at the same time', async () => {
    const scene = await open();
    const [active, most] = [new Set<string>(), { at: 0, twice: false }];
    const r1 = scene.resource('r1', {
      created: async (_, object) => {
        const { name = '' } = object.metadata;
        most.twice ||= active.has(name);
        active.add(name);
        most.at = Math.max(most.at, active.size);
        // The event of this change arrives while the reconcile runs.
        await scene.annotate(name, { touched: String(scene.calls.length) });
        await new Promise((resolve) => setImmediate(resolve));
        active.delete(name);
      },
    });
    scene.run({ resources: [r1], controller: { maxConcurrentReconciles: 3, hotLoop: false } });
    for (const name of ['a', 'b', 'c', 'd']) await scene.create(name);
    await scene.until(() => scene.calls.length > 30);
    expect(most.twice).to.equal(false);
    expect(most.at).to.be.within(2, 3);
  });

  it('the framework reconciles up to four objects in parallel by default', async () => {
    const scene = await open();
    const waiting: (() => void)[] = [];
    const r1 = scene.resource('r1', {
      created: () => new Promise<void>((resolve) => waiting.push(resolve)),
    });
    scene.run({ resources: [r1] });
    for (const name of ['a', 'b', 'c', 'd', 'e']) await scene.create(name);
    await scene.until(() => waiting.length === 4);
    await scene.calm();
    expect(waiting).to.have.length(4);
    waiting[0]?.();
    await scene.until(() => waiting.length > 4);
    for (const go of waiting) go();
  });

  it('the framework records Events that kubectl shows with the object', async () => {
    const scene = await open();
    const r1 = scene.resource('r1', {
      created: () => {
        throw new Error('the disk is full');
      },
    });
    scene.run({ resources: [r1], recorder: undefined });
    await scene.create('a');
    await scene.until(async () => {
      const { items } = await scene.admin.list(Event, { namespace: scene.namespace });
      return items.some(
        ({ type, reason, note, regarding }) =>
          [type, reason, regarding?.name].join(' ') === 'Warning ResourceFailed a' &&
          note === 'set all, resource r1, ensureCreated: the disk is full',
      );
    });
  });

  it('the framework reports the step in which a reconcile timed out, and continues with all objects', async () => {
    const scene = await open();
    let go: (() => void) | undefined;
    const r2 = scene.resource('r2', {
      created: (_, { metadata }) =>
        metadata.name === 'a' && go === undefined
          ? new Promise<void>((resolve) => (go = resolve))
          : undefined,
    });
    const resources = [scene.resource('r1'), r2, scene.resource('r3')];
    scene.run({ resources, controller: { reconcileTimeoutMs: 300, maxConcurrentReconciles: 1 } });
    await scene.create('a');
    await scene.until(() => scene.events.length > 0);
    expect(scene.recorded()[0]).to.match(
      /^Warning ResourceHangs: set all, resource r2, ensureCreated has not ended after \d+ ms$/,
    );
    expect(scene.lines.join('\n')).to.include('warn: set all, resource r2, ensureCreated has not');
    // The worker of the hanging reconcile is free again. Its object is not reconciled until that reconcile ends.
    await scene.create('b');
    await scene.until(() => scene.calls.includes('r2 created b'));
    expect(scene.calls.filter((call) => call === 'r2 created a')).to.have.length(1);
    go?.();
    await scene.until(() => scene.calls.includes('r3 created a'));
    // The reconcile that timed out did not continue. The call of r3 belongs to the next reconcile.
    const ofA = scene.calls.filter((call) => call.endsWith(' a'));
    expect(ofA.slice(0, 5)).to.deep.equal([
      ...['r1 created a', 'r2 created a', 'r1 created a', 'r2 created a', 'r3 created a'],
    ]);
    expect(scene.events.filter(({ reason }) => reason !== 'ResourceHangs')).to.deep.equal([]);
  });
}
