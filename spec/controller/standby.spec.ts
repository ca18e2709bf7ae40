import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { controllerFor } from '../../lib/controller/controller.js';
import { done } from '../../lib/controller/result.js';
import { promMetrics } from '../../lib/prometheus/index.js';
import { Thing } from '../cache/fake-server.js';
import { ControllerSetup, Part } from './controller-setup.js';

describe('A controller in standby', () => {
  it('watches, but reconciles only after it is activated', async () => {
    const setup = new ControllerSetup();
    let runs = 0;
    const controller = controllerFor(Thing).complete(async () => {
      runs++;
      return done();
    });
    setup.things.put('a');
    const running = await setup.start(controller, { standby: true });
    expect([runs, running.status().isActive]).to.deep.equal([0, false]);
    await running.activate();
    await setup.clock.advance(0);
    expect([runs, running.status().isActive]).to.deep.equal([1, true]);
    await setup.stop(running);
  });

  it('counts no keys in its metrics, measures no waits, and does not keep a trigger for each change', async () => {
    const registry = new Registry();
    const setup = new ControllerSetup();
    const seen: unknown[] = [];
    const controller = controllerFor(Thing)
      .watches(Part, ({ metadata: { namespace } }) => [{ namespace, name: 'a' }])
      .complete(async ({ key, triggers, moreTriggers }) => {
        seen.push([key.name, triggers.map(({ type }) => type), moreTriggers]);
        return done();
      });
    setup.things.put('a');
    setup.parts.put('p');
    const runtime = { standby: true, metrics: promMetrics(registry) };
    const running = await setup.start(controller, runtime);
    for (let n = 0; n < 15; n++) setup.things.put('a', { spec: { size: n } });
    setup.things.put('b');
    setup.things.remove('b');
    running.enqueue({ namespace: 'ns', name: 'a' });
    await setup.clock.advance(3_600_000);
    expect(running.status().depth).to.equal(0);
    expect(await registry.metrics()).to.not.match(/workqueue_(depth|adds_total)\{.*\} [1-9]/);
    await running.activate();
    await setup.clock.advance(0);
    expect(seen).to.deep.equal([
      ['a', ['event', 'event', 'source'], 15],
      ['b', ['acquired'], 0],
    ]);
    const labels = 'name="thing",controller="thing"';
    const text = await registry.metrics();
    expect(text).to.include(`workqueue_queue_duration_seconds_sum{${labels}} 0`);
    expect(text).to.include(`workqueue_adds_total{${labels}} 2`);
    await setup.stop(running);
  });

  it('keeps in memory no objects that were created and deleted, and only the latest of their keys', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const setup = new ControllerSetup();
    const objects: WeakRef<object>[] = [];
    setup.cache.informer(Thing).addHandler(({ object }) => objects.push(new WeakRef(object)));
    const seen: string[] = [];
    const controller = controllerFor(Thing)
      .owns(Part)
      .complete(async ({ key }) => {
        seen.push(key.name);
        return done();
      });
    const running = await setup.start(controller, { standby: true });
    const names = Array.from({ length: 10_010 }, (_, n) => `job-${n}`);
    for (const name of names) {
      setup.things.put(name);
      setup.things.remove(name);
    }
    // Owned objects are deleted last. Their events enqueue the key of the owner again.
    const owner = { apiVersion: 'example.com/v1', kind: 'Thing', name: 'job-10009', uid: 'u' };
    setup.parts.put('p', { metadata: { ownerReferences: [{ ...owner, controller: true }] } });
    setup.parts.remove('p');
    await setup.clock.advance(60_000);
    collect();
    expect(objects).to.have.length(2 * names.length);
    // An unfinished stack frame may still refer to the last object.
    expect(objects.filter((each) => each.deref() !== undefined)).to.have.length.below(3);
    setup.things.put('job-10008');
    await running.activate();
    while (running.status().depth > 0) await setup.clock.advance(0);
    expect(seen.toSorted()).to.deep.equal(names.slice(10).toSorted());
    await setup.stop(running);
  });
});
