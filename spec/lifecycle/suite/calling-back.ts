import { expect } from 'chai';
import type { CallbackArguments } from '../../../lib/lifecycle/index.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { ApiError } from '../../../lib/object/api-error.js';
import { configMap, deployment, system } from './system.js';
import type { Config, OpenStage, Stage } from './stage.js';

const Deployment = { apiVersion: 'apps/v1', kind: 'Deployment' };

/** Declares what callbacks receive, and the results of their changes. */
export function callingBackSuite(open: OpenStage): void {
  it('the reconciler runs the callbacks before and after each step in this order', async () => {
    const stage = await open();
    const calls = noteCalls(stage);
    stage.resources = () => [configMap(stage.namespace, 'old'), deployment(stage.namespace)];
    await stage.pass('1.0.0');
    expect(calls.splice(0)).to.deep.equal([
      ...['PRE_CREATE desired', 'POST_CREATE desired current'].map(of('ConfigMap old')),
      ...['PRE_CREATE desired', 'POST_CREATE desired current'].map(of('Deployment web')),
    ]);
    await stage.rolledOut();
    await stage.pass('1.0.0');
    expect(calls.splice(0)).to.deep.equal(
      ['ConfigMap old', 'Deployment web'].map((name) => `POST_READ desired current ${name}`),
    );
    stage.resources = () => [deployment(stage.namespace, { image: 'nginx:2' })];
    await stage.pass('1.0.0');
    expect(calls.splice(0)).to.deep.equal([
      ...['POST_READ', 'PRE_UPDATE', 'POST_UPDATE']
        .map((state) => `${state} desired current`)
        .map(of('Deployment web')),
    ]);
    await stage.rolledOut();
    await stage.pass('1.0.0');
    expect(calls).to.deep.equal([
      'POST_READ desired current Deployment web',
      'PRE_DELETE current ConfigMap old',
      'POST_DELETE current ConfigMap old',
    ]);
  });

  for (const [state, reason] of [
    ['POST_CREATE', 'CreateResourceFailed'],
    ['POST_UPDATE', 'UpdateResourceFailed'],
    ['POST_DELETE', 'DeleteResourceFailed'],
  ] as const) {
    it(`the reconciler calls ${state} again until it succeeds, without repeating the write`, async () => {
      const stage = await open();
      const { namespace } = stage;
      stage.resources = () => [configMap(namespace), deployment(namespace)];
      if (state !== 'POST_CREATE') await stage.deploy('1.0.0');
      // The callback fails twice for each object: two objects are created, but only one is updated or deleted.
      let [failures, calls] = [state === 'POST_CREATE' ? 4 : 2, 0];
      stage.dispatcher.addCallback(null, (told) => {
        if (told.state !== state) return;
        calls++;
        if (failures-- > 0) throw new Error('registry is away');
      });
      if (state === 'POST_UPDATE')
        stage.resources = () => [deployment(namespace, { image: 'b:2' })];
      if (state === 'POST_DELETE') stage.resources = () => [deployment(namespace)];
      await stage.target.eventually(async () => {
        const seen = await stage.pass('1.0.0');
        if (failures >= 0) {
          expect(seen.error).to.match(/registry is away/);
          const failed = seen.events.filter((event) => event.includes('Failed'));
          for (const event of failed) expect(event).to.match(new RegExp(`^${reason} `));
        }
        expect(failures).to.be.below(0);
        expect(seen.error).to.equal(undefined);
      });
      const expected = state === 'POST_CREATE' ? 6 : 3;
      expect(calls).to.equal(expected);
      await stage.deploy('1.0.0');
      expect(calls).to.equal(expected);
    });
  }

  it('the reconciler calls POST_DELETE again for each object, although the call for another object keeps failing', async () => {
    const stage = await open();
    const { namespace } = stage;
    stage.resources = () => [configMap(namespace, 'a'), configMap(namespace, 'b')];
    await stage.deploy('1.0.0');
    const failing = new Set(['a', 'b']);
    const succeeded: string[] = [];
    stage.dispatcher.addCallback(null, ({ state, current }) => {
      const { name = '' } = current?.metadata ?? {};
      if (state !== 'POST_DELETE') return;
      if (failing.has(name)) throw new Error('registry is away');
      succeeded.push(name);
    });
    stage.resources = () => [];
    await stage.target.eventually(async () => {
      await stage.pass('1.0.0');
      expect(await stage.isGone('ConfigMap', 'b')).to.equal(true);
    });
    failing.delete('b');
    const { events } = await stage.pass('1.0.0');
    expect(succeeded).to.deep.equal(['b']);
    expect(events.filter((event) => event.includes('Failed'))).to.deep.equal([
      'DeleteResourceFailed ConfigMap a',
    ]);
    const { conditions = [] } = await stage.status();
    const what = `ConfigMap ${namespace}/a`;
    expect(conditions.find(({ type }) => type === 'Degraded')?.message).to.equal(
      `requested the deletion of ${what}, then callback POST_DELETE of ${what}: registry is away`,
    );
    failing.clear();
    expect((await stage.pass('1.0.0')).conditions).to.equal('T/F/F DeployCompleted');
    expect(succeeded).to.deep.equal(['b', 'a']);
  });

  it('the reconciler calls POST_DELETE again after it throws a Conflict, without reporting the error', async () => {
    const stage = await open();
    const { namespace } = stage;
    stage.resources = () => [configMap(namespace)];
    await stage.deploy('1.0.0');
    let conflicts = 2;
    stage.dispatcher.addCallback(null, ({ state }) => {
      if (state !== 'POST_DELETE' || conflicts-- <= 0) return;
      throw new ApiError(
        { code: 409, reason: 'Conflict' },
        { verb: 'update', kind: 'Bucket', status: 409 },
      );
    });
    stage.resources = () => [];
    const events: string[] = [];
    await stage.target.eventually(async () => {
      events.push(...(await stage.pass('1.0.0')).events);
      expect(conflicts).to.be.below(0);
    });
    expect(events).to.deep.equal(['DeleteResourceSuccess ConfigMap settings']);
  });

  it('the reconciler passes every argument that a callback needs', async () => {
    const stage = await open();
    const all: CallbackArguments<Config>[] = [];
    stage.dispatcher.addCallback(Deployment, (told) => void all.push(told));
    await stage.pass('1.0.0');
    const [told] = all;
    expect(Object.keys(told ?? {}).sort()).to.deep.equal(
      'client cr current desired logger namespace recorder signal state'.split(' '),
    );
    expect(told).to.include({
      state: 'PRE_CREATE',
      namespace: stage.namespace,
      current: undefined,
    });
    expect(told?.cr.metadata.name).to.equal(stage.key.name);
    expect(told?.signal.aborted).to.equal(false);
    expect(all[1]?.current?.metadata.uid).to.be.a('string');
  });

  it('the reconciler creates the object with the changes of PRE_CREATE', async () => {
    const stage = await open();
    stage.dispatcher.addCallback(Deployment, ({ state, desired }) => {
      if (state === 'PRE_CREATE') annotate(desired, 'made');
    });
    await stage.pass('1.0.0');
    expect((await stage.get('Deployment', 'web')).metadata.annotations).to.include({ by: 'made' });
    await stage.rolledOut();
    expect((await stage.pass('1.0.0')).events).to.deep.equal(['DeployCompleted']);
    expect((await stage.get('Deployment', 'web')).metadata.annotations).to.include({ by: 'made' });
  });

  it('the reconciler writes the changes of POST_READ to the live object, once', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    stage.dispatcher.addCallback(Deployment, ({ state, current }) => {
      if (state === 'POST_READ') annotate(current, 'read');
    });
    expect((await stage.pass('1.0.0')).events).to.deep.equal([
      'UpdateResourceSuccess Deployment web',
    ]);
    expect((await stage.get('Deployment', 'web')).metadata.annotations).to.include({ by: 'read' });
    expect((await stage.pass('1.0.0')).events).to.deep.equal([]);
  });

  it('the reconciler writes the changes of PRE_UPDATE, and calls it only before a write', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    stage.dispatcher.addCallback(Deployment, ({ state, current }) => {
      if (state === 'PRE_UPDATE') annotate(current, 'updated');
    });
    await stage.pass('1.0.0');
    expect((await stage.get('Deployment', 'web')).metadata.annotations).to.not.have.property('by');
    stage.resources = () => system(stage.namespace, { image: 'nginx:2' });
    await stage.pass('1.0.0');
    expect((await stage.get('Deployment', 'web')).metadata.annotations).to.include({
      by: 'updated',
    });
  });

  it('the reconciler neither writes nor records an Event when PRE_UPDATE reverts all changes', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    stage.dispatcher.addCallback(Deployment, ({ state, current }) => {
      if (state !== 'PRE_UPDATE' || current === undefined) return;
      const live = current as object as { readonly spec: { readonly template: Template } };
      live.spec.template.spec.containers[0].image = 'nginx:1';
    });
    stage.resources = () => system(stage.namespace, { image: 'nginx:2' });
    await stage.operator.requests();
    expect((await stage.pass('1.0.0')).events).to.deep.equal([]);
    expect(await stage.writes()).to.deep.equal([]);
  });

  it('the reconciler keeps changes of callbacks out of the desired objects and the cache', async () => {
    const stage = await open();
    const wanted = system(stage.namespace);
    stage.resources = () => wanted;
    stage.dispatcher.addCallback(null, ({ desired, current }) => {
      for (const object of [desired, current]) if (object) annotate(object, 'changed');
    });
    const before = structuredClone(wanted);
    await stage.deploy('1.0.0');
    expect(wanted).to.deep.equal(before);
  });

  for (const state of ['PRE_CREATE', 'POST_CREATE', 'POST_READ', 'PRE_UPDATE', 'POST_UPDATE']) {
    it(`the reconciler fails when ${state} throws, reports the original error in a condition and an event, and recovers`, async () => {
      const stage = await open();
      const failure = new Error('no quota');
      let isBroken = true;
      stage.dispatcher.addCallback(Deployment, (told) => {
        if (told.state === state && isBroken) throw failure;
      });
      if (/UPDATE|READ/.test(state)) {
        isBroken = false;
        await stage.deploy('1.0.0');
        isBroken = true;
        stage.resources = () => system(stage.namespace, { image: 'nginx:2' });
      }
      const thrown = await stage.reconciler
        .reconcile({ key: stage.key }, '1.1.0')
        .catch((error: unknown) => error);
      expect(thrown).to.equal(failure);
      const { conditions = [] } = await stage.status();
      const degraded = conditions.find(({ type }) => type === 'Degraded');
      expect(degraded).to.include({ status: 'True', reason: 'ReconcileFailed' });
      expect(degraded?.message)
        .to.include(`callback ${state} of Deployment`)
        .and.include('no quota');
      const notes = stage.events.filter(({ type }) => type === 'Warning').map(({ note }) => note);
      expect(notes).to.deep.equal([degraded?.message]);
      stage.events.splice(0);
      isBroken = false;
      await stage.deploy('1.1.0');
    });
  }

  it('the reconciler refuses a PRE_CREATE callback that changes which object is created, and names the changed fields', async () => {
    const stage = await open();
    stage.dispatcher.addCallback(Deployment, ({ state, desired }) => {
      if (state === 'PRE_CREATE') Object.assign(desired?.metadata ?? {}, { name: 'other' });
    });
    const { error, events } = await stage.pass('1.0.0');
    expect(error)
      .to.include(`callback PRE_CREATE of Deployment ${stage.namespace}/web changed`)
      .and.include('metadata.name from "web" to "other"');
    expect(events).to.include('CreateResourceFailed Deployment web');
    expect(await stage.isGone('Deployment', 'other')).to.equal(true);
  });

  it('the reconciler refuses a PRE_UPDATE callback that changes which object is updated, and updates the other objects', async () => {
    const stage = await open();
    await stage.deploy('1.0.0');
    stage.dispatcher.addCallback(Deployment, ({ state, current }) => {
      if (state === 'PRE_UPDATE') Object.assign(current?.metadata ?? {}, { namespace: 'other' });
    });
    stage.resources = () => {
      const labels = { tier: 'front' };
      return system(stage.namespace, { image: 'nginx:2' }).map((object) =>
        object.kind === 'Deployment'
          ? object
          : { ...object, metadata: { ...object.metadata, labels } },
      );
    };
    const { error } = await stage.pass('1.0.0');
    const change = `metadata.namespace from "${stage.namespace}" to "other"`;
    expect(error).to.include(`changed ${change}`);
    expect((await stage.get('Service', 'web')).metadata.labels).to.include({ tier: 'front' });
  });

  it('the reconciler refuses a PRE_CREATE callback that removes the metadata', async () => {
    const stage = await open();
    stage.dispatcher.addCallback(Deployment, ({ state, desired }) => {
      if (state === 'PRE_CREATE') Reflect.deleteProperty(desired ?? {}, 'metadata');
    });
    expect((await stage.pass('1.0.0')).error).to.include('metadata.name from "web" to nothing');
  });

  it('the reconciler names each object for which a callback throws the same error', async () => {
    const stage = await open();
    const failure = new Error('no quota');
    stage.dispatcher.addCallback(null, ({ state }) => {
      if (state === 'PRE_CREATE') throw failure;
    });
    await stage.pass('1.0.0');
    const { conditions = [] } = await stage.status();
    const failed = ['ServiceAccount', 'Deployment', 'Service'].map((kind) => {
      const name = `${kind} ${stage.namespace}/web`;
      return `could not create ${name}: callback PRE_CREATE of ${name}: no quota`;
    });
    expect(conditions.find(({ type }) => type === 'Degraded')?.message).to.equal(failed.join('; '));
  });

  it('the reconciler aborts the signal of a callback that hangs, and fails the reconcile', async () => {
    const stage = await open({ callbackTimeoutMs: 200 });
    const aborted: boolean[] = [];
    stage.dispatcher.addCallback(Deployment, async ({ signal }) => {
      await new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => {
          aborted.push(signal.aborted);
          resolve();
        }),
      );
      await new Promise(() => undefined);
    });
    const passing = stage.pass('1.0.0');
    const { clock } = stage.target;
    const isOver = passing.then(() => true);
    while (clock instanceof VirtualClock && !(await Promise.race([isOver, tick(clock)])));
    const { error, events } = await passing;
    expect(error).to.match(/^callback PRE_CREATE of Deployment .*web did not end within 0.2 s$/);
    expect(events).to.include('CreateResourceFailed Deployment web');
    expect(events).to.include('CreateResourceSuccess Service web');
    expect(aborted).to.deep.equal([true]);
    const { conditions = [] } = await stage.status();
    const name = `Deployment ${stage.namespace}/web`;
    expect(conditions.find(({ type }) => type === 'Degraded')?.message).to.equal(
      `could not create ${name}: callback PRE_CREATE of ${name} did not end within 0.2 s`,
    );
  });
}

async function tick(clock: VirtualClock): Promise<boolean> {
  await clock.advance(50);
  return false;
}

interface Template {
  readonly spec: { readonly containers: readonly [{ image: string }] };
}

function annotate(object: object | undefined, by: string): void {
  const { metadata } = object as UnstructuredObject;
  metadata.annotations = { ...metadata.annotations, by };
}

function noteCalls(stage: Stage): string[] {
  const calls: string[] = [];
  stage.dispatcher.addCallback(null, ({ state, desired, current }) => {
    const object = desired ?? current;
    const which = [desired && 'desired', current && 'current'].filter(Boolean).join(' ');
    calls.push(`${state} ${which} ${object?.kind ?? ''} ${object?.metadata.name ?? ''}`);
  });
  return calls;
}

function of(name: string): (call: string) => string {
  return (call) => `${call} ${name}`;
}
