import { expect } from 'chai';
import { sleep, systemClock } from '../../lib/system/clock.js';

describe('systemClock', () => {
  it('tells the time of the machine', () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(now).to.be.within(before, Date.now());
  });

  it('has a monotonic time that never goes back', () => {
    const times = Array.from({ length: 100 }, () => systemClock.monotonicMs());
    expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
  });

  it('fires a timer once its delay has passed', async () => {
    const start = systemClock.monotonicMs();
    await sleep(systemClock, 3);
    // Node's timers round to the millisecond.
    expect(systemClock.monotonicMs() - start).to.be.at.least(2);
  });

  it('fires no timer that was cancelled', async () => {
    let fired = false;
    systemClock.setTimer(() => (fired = true), 1).cancel();
    await sleep(systemClock, 3);
    expect(fired).to.equal(false);
  });

  it('does not take a delay beyond what Node can for none', async () => {
    let fired = false;
    const timer = systemClock.setTimer(() => (fired = true), 2 ** 31);
    await sleep(systemClock, 3);
    timer.cancel();
    expect(fired).to.equal(false);
  });
});
