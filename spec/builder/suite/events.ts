import { expect } from 'chai';
import type { Builder } from '../../../lib/builder/index.js';
import { EventRecorder, OperatorEvents } from '../../../lib/events/index.js';
import type { Event } from '../../../lib/object/kinds.js';
import type { OpenScene } from './builder-suite.js';
import { controllerName, podSpec } from './scene.js';
import type { Scene } from './scene.js';

/** What a reconcile tells others. */
export function eventsSuite(open: OpenScene): void {
  const chain = (scene: Scene, emitter: OperatorEvents, value: string): Builder =>
    scene
      .builder({ emitter })
      .configMap({ name: 'env', data: { A: value } })
      .deployment({ name: 'web', podSpec, rolloutOn: ['env'] });

  it('tells listeners in this process what was written, rolled and pruned, and why', async () => {
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

  it('writes events on the owner about the object, and none when nothing happens', async () => {
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
}
