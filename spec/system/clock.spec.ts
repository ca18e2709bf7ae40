import { expect } from 'chai';
import {
  endsWithin,
  nextTurn,
  sleep,
  systemClock,
  turnIfDue,
  untilAborted,
} from '../../lib/system/clock.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

describe('systemClock', () => {
  it('returns the time of the machine', () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(now).to.be.within(before, Date.now());
  });

  it('has a monotonic time that never decreases', () => {
    const times = Array.from({ length: 100 }, () => systemClock.monotonicMs());
    expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
  });

  it('fires a timer after its delay', async () => {
    const start = systemClock.monotonicMs();
    await sleep(systemClock, 3);
    // Node's timers round to the millisecond.
    expect(systemClock.monotonicMs() - start).to.be.at.least(2);
  });

  it('does not fire a cancelled timer', async () => {
    let fired = false;
    systemClock.setTimer(() => (fired = true), 1).cancel();
    await sleep(systemClock, 3);
    expect(fired).to.equal(false);
  });

  it('does not fire at once for a delay that exceeds the limit of setTimeout', async () => {
    let fired = false;
    const timer = systemClock.setTimer(() => (fired = true), 2 ** 31);
    await sleep(systemClock, 3);
    timer.cancel();
    expect(fired).to.equal(false);
  });

  it('waits in several steps for a delay that exceeds the limit of setTimeout', () => {
    const own = Object.getOwnPropertyDescriptor(globalThis, 'setTimeout')!;
    const steps: { readonly delayMs: number; readonly fire: () => void }[] = [];
    globalThis.setTimeout = ((fire: () => void, delayMs: number): void => {
      steps.push({ delayMs, fire });
    }) as unknown as typeof setTimeout;
    let fired = 0;
    try {
      systemClock.setTimer(() => fired++, 2 ** 31 + 99);
      steps[0]?.fire();
      expect(fired).to.equal(0);
      steps[1]?.fire();
      expect(fired).to.equal(1);
      systemClock.setTimer(() => fired++, -1);
    } finally {
      Object.defineProperty(globalThis, 'setTimeout', own);
    }
    expect(steps.map(({ delayMs }) => delayMs)).to.deep.equal([2 ** 31 - 1, 100, 0]);
  });
});

describe('nextTurn', () => {
  it('resolves after I/O that was pending has been served', async () => {
    let served = false;
    setImmediate(() => (served = true));
    await nextTurn();
    expect(served).to.equal(true);
  });
});

describe('turnIfDue', () => {
  it('waits for a turn of the event loop only if the last turn was more than 10 ms ago', async () => {
    await nextTurn();
    const now = performance.now.bind(performance);
    let passedMs = 0;
    const startMs = now();
    performance.now = () => startMs + passedMs;
    try {
      expect(turnIfDue()).to.equal(undefined);
      passedMs = 10;
      expect(turnIfDue()).to.equal(undefined);
      passedMs = 11;
      expect(turnIfDue()).to.be.instanceOf(Promise);
      await nextTurn();
      expect(turnIfDue()).to.equal(undefined);
      passedMs = 21;
      expect(turnIfDue()).to.equal(undefined);
    } finally {
      performance.now = now;
    }
    await nextTurn();
  });
});

describe('endsWithin', () => {
  it('resolves to whether the work ended in time, and leaves no timer', async () => {
    const clock = new VirtualClock();
    expect(await endsWithin(Promise.resolve(), 5, clock)).to.equal(true);
    expect(clock.pendingTimers).to.equal(0);
    const late = endsWithin(new Promise(() => undefined), 5, clock);
    await clock.advance(5);
    expect(await late).to.equal(false);
  });
});

describe('untilAborted', () => {
  it("rejects with the signal's reason before or during the work, and otherwise returns the result", async () => {
    const reason = new Error('enough');
    const never = new Promise<never>(() => undefined);
    const controller = new AbortController();
    const outcome = untilAborted(never, controller.signal).catch((error: unknown) => error);
    controller.abort(reason);
    expect(await outcome).to.equal(reason);
    expect(await untilAborted(never, controller.signal).catch((error: unknown) => error)).to.equal(
      reason,
    );
    expect(await untilAborted(Promise.resolve(3), new AbortController().signal)).to.equal(3);
  });
});

describe('sleep', () => {
  it('resolves after the given time', async () => {
    const clock = new VirtualClock();
    let woke = false;
    const slept = sleep(clock, 100).then(() => (woke = true));
    await clock.advance(99);
    expect(woke).to.equal(false);
    await clock.advance(1);
    await slept;
    expect(woke).to.equal(true);
  });

  it("rejects at once with the signal's reason, and leaves no timer", async () => {
    const clock = new VirtualClock();
    const controller = new AbortController();
    const slept = sleep(clock, 100, controller.signal).catch((error: unknown) => error);
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await slept).to.equal(reason);
    expect(clock.pendingTimers).to.equal(0);
    expect(await sleep(clock, 1, controller.signal).catch((error: unknown) => error)).to.equal(
      reason,
    );
    expect(clock.pendingTimers).to.equal(0);
  });

  it('leaves no listener on a long-lived signal', async () => {
    const clock = new VirtualClock();
    const signal = new AbortController().signal;
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    const slept = sleep(clock, 1, signal);
    expect(listeners).to.equal(1);
    await clock.advance(1);
    await slept;
    expect(listeners).to.equal(0);
  });
});
