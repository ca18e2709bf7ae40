import { expect } from 'chai';
import { LeaseObserver, newLease } from '../../lib/manager/lease.js';
import type { Clock } from '../../lib/system/clock.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

describe('LeaseObserver', () => {
  for (const jumpMs of [-3_600_000, 3_600_000]) {
    it(`measures to the millisecond how long a holder has the Lease, while the wall clock jumps by ${jumpMs} ms`, async () => {
      const clock = new VirtualClock();
      let skewMs = 0;
      const jumping: Clock = {
        now: () => clock.now() + skewMs,
        monotonicMs: () => clock.monotonicMs(),
        setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
      };
      const observer = new LeaseObserver(jumping, 15_000);
      const holding = { identity: 'x', durationMs: 3_000, nowMs: clock.now() };
      observer.observe(newLease({ namespace: 'default', name: 'operator' }, holding));
      skewMs = jumpMs;
      await clock.advance(2_999);
      expect([observer.holder, observer.remainingMs]).to.deep.equal(['x', 1]);
      await clock.advance(1);
      expect(observer.remainingMs).to.equal(0);
    });
  }

  for (const leaseDurationSeconds of [undefined, 0, -1, NaN]) {
    it(`waits its own default duration if the Lease has the invalid duration ${leaseDurationSeconds}`, () => {
      const observer = new LeaseObserver(new VirtualClock(), 15_000);
      const holding = { identity: 'x', durationMs: 3_000, nowMs: 0 };
      const lease = newLease({ namespace: 'default', name: 'operator' }, holding);
      observer.observe({ ...lease, spec: { ...lease.spec, leaseDurationSeconds } as never });
      expect([observer.holder, observer.remainingMs]).to.deep.equal(['x', 15_000]);
    });
  }
});
