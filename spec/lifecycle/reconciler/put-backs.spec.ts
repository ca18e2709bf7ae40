import { expect } from 'chai';
import { PutBacks } from '../../../lib/lifecycle/reconciler/merged-object.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import type { Clock } from '../../../lib/system/clock.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

function object(resourceVersion: string, members: object = {}): UnstructuredObject {
  const metadata = { name: 'web', uid: 'u', resourceVersion };
  return { apiVersion: 'v1', kind: 'Service', metadata, ...members };
}

describe('PutBacks', () => {
  it('remembers a reverted write for an hour, while the object and the desired state are unchanged', async () => {
    const clock = new VirtualClock();
    const putBacks = new PutBacks(clock);
    const [current, merged] = [object('1'), object('1', { spec: {} })];
    expect(putBacks.has(current, merged)).to.equal(false);
    putBacks.add(current, merged);
    expect(putBacks.has(object('1'), object('1', { spec: {} }))).to.equal(true);
    expect(putBacks.has(object('2'), merged)).to.equal(false);
    expect(putBacks.has(current, object('1', { spec: { type: 'NodePort' } }))).to.equal(false);
    await clock.advance(3_600_000);
    expect(putBacks.has(current, merged)).to.equal(false);
  });

  it('measures the hour by the monotonic clock', async () => {
    const machine = new VirtualClock();
    let offsetMs = 0;
    const clock: Clock = {
      now: () => machine.now() + offsetMs,
      monotonicMs: () => machine.monotonicMs(),
      setTimer: (callback, delayMs) => machine.setTimer(callback, delayMs),
    };
    const putBacks = new PutBacks(clock);
    const [current, merged] = [object('1'), object('1', { spec: {} })];
    putBacks.add(current, merged);
    offsetMs = 7_200_000;
    expect(putBacks.has(current, merged)).to.equal(true);
    offsetMs = -7_200_000;
    await machine.advance(3_600_000);
    expect(putBacks.has(current, merged)).to.equal(false);
  });
});
