import { expect } from 'chai';
import { TokenBucket } from '../../lib/client/request-limits.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { failureOf } from './scripted-transport.js';

describe('TokenBucket', () => {
  it('lets a burst of requests pass, then one request every 1 / qps seconds, in order', async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket({ qps: 4, burst: 3 }, clock);
    const passed: [number, number][] = [];
    for (let n = 0; n < 6; n++)
      void bucket.take().then(() => passed.push([n, clock.monotonicMs()]));
    await clock.advance(10_000);
    expect(passed).to.deep.equal([
      ...[0, 1, 2].map((n) => [n, 0]),
      ...[3, 4, 5].map((n) => [n, (n - 2) * 250]),
    ]);
  });

  it('accumulates no more than a burst while idle', async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket({ qps: 10, burst: 2 }, clock);
    await clock.advance(60_000);
    let passed = 0;
    for (let n = 0; n < 5; n++) void bucket.take().then(() => (passed += 1));
    await clock.advance(0);
    expect(passed).to.equal(2);
  });

  it('gives the turn of an aborted request to the next request', async () => {
    const clock = new VirtualClock();
    const bucket = new TokenBucket({ qps: 1, burst: 1 }, clock);
    await bucket.take();
    const controller = new AbortController();
    const left = failureOf(bucket.take(controller.signal));
    controller.abort(new Error('enough'));
    expect((await left).message).to.equal('enough');
    let passed = false;
    void bucket.take().then(() => (passed = true));
    await clock.advance(1_000);
    expect(passed).to.equal(true);
    expect(clock.pendingTimers).to.equal(0);
  });

  for (const limit of [
    { qps: 0, burst: 1 },
    { qps: 1, burst: 0 },
    { qps: NaN, burst: 1 },
  ]) {
    it(`rejects a limit of ${limit.qps} requests per second with a burst of ${limit.burst}`, () => {
      const construct = () => new TokenBucket(limit, new VirtualClock());
      expect(construct).to.throw('rateLimit').with.property('code', 'InvalidOption');
    });
  }
});
