import { expect } from 'chai';
import { StatusPace } from '../../../lib/declarative/crd/status-record.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

describe('StatusPace, which limits how often a status is written', () => {
  it('allows the first status at once, and then one per second and operator', async () => {
    const clock = new VirtualClock();
    const pace = new StatusPace(clock);
    expect(pace.waitMs('shop')).to.equal(0);
    pace.written('shop');
    await clock.advance(400);
    expect([pace.waitMs('shop'), pace.waitMs('other')]).to.deep.equal([600, 0]);
    await clock.advance(600);
    expect(pace.waitMs('shop')).to.equal(0);
  });

  it('delays a status that is likely to change soon by a second, but only once', async () => {
    const clock = new VirtualClock();
    const pace = new StatusPace(clock);
    expect([pace.calmMs('shop'), pace.waitMs('shop')]).to.deep.equal([1_000, 0]);
    await clock.advance(1_000);
    expect(pace.calmMs('shop')).to.equal(0);
    pace.written('shop');
    pace.forget('shop');
    expect(pace.waitMs('shop')).to.equal(0);
  });
});
