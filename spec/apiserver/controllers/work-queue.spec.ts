import { expect } from 'chai';
import { StatusError } from '../../../lib/apiserver/internal.js';
import { WorkQueue, Workload } from '../../../lib/apiserver/controllers/work-queue.js';
import { silentLogger } from '../../../lib/system/logger.js';
import type { Logger } from '../../../lib/system/logger.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

function setUp(reconcile: (key: string) => Promise<void>, logger: Logger = silentLogger) {
  const clock = new VirtualClock();
  const workload = new Workload(clock, logger);
  const queue = new WorkQueue({ name: 'spec', reconcile, idOf: (key: string) => key, workload });
  return { clock, workload, queue };
}

/** Whether `promise` has settled after all due work. */
async function isDone(promise: Promise<void>, clock: VirtualClock): Promise<boolean> {
  let done = false;
  void promise.then(() => (done = true));
  await clock.advance(0);
  return done;
}

describe('WorkQueue', () => {
  it('runs a key once for repeated adds, in order', async () => {
    const runs: string[] = [];
    const { queue, workload } = setUp(async (key) => void runs.push(key));
    for (const key of ['b', 'a', 'b', 'a']) queue.add(key);
    await workload.settled();
    expect(runs).to.deep.equal(['b', 'a']);
  });

  it('runs the reconciler for one key at a time, and runs a key again if it was added during its run', async () => {
    let running = 0;
    const seen: number[] = [];
    const { queue, workload } = setUp(async () => {
      seen.push(++running);
      if (seen.length === 1) queue.add('a');
      await Promise.resolve();
      running--;
    });
    queue.add('a');
    queue.add('b');
    await workload.settled();
    expect(seen).to.deep.equal([1, 1, 1]);
  });

  it('retries a key with increasing delays, which start again from the shortest after a success', async () => {
    const times: number[] = [];
    const { queue, clock } = setUp(async () => {
      times.push(clock.monotonicMs());
      if (times.length !== 5 && times.length !== 7) throw new Error('not yet');
    });
    queue.add('a');
    await clock.advance(1_000);
    expect(times).to.deep.equal([0, 5, 15, 35, 75]);
    queue.add('a');
    await clock.advance(1_000);
    expect(times.slice(5)).to.deep.equal([1_000, 1_005]);
  });

  it('counts a failing key as unfinished work until it has failed five times in a row', async () => {
    const { queue, clock, workload } = setUp(async () => Promise.reject(new Error('never')));
    queue.add('a');
    await clock.advance(70);
    expect(await isDone(workload.settled(), clock)).to.equal(false);
    await clock.advance(10);
    expect(await isDone(workload.settled(), clock)).to.equal(false);
    await clock.advance(80);
    expect(await isDone(workload.settled(), clock)).to.equal(true);
    expect(clock.pendingTimers).to.equal(1);
    queue.stop();
  });

  it('logs a warning for failures, but not for conflicts', async () => {
    const said: string[] = [];
    const logger = { ...silentLogger, warn: (text: string) => void said.push(text) };
    const errors = [new StatusError({ code: 409, reason: 'Conflict' }), new Error('broken')];
    const { queue, clock } = setUp(async () => {
      const error = errors.shift();
      if (error !== undefined) throw error;
    }, logger);
    queue.add('a');
    await clock.advance(100);
    expect(errors).to.have.length(0);
    expect(said).to.deep.equal(['an embedded controller failed']);
  });

  it('drops a key whose namespace is terminating', async () => {
    const causes = [{ reason: 'NamespaceTerminating' }];
    const error = new StatusError({ code: 403, reason: 'Forbidden', details: { causes } });
    let runs = 0;
    const { queue, clock } = setUp(async () => {
      runs++;
      throw error;
    });
    queue.add('a');
    await clock.advance(60_000);
    expect(runs).to.equal(1);
  });

  it('counts keys added with addSoon as unfinished work, but not those added with addLater', async () => {
    const runs: string[] = [];
    const { queue, clock, workload } = setUp(async (key) => void runs.push(key));
    queue.addLater('later', 100);
    expect(await isDone(workload.settled(), clock)).to.equal(true);
    queue.addSoon('soon', 50);
    expect(workload.nextTimerMs).to.equal(50);
    expect(await isDone(workload.settled(), clock)).to.equal(false);
    await clock.advance(100);
    expect(runs).to.deep.equal(['soon', 'later']);
  });

  it('keeps the earliest of several delays of a key', async () => {
    const times: number[] = [];
    const { queue, clock } = setUp(async () => void times.push(clock.monotonicMs()));
    for (const delay of [30, 10, 20]) queue.addSoon('a', delay);
    await clock.advance(100);
    expect(times).to.deep.equal([10]);
  });

  it('runs a key at once if its delay is already over, without a timer', async () => {
    const times: number[] = [];
    const { queue, clock } = setUp(async () => void times.push(clock.monotonicMs()));
    for (const delay of [0, -1]) {
      queue.addSoon('a', delay);
      queue.addLater('a', delay);
      expect(clock.pendingTimers).to.equal(0);
      await clock.advance(10);
    }
    expect(times).to.deep.equal([0, 10]);
  });

  it('lets other work run between the keys of a long queue', async () => {
    const order: string[] = [];
    const { queue, workload } = setUp(async (key) => void order.push(key));
    for (let n = 0; n < 1_000; n++) queue.add(`key ${n}`);
    setImmediate(() => order.push('other work'));
    await workload.settled();
    expect(order).to.have.length(1_001);
    expect(order.at(-1)).not.to.equal('other work');
  });

  it('runs nothing and keeps no timer after a stop', async () => {
    let runs = 0;
    const { queue, clock, workload } = setUp(async () => {
      runs++;
    });
    queue.add('a');
    queue.addSoon('b', 10);
    queue.addLater('c', 10);
    queue.stop();
    queue.add('d');
    queue.addSoon('e', 10);
    expect(clock.pendingTimers).to.equal(0);
    await workload.settled();
    await clock.advance(100);
    expect(runs).to.equal(0);
  });
});
