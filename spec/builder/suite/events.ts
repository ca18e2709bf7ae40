import { expect } from 'chai';
import { isReconcileFailed } from '../../../lib/apply/index.js';
import type { Builder } from '../../../lib/builder/index.js';
import { EventRecorder, OperatorEvents } from '../../../lib/events/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import type { Event } from '../../../lib/object/kinds.js';
import type { OperatorError } from '../../../lib/system/operator-error.js';
import type { OpenScene } from './builder-suite.js';
import { controllerName, newOwner, podSpec } from './scene.js';
import type { Scene } from './scene.js';

/** Specs about the events that a reconcile emits. */
export function eventsSuite(open: OpenScene): void {
  const chain = (scene: Scene, emitter: OperatorEvents, value: string): Builder =>
    scene
      .builder({ emitter })
      .configMap({ name: 'env', data: { A: value } })
      .deployment({ name: 'web', podSpec, rolloutOn: ['env'] });

  it('the builder emits an event with its cause for each write, rollout and prune', async () => {
    const scene = await open();
    const emitter = new OperatorEvents();
    const heard: string[] = [];
    for (const name of ['created', 'configured', 'deleted', 'pruned'] as const) {
      emitter.on(name, ({ ref, cause }) =>
        heard.push(`${name} ${ref.kind}/${ref.name} ${cause ?? ''}`.trim()),
      );
    }
    const rollouts: (string | undefined)[] = [];
    await scene.reconcileUntilDone(() => chain(scene, emitter, '1'));
    expect(heard).to.deep.equal(['created ConfigMap/env', 'created Deployment/web']);
    heard.length = 0;
    emitter.on('rollout', ({ ref, cause }) => rollouts.push(`${ref.name}: ${cause ?? ''}`));
    await chain(scene, emitter, '2').reconcile();
    const changed = `ConfigMap ${scene.namespace}/env changed`;
    expect(heard).to.deep.equal([
      'configured ConfigMap/env',
      `configured Deployment/web ${changed}`,
    ]);
    expect(rollouts).to.deep.equal([`web: ${changed}`]);
    heard.length = 0;
    await scene.builder({ emitter }).deployment({ name: 'web', podSpec }).reconcile();
    expect(heard).to.include('deleted ConfigMap/env no longer desired');
    expect(heard).to.include('pruned ConfigMap/env no longer desired');
  });

  it('the builder reports no changes in the event of an object that is created again', async () => {
    const scene = await open();
    const emitter = new OperatorEvents();
    const heard: unknown[] = [];
    for (const name of ['created', 'configured'] as const) {
      emitter.on(name, ({ cause, changes }) => heard.push([name, cause, changes.length]));
    }
    const own = scene.builder({ emitter }).configMap({ name: 'env', data: { A: '1' } });
    await own.reconcile();
    await scene.edit(ConfigMap, 'env', { body: { data: { A: 'edited' } } });
    await own.reconcile();
    await scene.admin.delete(ConfigMap, { namespace: scene.namespace, name: 'env' });
    await own.reconcile();
    expect(heard).to.deep.equal([
      ['created', undefined, 0],
      ['configured', 'drift', 1],
      ['created', undefined, 0],
    ]);
  });

  it('the builder names the changed field in the deleted and the created event of a recreated object', async () => {
    const scene = await open();
    const emitter = new OperatorEvents();
    const heard: unknown[] = [];
    for (const name of ['created', 'configured', 'deleted'] as const) {
      emitter.on(name, ({ changes }) => heard.push([name, ...changes.map(({ path }) => path)]));
    }
    const reconcile = (A: string): Promise<unknown> =>
      scene
        .builder({ emitter, onImmutable: 'recreate' })
        .configMap({ name: 'env', data: { A }, immutable: true })
        .reconcile();
    await reconcile('1');
    await reconcile('2');
    expect(heard).to.deep.equal([['created'], ['deleted', 'data.A'], ['created', 'data.A']]);
  });

  it('the builder emits only one event "failed" if the builder replaces the refusal of the server by its own error', async () => {
    const scene = await open();
    const emitter = new OperatorEvents();
    const heard: unknown[] = [];
    emitter.on('failed', ({ ref, verb, error }) =>
      heard.push([ref.name, verb, (error as OperatorError).code]),
    );
    const reconcile = (A: string): Promise<unknown> =>
      scene
        .builder({ emitter })
        .configMap({ name: 'env', data: { A }, immutable: true })
        .reconcile();
    await reconcile('1');
    const error = await reconcile('2').catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message').that.includes('data');
    expect(heard).to.deep.equal([['env', 'apply', 'ImmutableField']]);
  });

  it('the builder emits one event "failed" for each failed object, even if it sent no request for the object', async () => {
    const scene = await open();
    const emitter = new OperatorEvents();
    const heard: string[] = [];
    emitter.on('failed', ({ ref, verb, error }) =>
      heard.push(`${verb} ${ref.name ?? ''} ${(error as OperatorError).code}`),
    );
    await newOwner(scene.admin, scene.namespace, 'theirs');
    const failing = scene
      .builder({ emitter })
      .configMap({ name: 'theirs' })
      .configMap({ name: 'Bad_Name' })
      .service({ name: 'refused', spec: { selector: {}, ports: [{ port: 99_999 }] } })
      .object({ apiVersion: 'nowhere.example/v1', kind: 'Nothing', metadata: { name: 'unknown' } });
    const error: unknown = await failing.reconcile().catch((thrown: unknown) => thrown);
    expect(isReconcileFailed(error)).to.equal(true);
    expect(heard.sort()).to.deep.equal([
      'apply Bad_Name InvalidObject',
      'apply refused ApiError',
      'apply theirs NotOurs',
      'apply unknown UnknownKind',
    ]);
    heard.length = 0;
    await scene.builder().configMap({ name: 'one' }).reconcile();
    const none = scene.builder({ emitter, maxDeletions: 0 });
    await none.reconcile().catch((thrown: unknown) => thrown);
    expect(heard).to.deep.equal(['delete shop TooManyDeletions']);
  });

  it('the builder writes one Event on the owner about a created object, and none when nothing changes', async () => {
    const scene = await open();
    const recorder = new EventRecorder({ client: scene.operator.client, controllerName });
    const own = (): Builder =>
      scene.builder({ recorder }).configMap({ name: 'env', data: { A: '1' } });
    await own().reconcile();
    await own().reconcile();
    await recorder.flush();
    const type = { apiVersion: 'events.k8s.io/v1', kind: 'Event' };
    const { items } = await scene.admin.list<Event>(type, { namespace: scene.namespace });
    const ours = items.filter(({ reportingController }) => reportingController === controllerName);
    expect(
      ours.map(({ reason, regarding, related }) => [reason, regarding?.name, related?.name]),
    ).to.deep.equal([['Created', 'shop', 'env']]);
  });

  it('the builder writes one Event for all created objects and one for all configured objects', async () => {
    const scene = await open();
    const { recorder, notes } = recording(scene);
    const reconcile = async (value: string): Promise<void> => {
      const data = { A: value };
      await scene
        .builder({ recorder })
        .configMap({ name: 'env', data })
        .secret({ name: 'keys', stringData: data })
        .service({ name: 'web', spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } })
        .deployment({ name: 'web', podSpec, rolloutOn: ['env'] })
        .reconcile();
      await recorder.flush();
    };
    await reconcile('1');
    const [created = ''] = await notes();
    const [start, objects = ''] = created.split('4 objects: ');
    expect(start).to.equal('Created: Created ');
    // Objects that do not depend on each other are written at the same time, in any order.
    expect(objects.split(', ')).to.have.members([
      ...['ConfigMap env', 'Secret keys', 'Service web', 'Deployment web'],
    ]);
    await reconcile('2');
    const [, configured = ''] = await notes();
    expect(configured)
      .to.match(/^Configured: Configured 3 objects: /)
      .and.to.include('ConfigMap env: data.A')
      .and.to.include('Secret keys: ');
    expect(configured).to.include(`(ConfigMap ${scene.namespace}/env changed)`);
    expect(await notes()).to.have.length(2);
  });

  it('the builder writes one Event for the objects that several partial reconciles create', async () => {
    const scene = await open();
    const { recorder, notes } = recording(scene);
    const builder = scene
      .builder({ recorder })
      .configMap({ name: 'env' })
      .deployment({ name: 'web', podSpec });
    await builder.reconcileConfigMap();
    await builder.reconcileDeployOrSts();
    await recorder.flush();
    expect(await notes()).to.deep.equal([
      'Created: Created 2 objects: ConfigMap env, Deployment web',
    ]);
  });

  it('the builder writes an Event about the created objects and a warning if the reconcile fails later', async () => {
    const scene = await open();
    const { recorder, notes } = recording(scene);
    const failing = scene
      .builder({ recorder })
      .configMap({ name: 'env' })
      .configMap({ name: 'more' })
      .service({ name: 'refused', spec: { selector: {}, ports: [{ port: 99_999 }] } });
    const error: unknown = await failing.reconcile().catch((thrown: unknown) => thrown);
    expect(isReconcileFailed(error)).to.equal(true);
    await recorder.flush();
    const found = await notes();
    const created = found.filter((note) => note.startsWith('Created: Created 2 objects: '));
    expect(created).to.have.length(1);
    expect(found.filter((note) => note.startsWith('ApplyFailed: '))).to.have.length(1);
    expect(found).to.have.length(2);
  });

  it('the builder names as many created objects in an Event as fit, and aggregates many warnings', async () => {
    const scene = await open();
    const { recorder, notes } = recording(scene);
    const names = Array.from({ length: 30 }, (_, n) => `c-${'x'.repeat(30)}-${n}`);
    const reconcile = async (value: string): Promise<void> => {
      const empty = scene.builder({ recorder, onImmutable: 'fail' });
      const data = { A: value };
      await names
        .reduce<Builder>((chain, name) => chain.configMap({ name, data, immutable: true }), empty)
        .reconcile();
    };
    await reconcile('1');
    const failed: unknown = await reconcile('2').catch((thrown: unknown) => thrown);
    expect(isReconcileFailed(failed)).to.equal(true);
    await recorder.flush();
    await recorder.stop();
    const created = (await notes()).filter((note) => note.startsWith('Created: '));
    expect(created).to.have.length(1);
    expect(created[0]).to.match(
      /^Created: Created 30 objects: ConfigMap c-x+-\d+, .* and [1-9] more$/,
    );
    const refused = (await notes()).filter((note) => note.startsWith('ImmutableField: '));
    expect(refused).to.have.length(11);
    const summaries = refused.filter((note) => note.includes(' 20 more: 20 ConfigMap; last: '));
    expect(summaries).to.have.length(1);
  });
}

/** Returns a recorder and a function that lists the scene's Events as `reason: note`, oldest first. */
function recording(scene: Scene): { recorder: EventRecorder; notes: () => Promise<string[]> } {
  const recorder = new EventRecorder({ client: scene.operator.client, controllerName });
  const type = { apiVersion: 'events.k8s.io/v1', kind: 'Event' };
  const notes = async (): Promise<string[]> => {
    const { items } = await scene.admin.list<Event>(type, { namespace: scene.namespace });
    return items
      .filter(({ reportingController }) => reportingController === controllerName)
      .sort((one, other) => one.eventTime.localeCompare(other.eventTime))
      .map(({ reason = '', note = '' }) => `${reason}: ${note}`);
  };
  return { recorder, notes };
}
