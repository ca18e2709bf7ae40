import { expect } from 'chai';
import { LeaseFence, momentOf } from '../../lib/manager/lease-claim.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

const validMs = 2_000;

describe('The fence that refuses writes without a valid Lease', () => {
  let clock: VirtualClock;
  let fence: LeaseFence;

  beforeEach(() => {
    clock = new VirtualClock();
    fence = new LeaseFence({ clock, validMs, lease: 'default/operator' }, momentOf(clock));
  });

  it('closes at its deadline, not after it', async () => {
    await clock.advance(validMs - 1);
    fence.check('a write');
    await clock.advance(1);
    expect(() => fence.check('a write')).to.throw(/not renewed for 2000 ms/);
  });

  it('counts the deadline from the start of a renewal instead of its end', async () => {
    await clock.advance(500);
    const started = momentOf(clock);
    await clock.advance(1_000);
    expect([fence.renew(started), fence.remainingMs]).to.deep.equal([true, 1_000]);
  });

  it('aborts running writes when the Lease is lost, and refuses later writes with the cause of the loss', async () => {
    expect(fence.lost.aborted).to.equal(false);
    const cause = new OperatorError('LeadershipLost', 'another holder took it');
    fence.close(cause);
    expect([fence.lost.aborted, fence.lost.reason, fence.remainingMs]).to.deep.equal([
      ...[true, cause, 0],
    ]);
    expect(fence.renew(momentOf(clock))).to.equal(false);
    expect(() => fence.check('update'))
      .to.throw('update: not sent, because Lease default/operator is no longer held: it was lost')
      .that.includes({ code: 'Fenced', cause });
  });

  it('stays closed after a renewal that ends after the deadline', async () => {
    await clock.advance(500);
    const started = momentOf(clock);
    await clock.advance(1_500);
    expect([fence.renew(started), fence.remainingMs]).to.deep.equal([false, 0]);
    expect(() => fence.check('a write')).to.throw(/not sent/);
  });
});
