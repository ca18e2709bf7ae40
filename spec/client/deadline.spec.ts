import { getEventListeners, getMaxListeners, setMaxListeners } from 'node:events';
import { expect } from 'chai';
import { Deadline } from '../../lib/client/request-limits.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { failureOf } from './scripted-transport.js';

describe('Deadline', () => {
  it('expires after its time', async () => {
    const clock = new VirtualClock();
    const deadline = new Deadline(undefined, clock, 100);
    await clock.advance(99);
    expect(deadline.signal.aborted).to.equal(false);
    await clock.advance(1);
    expect(deadline).to.have.property('expired', true);
    expect(deadline.signal.aborted).to.equal(true);
  });

  it('aborts with the reason of its source signal, and does not count as expired', () => {
    const source = new AbortController();
    const deadline = new Deadline(source.signal, new VirtualClock(), Infinity);
    source.abort(new Error('enough'));
    expect(deadline.signal.reason).to.have.property('message', 'enough');
    expect(deadline.expired).to.equal(false);
  });

  it('leaves no listener on its source signal after its release', () => {
    const { signal } = new AbortController();
    const deadline = new Deadline(signal, new VirtualClock(), Infinity);
    expect(getEventListeners(signal, 'abort')).to.have.lengthOf(1);
    deadline.release();
    expect(getEventListeners(signal, 'abort')).to.have.lengthOf(0);
  });

  it('lets many concurrent requests share a signal without a warning from Node', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): number => warnings.push(warning);
    process.on('warning', onWarning);
    const { signal } = new AbortController();
    const clock = new VirtualClock();
    const deadlines = Array.from({ length: 100 }, () => new Deadline(signal, clock, Infinity));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', onWarning);
    for (const deadline of deadlines) deadline.release();
    // Unrelated warnings are ignored.
    const names = warnings.map(({ name }) => name);
    expect(names).not.to.include('MaxListenersExceededWarning');
  });

  it('keeps a listener limit that the caller set for a signal, zero included', () => {
    for (const limit of [0, 3]) {
      const source = new AbortController();
      setMaxListeners(limit, source.signal);
      const deadline = new Deadline(source.signal, new VirtualClock(), Infinity);
      source.abort();
      expect(deadline.signal.aborted).to.equal(true);
      if (limit > 0) expect(getMaxListeners(source.signal)).to.equal(limit);
    }
  });

  it('is aborted from the start if its source signal is aborted', () => {
    const clock = new VirtualClock();
    const deadline = new Deadline(AbortSignal.abort(), clock, 100);
    expect(deadline.signal.aborted).to.equal(true);
    expect(clock.pendingTimers).to.equal(0);
  });

  it('can be restarted with another time', async () => {
    const clock = new VirtualClock();
    const deadline = new Deadline(undefined, clock, 100);
    deadline.restart(clock, 1_000);
    await clock.advance(999);
    expect(deadline.expired).to.equal(false);
    deadline.restart(clock, Infinity);
    expect(clock.pendingTimers).to.equal(0);
  });

  it('rejects a wait when its time expires', async () => {
    const clock = new VirtualClock();
    const deadline = new Deadline(undefined, clock, 100);
    expect(await deadline.until(7)).to.equal(7);
    expect(await deadline.until(Promise.resolve(8))).to.equal(8);
    const failure = failureOf(deadline.until(new Promise(() => undefined)));
    await clock.advance(100);
    await failure;
    await failureOf(deadline.until(new Promise(() => undefined)));
  });
});
