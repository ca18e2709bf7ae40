import { expect } from 'chai';
import fc from 'fast-check';
import { nextTurn } from '../../lib/system/clock.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

describe('VirtualClock', () => {
  it('stands still until it is advanced', async () => {
    const clock = new VirtualClock(1_000);
    expect([clock.now(), clock.monotonicMs()]).to.deep.equal([1_000, 0]);
    await clock.advance(250);
    expect([clock.now(), clock.monotonicMs()]).to.deep.equal([1_250, 250]);
  });

  it('starts at the beginning of 2026', () => {
    expect(new Date(new VirtualClock().now()).toISOString()).to.equal('2026-01-01T00:00:00.000Z');
  });

  it('fires timers in the order of their times, and timers of the same time in the order of creation', async () => {
    const property = fc.asyncProperty(fc.array(fc.nat(20), { maxLength: 20 }), async (delays) => {
      const clock = new VirtualClock();
      const fired: [number, number][] = [];
      for (const [index, delay] of delays.entries()) {
        clock.setTimer(() => fired.push([clock.monotonicMs(), index]), delay);
      }
      await clock.advance(20);
      const expected = [...delays.entries()].map(([index, delay]) => [delay, index]);
      expected.sort(([a = 0, i = 0], [b = 0, j = 0]) => a - b || i - j);
      expect(fired).to.deep.equal(expected);
      expect(clock.pendingTimers).to.equal(0);
    });
    await fc.assert(property, { numRuns: 20 });
  });

  it('does not fire timers that are not due yet or were cancelled', async () => {
    const clock = new VirtualClock();
    const fired: string[] = [];
    clock.setTimer(() => fired.push('later'), 11);
    clock.setTimer(() => fired.push('cancelled'), 5).cancel();
    await clock.advance(10);
    expect(fired).to.be.empty;
    expect([clock.pendingTimers, clock.nextTimerMs]).to.deep.equal([1, 1]);
    await clock.advance(1);
    expect(fired).to.deep.equal(['later']);
    expect([clock.pendingTimers, clock.nextTimerMs]).to.deep.equal([0, undefined]);
  });

  it('fires timers that are set while it advances', async () => {
    const clock = new VirtualClock();
    const fired: number[] = [];
    const again = (): void => {
      fired.push(clock.monotonicMs());
      clock.setTimer(again, 10);
    };
    clock.setTimer(again, 10);
    await clock.advance(35);
    expect(fired).to.deep.equal([10, 20, 30]);
  });

  it('fires a timer that a pending promise sets before the time advances', async () => {
    const clock = new VirtualClock();
    const fired: number[] = [];
    void nextTurn().then(() => clock.setTimer(() => fired.push(clock.monotonicMs()), 5));
    await clock.advance(5);
    expect(fired).to.deep.equal([5]);
  });

  it('settles the promises of a timer before it fires the next timer', async () => {
    const clock = new VirtualClock();
    const order: string[] = [];
    clock.setTimer(() => void Promise.resolve().then(() => order.push('promise of 1')), 1);
    clock.setTimer(() => order.push('2'), 2);
    await clock.advance(2);
    expect(order).to.deep.equal(['promise of 1', '2']);
  });

  for (const delayMs of [-5, NaN]) {
    it(`treats a delay of ${delayMs} ms as 0`, async () => {
      const clock = new VirtualClock();
      const fired: string[] = [];
      clock.setTimer(() => fired.push('later'), 10);
      clock.setTimer(() => fired.push('now'), delayMs);
      await clock.advance(0);
      expect(fired).to.deep.equal(['now']);
      expect(clock.monotonicMs()).to.equal(0);
      await clock.advance(10);
      expect(fired).to.deep.equal(['now', 'later']);
    });
  }

  it('never goes back when several calls advance it at once', async () => {
    const clock = new VirtualClock();
    const times: number[] = [];
    clock.setTimer(() => {
      times.push(clock.monotonicMs());
      void nextTurn().then(() => times.push(clock.monotonicMs()));
    }, 900);
    await Promise.all([clock.advance(1_000), clock.advance(50)]);
    expect(times).to.deep.equal([900, 900]);
    expect(clock.monotonicMs()).to.equal(1_000);
  });

  for (const ms of [-1, NaN, Infinity]) {
    it(`refuses to advance by ${ms} ms`, async () => {
      const clock = new VirtualClock();
      clock.setTimer(() => expect.fail('it fired'), 10);
      const error = await clock.advance(ms).catch((thrown: unknown) => thrown);
      expect(error).to.have.property('code', 'InvalidOption');
      expect(clock.monotonicMs()).to.equal(0);
    });
  }
});
