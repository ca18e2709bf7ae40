import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { ChangeNotifier } from '../../lib/cache/change-notifier.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

describe('ChangeNotifier', () => {
  it('waits until a condition holds, the timeout expires or the signal aborts', async () => {
    const changes = new ChangeNotifier();
    const clock = new VirtualClock();
    const ended = new AbortController();
    const timeout = { clock, ms: 100 };
    let isOn = false;
    const waits = [
      changes.until(() => isOn, { timeout: { clock, ms: 1_000 }, signal: ended.signal }),
      changes.until(() => false, { timeout }),
      changes.until(() => false, { signal: ended.signal, timeout }).catch(() => 'aborted'),
      changes.until(() => true),
    ];
    await clock.advance(50);
    isOn = true;
    changes.notify();
    await clock.advance(0);
    ended.abort();
    await clock.advance(50);
    expect(await Promise.all(waits)).to.deep.equal([true, false, 'aborted', true]);
    expect([changes.listeners, clock.pendingTimers]).to.deep.equal([0, 0]);
    expect(getEventListeners(ended.signal, 'abort')).to.deep.equal([]);
  });

  it('rejects a wait only if the condition of this wait throws', async () => {
    const changes = new ChangeNotifier();
    let [isBroken, told] = [false, 0];
    const failed = changes
      .until(() => {
        if (isBroken) throw new Error('broken condition');
        return false;
      })
      .catch((error: unknown) => error);
    changes.listen(() => told++);
    isBroken = true;
    changes.notify();
    expect(told).to.equal(1);
    expect(await failed).to.have.property('message', 'broken condition');
    expect(changes.listeners).to.equal(1);
  });

  it('notifies a listener until the listener is removed', () => {
    const changes = new ChangeNotifier();
    let told = 0;
    const end = changes.listen(() => told++);
    changes.notify();
    end();
    changes.notify();
    expect(told).to.equal(1);
  });
});
