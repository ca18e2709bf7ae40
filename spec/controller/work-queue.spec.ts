import { expect } from 'chai';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { WorkQueue } from '../../lib/controller/queue.js';
import type { WorkQueueOptions } from '../../lib/controller/queue.js';
import { promMetrics } from '../../lib/prometheus/index.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { tries } from '../sample.js';

function newQueue(options: Partial<WorkQueueOptions> = {}) {
  const clock = new VirtualClock();
  const queue = new WorkQueue({ name: 'test', clock, ...options });
  const take = async (): Promise<string | undefined> => {
    const next = queue.get();
    const none = clock.advance(0).then(() => undefined);
    return (await Promise.race([next, none]))?.key;
  };
  return { clock, queue, take };
}

describe('WorkQueue', () => {
  it('hands out a key once, however often it was added', async () => {
    const { queue, take } = newQueue();
    for (let n = 0; n < 3; n++) queue.add('ns/a');
    expect(await take()).to.equal('ns/a');
    expect(queue.depth).to.equal(0);
  });

  it('hands out a key again after done() if it was added in between', async () => {
    const { queue } = newQueue();
    queue.add('ns/a');
    await queue.get();
    queue.add('ns/a');
    expect(queue.depth).to.equal(0);
    queue.done('ns/a');
    expect(queue.depth).to.equal(1);
    expect((await queue.get())?.key).to.equal('ns/a');
    queue.done('ns/a');
    expect(queue.depth).to.equal(0);
  });

  it('keeps the highest priority of the additions of a key while it is in process', async () => {
    const { queue } = newQueue();
    queue.add('ns/a');
    await queue.get();
    for (const priority of [-100, 5, 3]) queue.add('ns/a', { priority });
    queue.done('ns/a');
    expect(await queue.get()).to.deep.equal({ key: 'ns/a', priority: 5 });
    queue.add('ns/a', { priority: -100 });
    queue.done('ns/a');
    expect(await queue.get()).to.deep.equal({ key: 'ns/a', priority: -100 });
  });

  it('hands out a delayed key that was removed and added again for the same time', async () => {
    const { clock, queue, take } = newQueue();
    queue.add('ns/a', { afterMs: 100 });
    queue.remove('ns/a');
    queue.add('ns/a', { afterMs: 100 });
    await clock.advance(100);
    expect(await take()).to.equal('ns/a');
  });

  it('exports the metric of retries with 0 before the first retry', async () => {
    const registry = new Registry();
    newQueue({ metrics: promMetrics(registry) });
    expect(await registry.metrics()).to.match(/^\w*workqueue_retries_total\{.*\} 0$/m);
  });

  it('refuses an unknown option', () => {
    const misspelt = { aging: 8 } as Partial<WorkQueueOptions>;
    expect(() => newQueue(misspelt)).to.throw('WorkQueue: unknown option "aging"');
  });

  it('removes waiting and delayed keys, and lets a worker finish a key that it processes', async () => {
    const { queue, take } = newQueue();
    queue.add('ns/a');
    queue.add('ns/late', { afterMs: 10 });
    queue.addRateLimited('ns/failed');
    await take();
    queue.add('ns/a');
    queue.add('ns/b');
    for (const key of ['ns/a', 'ns/b', 'ns/late', 'ns/failed']) queue.remove(key);
    expect([queue.depth, queue.delayed, queue.failures('ns/failed')]).to.deep.equal([0, 0, 0]);
    queue.done('ns/a');
    expect(await take()).to.equal(undefined);
  });

  it('resolves waiting calls of get() in order', async () => {
    const { queue } = newQueue();
    const got = [queue.get(), queue.get()];
    queue.add('ns/a');
    queue.add('ns/b');
    expect((await Promise.all(got)).map((item) => item?.key)).to.deep.equal(['ns/a', 'ns/b']);
  });

  it('hands out a delayed key exactly when its delay ends', async () => {
    const { clock, queue } = newQueue();
    queue.add('ns/late', { afterMs: 1_500 });
    queue.add('ns/soon', { afterMs: 10 });
    await clock.advance(9);
    expect(queue.depth).to.equal(0);
    await clock.advance(1);
    expect(queue.depth).to.equal(1);
    await clock.advance(1_489);
    expect(queue.depth).to.equal(1);
    await clock.advance(1);
    expect(queue.depth).to.equal(2);
    expect(clock.pendingTimers).to.equal(0);
  });

  it('never hands out a key early when the clock has fractions of milliseconds', async () => {
    const fractions = new VirtualClock(0.3);
    const { queue } = newQueue({ clock: fractions });
    queue.add('ns/a', { afterMs: 1.7 });
    await fractions.advance(1.6);
    expect(queue.depth).to.equal(0);
    await fractions.advance(0.4);
    expect(queue.depth).to.equal(1);
  });

  it('keeps the shorter of two delays, and drops the delay when the key is added without a delay', async () => {
    const { clock, queue, take } = newQueue();
    queue.add('ns/a', { afterMs: 100 });
    queue.add('ns/a', { afterMs: 50 });
    queue.add('ns/a', { afterMs: 200 });
    await clock.advance(50);
    expect(await take()).to.equal('ns/a');
    queue.done('ns/a');
    queue.add('ns/b', { afterMs: 100 });
    queue.add('ns/b');
    expect(await take()).to.equal('ns/b');
    queue.done('ns/b');
    await clock.advance(1_000);
    expect([queue.depth, queue.delayed, clock.pendingTimers]).to.deep.equal([0, 0, 0]);
  });

  it('ignores the delay of an addition if the key is already ready', async () => {
    const { clock, queue, take } = newQueue();
    queue.add('ns/a');
    queue.add('ns/a', { afterMs: 10 });
    await take();
    queue.add('ns/a');
    queue.add('ns/a', { afterMs: 10 });
    queue.done('ns/a');
    await take();
    queue.done('ns/a');
    await clock.advance(10);
    expect([queue.depth, queue.delayed]).to.deep.equal([0, 0]);
  });

  it('holds a key whose delay ends while it is in process until done()', async () => {
    const { clock, queue, take } = newQueue();
    queue.add('ns/a');
    await take();
    queue.add('ns/a', { afterMs: 10 });
    await clock.advance(20);
    expect(queue.depth).to.equal(0);
    queue.done('ns/a');
    expect(queue.depth).to.equal(1);
  });

  it('delays each key with back-off, at least by the given minimum, and resets the back-off on forget()', () => {
    const { queue } = newQueue();
    expect([1, 2, 3].map(() => queue.addRateLimited('ns/a'))).to.deep.equal([5, 10, 20]);
    expect(queue.addRateLimited('ns/b', 0, 7_000)).to.equal(7_000);
    expect(queue.failures('ns/a')).to.equal(3);
    queue.forget('ns/a');
    expect(queue.addRateLimited('ns/a')).to.equal(5);
  });

  it('hands out nothing after shutDown()', async () => {
    const { clock, queue } = newQueue();
    queue.add('ns/a');
    await queue.get();
    queue.add('ns/a');
    const waiting = queue.get();
    queue.add('ns/later', { afterMs: 10 });
    queue.shutDown();
    queue.add('ns/b');
    expect(await waiting).to.equal(undefined);
    expect(await queue.get()).to.equal(undefined);
    expect([queue.depth, queue.delayed, clock.pendingTimers]).to.deep.equal([0, 0, 0]);
    queue.done('ns/a');
    expect([queue.depth, queue.take()]).to.deep.equal([0, undefined]);
  });

  it('reports the metrics of controller-runtime', async () => {
    const registry = new Registry();
    const { clock, queue } = newQueue({ metrics: promMetrics(registry) });
    queue.add('ns/a');
    queue.add('ns/a');
    queue.add('ns/b', { priority: -100 });
    await clock.advance(2_000);
    await queue.get();
    queue.add('ns/a');
    await clock.advance(3_000);
    const text = await registry.metrics();
    const labels = 'name="test",controller="test"';
    for (const line of [
      `workqueue_adds_total{${labels}} 3`,
      `workqueue_depth{${labels},priority="0"} 0`,
      `workqueue_depth{${labels},priority="-100"} 1`,
      `workqueue_queue_duration_seconds_sum{${labels}} 2`,
      `workqueue_unfinished_work_seconds{${labels}} 3`,
      `workqueue_longest_running_processor_seconds{${labels}} 3`,
    ]) {
      expect(text).to.include(line);
    }
    queue.done('ns/a');
    const idle = await registry.metrics();
    expect(idle).to.include(`workqueue_adds_total{${labels}} 3`);
    expect(idle).to.match(/workqueue_unfinished_work_seconds\{.*\} 0$/m);
    expect(idle).to.match(/workqueue_longest_running_processor_seconds\{.*\} 0$/m);
    expect(await registry.metrics()).to.include(`workqueue_work_duration_seconds_sum{${labels}} 3`);
  });

  const keys = fc.constantFrom('a/1', 'a/2', 'b/1', 'cluster-scoped');
  const commands = fc.array(
    fc.oneof(
      fc.record({
        do: fc.constant('add' as const),
        key: keys,
        afterMs: fc.constantFrom(0, 0, 10, 500),
        priority: fc.constantFrom(-100, 0, 3),
      }),
      fc.record({ do: fc.constant('get' as const) }),
      fc.record({ do: fc.constant('done' as const), key: keys }),
      fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 10, 500) }),
    ),
    { maxLength: 60 },
  );

  it('hands out every added key in time, and no key twice at once', async () => {
    const property = fc.asyncProperty(commands, async (script) => {
      const { clock, queue, take } = newQueue();
      /** Latest time at which each key must be ready, since it was last handed out. */
      const due = new Map<string, number>();
      const working = new Set<string>();
      const takeOne = async (): Promise<void> => {
        if (queue.depth === 0) return;
        const key = (await take())!;
        expect(working.has(key), `${key} twice at once`).to.equal(false);
        expect(due.has(key), `${key} was not asked for`).to.equal(true);
        working.add(key);
        due.delete(key);
      };
      for (const step of script) {
        if (step.do === 'add') {
          queue.add(step.key, { priority: step.priority, afterMs: step.afterMs });
          const at = clock.monotonicMs() + step.afterMs;
          due.set(step.key, Math.min(at, due.get(step.key) ?? Infinity));
        } else if (step.do === 'get') {
          await takeOne();
        } else if (step.do === 'done') {
          if (working.delete(step.key)) queue.done(step.key);
        } else {
          await clock.advance(step.ms);
        }
        const ready = [...due].filter(
          ([key, at]) => at <= clock.monotonicMs() && !working.has(key),
        );
        expect(queue.depth).to.equal(ready.length);
      }
      for (const key of working) queue.done(key);
      working.clear();
      await clock.advance(500);
      while (queue.depth > 0) await takeOne();
      expect([...due.keys()]).to.deep.equal([]);
      expect(clock.pendingTimers).to.equal(0);
    });
    await fc.assert(property, { numRuns: tries(60) });
  });
});
