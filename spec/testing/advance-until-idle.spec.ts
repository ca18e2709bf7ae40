import { expect } from 'chai';
import type { AdvanceUntilIdleOptions } from '../../lib/testing/eventually.js';
import { VirtualClock, advanceUntilIdle } from '../../lib/testing/index.js';

describe('advanceUntilIdle', () => {
  it('fires every timer, even new ones, and returns by how much the time advanced', async () => {
    const clock = new VirtualClock();
    const fired: number[] = [];
    clock.setTimer(() => {
      fired.push(1);
      clock.setTimer(() => fired.push(2), 500);
    }, 1_000);
    expect(await advanceUntilIdle(clock)).to.equal(1_500);
    expect(fired).to.deep.equal([1, 2]);
  });

  it('throws Timeout if timers are set again without end', async () => {
    const clock = new VirtualClock();
    const again = (): void => void clock.setTimer(again, 1_000);
    again();
    const error = await advanceUntilIdle(clock, { maxMs: 5_000 }).catch(
      (failure: unknown) => failure,
    );
    expect(error).to.have.property('code', 'Timeout');
    expect(clock.monotonicMs()).to.equal(5_000);
  });

  it('first runs pending promises, which may set timers', async () => {
    const clock = new VirtualClock();
    let rang = false;
    void Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => clock.setTimer(() => (rang = true), 1_000));
    expect(await advanceUntilIdle(clock)).to.equal(1_000);
    expect(rang).to.equal(true);
  });

  it('rejects unknown options', async () => {
    const options = { max: 5 } as AdvanceUntilIdleOptions;
    const error: unknown = await advanceUntilIdle(new VirtualClock(), options).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.have.property(
      'message',
      'advanceUntilIdle: unknown option "max"; did you mean "maxMs"?',
    );
  });
});
