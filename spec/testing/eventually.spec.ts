import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { VirtualClock } from '../../lib/system/index.js';
import { sleep, systemClock } from '../../lib/system/clock.js';
import type { Clock } from '../../lib/system/clock.js';
import { eventually } from '../../lib/testing/index.js';

async function failureOf(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => expect.fail('it held'),
    (error: unknown) => error as Error,
  );
}

describe('eventually', () => {
  it('returns the result of the first attempt that does not throw', async () => {
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

  it('advances a virtual clock to the next timer of the operator, but not beyond', async () => {
    const clock = new VirtualClock();
    let rang = false;
    clock.setTimer(() => (rang = true), 30_000);
    await eventually(() => expect(rang).to.equal(true), { clock, timeoutMs: 60_000 });
    expect(clock.monotonicMs()).to.be.within(30_000, 30_050);
  });

  it('reports the last error with its diff and the number of attempts', async () => {
    const clock = new VirtualClock();
    const check = (): void => void expect({ ready: 1 }).to.deep.equal({ ready: 2 });
    const error = await failureOf(eventually(check, { clock, timeoutMs: 1_000, intervalMs: 100 }));
    expect(error).to.have.property('code', 'Timeout');
    expect(error.message).to.match(/after 1 s and 11 tries; the last failure: expected .* equal/);
    expect(error).to.deep.include({ actual: { ready: 1 }, expected: { ready: 2 }, showDiff: true });
    expect((error.cause as Error).name).to.equal('AssertionError');
    expect(clock.monotonicMs()).to.equal(1_000);
  });

  it('advances the virtual time while the check itself waits for a timer', async () => {
    const clock = new VirtualClock();
    await eventually(() => sleep(clock, 200), { clock });
    expect(clock.monotonicMs()).to.equal(200);
  });

  it('waits for another process that a check calls, although the clock is virtual', async () => {
    const clock = new VirtualClock();
    const { stdout } = await eventually(
      () => promisify(execFile)(process.execPath, ['--version']),
      { clock, timeoutMs: 1_000 },
    );
    expect(stdout.trim()).to.equal(process.version);
    expect(clock.monotonicMs()).to.be.at.most(1_000);
  });

  it('lets a check finish its I/O in real time after the time-out of a virtual clock', async () => {
    const clock = new VirtualClock();
    await eventually(() => sleep(systemClock, 150), { clock, timeoutMs: 20, intervalMs: 10 });
    expect(clock.monotonicMs()).to.equal(20);
  });

  for (const clock of [new VirtualClock(), undefined]) {
    it(`times out if a check never ends, on ${clock ? 'a virtual' : 'the real'} clock`, async () => {
      const never = new Promise(() => undefined);
      const error = await failureOf(eventually(() => never, { clock, timeoutMs: 20 }));
      expect(error.message).to.match(/the last try did not end$/);
    });
  }

  it('accepts an attempt that succeeds at the deadline', async () => {
    let nowMs = 0;
    const clock: Clock = {
      ...systemClock,
      monotonicMs: () => nowMs,
      setTimer: (callback, delayMs) =>
        systemClock.setTimer(() => {
          nowMs += delayMs;
          callback();
        }, 0),
    };
    const check = (): void => void expect(nowMs).to.equal(50);
    await eventually(check, { clock, timeoutMs: 50, intervalMs: 30 });
  });

  it('waits in real time between two attempts if it has no virtual clock', async () => {
    let tries = 0;
    const check = (): never => {
      tries++;
      throw new Error('no');
    };
    await failureOf(eventually(check, { timeoutMs: 50, intervalMs: 20 }));
    expect(tries).to.be.within(2, 6);
  });

  it('ends when its signal is aborted', async () => {
    const stop = new AbortController();
    const never = new Promise(() => undefined);
    const waiting = eventually(() => never, { signal: stop.signal });
    stop.abort(new Error('enough'));
    expect((await failureOf(waiting)).message).to.equal('enough');
  });

  for (const options of [{ timeoutMs: 0 }, { intervalMs: 0 }, { timeoutMs: NaN }]) {
    it(`rejects the options ${Object.entries(options).join()}`, async () => {
      const error = await failureOf(eventually(() => undefined, options));
      expect(error).to.have.property('code', 'InvalidOption');
    });
  }
});
