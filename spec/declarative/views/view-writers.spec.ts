import { expect } from 'chai';
import { nextTurn } from '../../../lib/system/event-loop.js';
import { ViewWriters } from '../../../lib/declarative/views/view-writers.js';

/** A controller that has not written yet. */
function writer(sources: readonly string[], target: string) {
  return { sources, target, isTried: false };
}

async function isWaiting(wait: Promise<void>): Promise<boolean> {
  const over = { is: false };
  void wait.then(() => (over.is = true));
  await nextTurn();
  return !over.is;
}

describe('ViewWriters', () => {
  const { signal } = new AbortController();

  it('have a reader wait until each writer of what it reads has written, or is gone', async () => {
    const writers = new ViewWriters();
    const [one, other, reader] = [writer([], 'V'), writer([], 'W'), writer(['V', 'W'], 'X')];
    writers.add(one);
    const leave = writers.add(other);
    writers.add(reader);
    const wait = writers.whenWritten(reader, signal);
    expect(await isWaiting(wait)).to.equal(true);
    one.isTried = true;
    writers.notify();
    expect(await isWaiting(wait)).to.equal(true);
    leave();
    expect(await isWaiting(wait)).to.equal(false);
  });

  it('have nobody wait for itself, or for those in a circle with it', async () => {
    const writers = new ViewWriters();
    const circle = [writer(['A'], 'B'), writer(['B'], 'C'), writer(['C', 'C2'], 'A')] as const;
    const own = writer(['S'], 'S');
    for (const each of [...circle, own]) writers.add(each);
    for (const each of [...circle, own]) {
      expect(await isWaiting(writers.whenWritten(each, signal))).to.equal(false);
    }
    // What feeds the circle is waited for.
    writers.add(writer([], 'C2'));
    expect(await isWaiting(writers.whenWritten(circle[2], signal))).to.equal(true);
  });

  it('let a wait end with its signal', async () => {
    const writers = new ViewWriters();
    writers.add(writer([], 'V'));
    const ended = new AbortController();
    const wait = writers.whenWritten(writer(['V'], 'W'), ended.signal);
    ended.abort(new Error('enough'));
    expect(await wait.catch(String)).to.equal('Error: enough');
  });
});
