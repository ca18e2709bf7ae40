import { expect } from 'chai';
import { TerminalError } from '../../../../lib/controller/index.js';
import { Deployment } from '../../../../lib/object/kinds.js';
import { rolloutStatus } from '../../../../lib/object/rollout-status.js';
import { ResourceRouter, ResourceSet, objectsResource } from '../../../../lib/resource/index.js';
import type { ResourceContext } from '../../../../lib/resource/index.js';
import { OperatorError } from '../../../../lib/system/operator-error.js';
import type { Gadget } from './gadget.js';
import { typeOf } from './gadget.js';
import { finalizersOf } from './scene.js';
import type { OpenScene, Scene } from './scene.js';

const ours = 'operator-builder.io/shop';

/** Declares the condition `Ready` that a framework writes, and the wait for workloads. */
export function readinessSuite(open: OpenScene): void {
  it('the framework writes Ready once, with observedGeneration, when the chain has ended', async () => {
    const scene = await open();
    scene.run({ resyncPeriodMs: 400 });
    await scene.create('a');
    await expectReady(scene, { status: 'True', reason: 'Reconciled', observedGeneration: 1 });
    await scene.edit('a', { spec: { size: 'large' } });
    await expectReady(scene, { status: 'True', reason: 'Reconciled', observedGeneration: 2 });
    expect((await scene.get('a')).status).to.include({ observedGeneration: 2 });
    await scene.calm();
    await scene.requests();
    const before = scene.calls.length;
    await scene.until(() => scene.calls.length > before + 2);
    expect(await scene.requests()).to.deep.equal([]);
  });

  it('the framework names the failed resource and step in Ready, and sets Ready to True when the resource succeeds', async () => {
    const scene = await open();
    let isBroken = true;
    const r2 = scene.resource('r2', {
      created: () => {
        if (isBroken) throw new Error('no quota is left');
      },
    });
    scene.run({ resources: [scene.resource('r1'), r2] });
    await scene.create('a');
    const message = 'set all, resource r2, ensureCreated: no quota is left';
    await expectReady(scene, { status: 'False', reason: 'ReconcileFailed', message });
    isBroken = false;
    await expectReady(scene, { status: 'True' });
  });

  it('the framework shows in Ready the step that timed out, until a reconcile succeeds, even in a deletion', async () => {
    const scene = await open();
    let hangs = false;
    const act = async ({ signal }: ResourceContext): Promise<void> => {
      if (hangs) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      signal.throwIfAborted();
    };
    const resources = [scene.resource('r1', { created: act, deleted: act })];
    scene.run({ resources, controller: { reconcileTimeoutMs: 300 } });
    await scene.create('a');
    await expectReady(scene, { status: 'True', observedGeneration: 1 });
    hangs = true;
    await scene.edit('a', { spec: { size: 'large' } });
    const key = `${scene.namespace}/a`;
    const message = `set all, resource r1, ensureCreated: reconcile of ${key}: not over after 300 ms (reconcileTimeoutMs)`;
    const observedGeneration = 2;
    await expectReady(scene, {
      ...{ status: 'False', reason: 'ReconcileFailed', message, observedGeneration },
    });
    hangs = false;
    await expectReady(scene, { status: 'True', observedGeneration });
    hangs = true;
    await scene.delete('a');
    await expectReady(scene, { status: 'False', reason: 'DeletionFailed' });
    hangs = false;
    await scene.until(() => scene.isGone('a'));
  });

  it('the framework shows the time-out of a resource that ignores its signal until its call ends', async () => {
    const scene = await open();
    let go: (() => void) | undefined;
    const act = (): Promise<void> | undefined =>
      go === undefined ? new Promise<void>((resolve) => (go = resolve)) : undefined;
    const r1 = scene.resource('r1', { created: act });
    scene.run({ resources: [r1], controller: { reconcileTimeoutMs: 300 } });
    await scene.create('a');
    await expectReady(scene, { status: 'False', reason: 'ReconcileFailed', observedGeneration: 1 });
    expect((await scene.condition('a', 'Ready'))?.message).to.match(
      /^set all, resource r1, ensureCreated has not ended after \d+ ms$/,
    );
    expect(scene.calls.filter((call) => call === 'r1 created a')).to.have.length(1);
    go?.();
    await expectReady(scene, { status: 'True', observedGeneration: 1 });
  });

  it('the framework writes a message that differs in each reconcile at most once every few seconds', async () => {
    const scene = await open();
    let tries = 0;
    const r1 = scene.resource('r1', {
      created: (context) => {
        context.notReady(`${++tries} of many`);
        context.requeueAfter(20);
      },
    });
    scene.run({ resources: [r1] });
    await scene.create('a');
    await expectReady(scene, { status: 'False', reason: 'Waiting' });
    await scene.requests();
    const before = tries;
    await scene.until(() => tries > before + 20);
    expect((await scene.requests()).length).to.be.below(3);
  });

  it('the framework shows the message of another terminal error soon, although the generation is the same', async () => {
    const scene = await open();
    const r1 = scene.resource('r1', {
      created: (_context, { metadata }) => {
        throw new TerminalError(metadata.annotations?.['why'] ?? 'no machine is that large');
      },
    });
    scene.run({ resources: [r1], resyncPeriodMs: Infinity });
    await scene.create('a');
    await expectReady(scene, { status: 'False', reason: 'ReconcileFailed' });
    await scene.annotate('a', { why: 'no machine is left' });
    await scene.until(async () => {
      const { message = '' } = (await scene.condition('a', 'Ready')) ?? {};
      return message.endsWith('no machine is left');
    }, 400);
  });

  it('the framework does not overwrite a Ready condition that a resource writes, and logs once which option prevents the conflict', async () => {
    const scene = await open();
    const r1 = scene.resource('r1', { created: writeOwnReady });
    scene.run({ resources: [r1] });
    await scene.create('a');
    await scene.until(() => scene.lines.some((line) => line.includes('readyCondition')));
    await expectReady(scene, { reason: 'Own' });
    await scene.calm();
    expect((await scene.condition('a', 'Ready'))?.reason).to.equal('Own');
    expect(scene.lines.filter((line) => line.includes('readyCondition'))).to.have.length(1);
  });

  it('the framework writes the condition that the option readyCondition names, or no condition if it is false', async () => {
    const scene = await open();
    scene.run({ readyCondition: 'Reconciled' });
    scene.run({ name: 'second', readyCondition: false, resources: [scene.resource('s1')] });
    await scene.create('a');
    await scene.until(() => scene.calls.includes('s1 created a'));
    await scene.until(async () => (await scene.condition('a', 'Reconciled'))?.status === 'True');
    await scene.calm();
    expect(await scene.condition('a', 'Ready')).to.equal(undefined);
  });

  it('the framework keeps the finalizer while initContext throws in a deletion, reports the error, and retries', async () => {
    const scene = await open();
    let isBroken = false;
    let tries = 0;
    const set = new ResourceSet<Gadget>({
      ...{ name: 'all', handles: () => true, resources: [scene.resource('r1')] },
      initContext: () => {
        tries++;
        if (isBroken) throw new OperatorError('InvalidConfig', 'no credentials of the cloud');
      },
    });
    scene.run({ resourceRouter: new ResourceRouter({ resourceSets: [set] }) });
    await scene.create('a');
    await expectReady(scene, { status: 'True' });
    isBroken = true;
    await scene.delete('a');
    const note = 'set all, initContext: no credentials of the cloud';
    const message = `the deletion waits and ${ours} stays, since it failed: ${note}`;
    await expectReady(scene, { status: 'False', reason: 'DeletionFailed', message });
    const before = tries;
    await scene.until(() => tries > before + 1);
    expect(scene.recorded()).to.include(`Warning ResourceFailed: ${note}`);
    expect(finalizersOf(await scene.get('a'))).to.deep.equal([ours]);
    expect(scene.calls).not.to.include('r1 deleted a');
    isBroken = false;
    await scene.until(() => scene.isGone('a'));
    expect(scene.calls.filter((call) => call === 'r1 deleted a')).to.have.length(1);
  });

  it('the framework keeps the finalizer while handles throws in a deletion, reports the error, and retries', async () => {
    const scene = await open();
    let isBroken = false;
    const handles = (): boolean => {
      if (isBroken) throw new Error('no such version');
      return true;
    };
    const set = new ResourceSet<Gadget>({
      name: 'all',
      handles,
      resources: [scene.resource('r1')],
    });
    scene.run({ resourceRouter: new ResourceRouter({ resourceSets: [set] }) });
    await scene.create('a');
    await expectReady(scene, { status: 'True' });
    isBroken = true;
    await scene.delete('a');
    await expectReady(scene, { status: 'False', reason: 'DeletionFailed' });
    expect((await scene.condition('a', 'Ready'))?.message).to.match(/set all, handles: no such/);
    expect(scene.recorded().join()).to.match(/Warning ReconcileFailed: .*no such version/);
    expect(finalizersOf(await scene.get('a'))).to.deep.equal([ours]);
    isBroken = false;
    await scene.until(() => scene.isGone('a'));
  });

  it('the framework names the objects that a deletion waits for', async () => {
    const scene = await open();
    let isOver = false;
    const r1 = scene.resource('r1', {
      deleted: (context) => {
        if (!isOver) context.keepFinalizers('the dump goes on');
      },
    });
    scene.run({ resources: [r1] });
    await scene.create('a');
    await expectReady(scene, { status: 'True' });
    await scene.delete('a');
    const message = 'the deletion waits for r1 (the dump goes on)';
    await expectReady(scene, { status: 'False', reason: 'Deleting', message });
    isOver = true;
    await scene.until(() => scene.isGone('a'));
  });

  it('the framework soon names another resource that a deletion waits for, although the retry comes much later', async () => {
    const scene = await open();
    const held = new Set(['r1', 'r2']);
    const [r1, r2] = ['r1', 'r2'].map((name) =>
      scene.resource(name, {
        deleted: (context) => {
          if (held.has(name)) context.cancelReconciliation(`${name} is in use`);
        },
      }),
    );
    scene.run({ resources: [r1, r2] as never, keptFinalizerRetryMs: 3_600_000 });
    await scene.create('a');
    await expectReady(scene, { status: 'True' });
    await scene.delete('a');
    await expectReady(scene, { status: 'False', reason: 'Deleting' });
    held.delete('r2');
    await scene.annotate('a', { changed: 'true' });
    await scene.until(async () => {
      const { message = '' } = (await scene.condition('a', 'Ready')) ?? {};
      return message.endsWith('r1 (r1 is in use)');
    }, 400);
    held.delete('r1');
    await scene.annotate('a', { changed: 'again' });
    await scene.until(() => scene.isGone('a'));
  });

  it('the framework starts later resources when the workloads of an earlier one have rolled out, with waitUntilReady', async () => {
    const scene = await open();
    const database = objectsResource<Gadget, typeof Deployment>({
      ...{ name: 'database', types: [Deployment], waitUntilReady: true },
      getDesiredState: () => [deploymentIn(scene.namespace)],
    });
    const states: boolean[] = [];
    const web = scene.resource('web', {
      created: async () => {
        const key = { namespace: scene.namespace, name: 'db' };
        states.push(rolloutStatus(await scene.admin.get(Deployment, key)).complete);
      },
    });
    scene.run({
      resources: [database, web],
      configure: (controller) => controller.owns(Deployment),
      resyncPeriodMs: Infinity,
    });
    await scene.create('a');
    await expectReady(scene, { status: 'True', reason: 'Reconciled' });
    expect(states[0]).to.equal(true);
    const place = `Deployment ${scene.namespace}/db`;
    expect(scene.lines.join('\n'))
      .to.include(`info: waits for database (${place}: `)
      .and.match(/; not started: web$/m);
  });
}

/** Waits until the condition `Ready` of the object `a` has these fields. */
function expectReady(scene: Scene, fields: object): Promise<void> {
  return scene.until(async () => {
    expect(await scene.condition('a', 'Ready')).to.include(fields);
  });
}

async function writeOwnReady(
  { client }: ResourceContext,
  { metadata, status }: Gadget,
): Promise<void> {
  const [own] = status?.conditions ?? [];
  if (own?.reason === 'Own') return;
  const { namespace = '', name = '' } = metadata;
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const ready = { type: 'Ready', status: 'True', reason: 'Own', message: '', lastTransitionTime };
  const patch = { type: 'merge', body: { status: { conditions: [ready] } } } as const;
  await client.patch(typeOf('Gadget'), { namespace, name }, patch, { subresource: 'status' });
}

function deploymentIn(namespace: string): Deployment {
  const labels = { app: 'db' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'db' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'db', image: 'registry.example/db:1' }] },
      },
    },
  };
}
