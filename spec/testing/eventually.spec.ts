import { expect } from 'chai';
import { VirtualClock } from '../../lib/system/index.js';
import { sleep } from '../../lib/system/clock.js';
import { eventually } from '../../lib/testing/index.js';

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => expect.fail('it held'),
    (error: unknown) => error as Error,
  );
}

describe('eventually', () => {
  it('returns what the first try that does not throw returns', async () => {
    let tries = 0;
    const found = await eventually(
      () => {
        expect(++tries).to.equal(3);
        return 'held';
      },
      { clock: new VirtualClock() },
    );
    expect(found).to.equal('held');
  });

  it('moves a virtual clock on to what is due, and no further', async () => {
    const clock = new VirtualClock();
    let rang = false;
    clock.setTimer(() => (rang = true), 30_000);
    await eventually(() => expect(rang).to.equal(true), { clock, timeoutMs: 60_000 });
    expect(clock.monotonicMs()).to.be.within(30_000, 30_050);
  });

  it('says what the last try failed with, how often it tried, and keeps the difference', async () => {
    const clock = new VirtualClock();
    const check = (): void => void expect({ ready: 1 }).to.deep.equal({ ready: 2 });
    const error = await failureOf(eventually(check, { clock, timeoutMs: 1_000, intervalMs: 100 }));
    expect(error).to.have.property('code', 'Timeout');
    expect(error.message).to.match(/after 1 s and 11 tries; the last failure: expected .* equal/);
    expect(error).to.deep.include({ actual: { ready: 1 }, expected: { ready: 2 }, showDiff: true });
    expect((error.cause as Error).name).to.equal('AssertionError');
    expect(clock.monotonicMs()).to.equal(1_000);
  });

  it('lets time pass for a check that needs some itself', async () => {
    const clock = new VirtualClock();
    await eventually(() => sleep(clock, 200), { clock });
    expect(clock.monotonicMs()).to.equal(200);
  });

  for (const clock of [new VirtualClock(), undefined]) {
    it(`gives a check up that never ends, ${clock ? 'virtually' : 'really'}`, async () => {
      const never = new Promise(() => undefined);
      const error = await failureOf(eventually(() => never, { clock, timeoutMs: 20 }));
      expect(error.message).to.match(/the last try did not end$/);
    });
  }

  it('waits between two tries on the machine’s clock', async () => {
    let tries = 0;
    const check = (): never => {
      tries++;
      throw new Error('no');
    };
    await failureOf(eventually(check, { timeoutMs: 50, intervalMs: 20 }));
    expect(tries).to.be.within(2, 6);
  });

  it('ends with its signal', async () => {
    const stop = new AbortController();
    const never = new Promise(() => undefined);
    const waiting = eventually(() => never, { signal: stop.signal });
    stop.abort(new Error('enough'));
    expect((await failureOf(waiting)).message).to.equal('enough');
  });

  for (const options of [{ timeoutMs: 0 }, { intervalMs: 0 }, { timeoutMs: NaN }]) {
    it(`refuses ${Object.entries(options).join()}`, async () => {
      const error = await failureOf(eventually(() => undefined, options));
      expect(error).to.have.property('code', 'InvalidOption');
    });
  }
});
