import { expect } from 'chai';
import type { StoredAssignment } from '../../../lib/manager/sharding/assignment.js';
import { Possession } from '../../../lib/manager/sharding/possession.js';

/**
 * Returns a record of slots by holder: `a`, `b` or `-` for none. Upper case means that the slot is
 * to be released.
 */
function record(epoch: number, slots: string, uid = 'r'): StoredAssignment {
  const holders = slots.split('').map((at) => (at === '-' ? undefined : at.toLowerCase()));
  const targets = slots.split('').map((at) => (/[A-Z]/.test(at) ? 'other' : undefined));
  return { uid, resourceVersion: String(epoch), epoch, holders, targets, awaited: new Map() };
}

function memberA(slots: string): Possession {
  const possession = new Possession(slots.length);
  possession.join('a');
  possession.reopen();
  possession.see(record(1, slots));
  return possession;
}

describe('Possession, the slots that one replica owns', () => {
  it('owns the slots that the record assigns to it, and acknowledges the record at once', () => {
    const possession = memberA('aab-');
    expect(possession.owned).to.deep.equal([0, 1]);
    expect(possession.acknowledged).to.deep.equal({ record: 'r', epoch: 1 });
  });

  it('acknowledges an epoch when the work on the slots that it takes away has ended', () => {
    const possession = memberA('aa');
    const { drain = 0 } = possession.see(record(2, 'aA'));
    expect([possession.owns(1), possession.holds(1)]).to.deep.equal([false, true]);
    expect(possession.acknowledged?.epoch).to.equal(1);
    possession.drained(drain);
    expect([possession.holds(1), possession.acknowledged?.epoch]).to.deep.equal([false, 2]);
  });

  it('acknowledges the newest epoch, without the epochs that it has missed', () => {
    const possession = memberA('aa');
    const { drain = 0 } = possession.see(record(9, 'aA'));
    expect(possession.acknowledged?.epoch).to.equal(1);
    possession.drained(drain);
    expect(possession.acknowledged?.epoch).to.equal(9);
  });

  it('acknowledges an epoch whose slots are released while slots of a later epoch are not', () => {
    const possession = memberA('aaa');
    const first = possession.see(record(2, 'aaA'));
    possession.see(record(3, 'aAA'));
    possession.drained(first.drain ?? 0);
    expect(possession.acknowledged?.epoch).to.equal(2);
  });

  it('does not own a slot again because of a record that is older than one it has seen', () => {
    const possession = memberA('aa');
    possession.drained(possession.see(record(2, 'aA')).drain ?? 0);
    possession.see(record(1, 'aa'));
    expect(possession.owned).to.deep.equal([0]);
    possession.drained(possession.see(record(1, '--', 'another')).drain ?? 0);
    possession.see(record(7, 'aa', 'r'));
    expect(possession.owned).to.deep.equal([]);
  });

  it('owns a slot that it gets back only after the earlier work on the slot has ended', () => {
    const possession = memberA('a');
    const { drain = 0 } = possession.see(record(2, 'A'));
    expect(possession.see(record(3, 'a')).acquired).to.deep.equal([]);
    expect(possession.drained(drain).acquired).to.deep.equal([0]);
  });

  it('owns nothing while the lease is stale, and the same slots when it is fresh again', () => {
    const possession = memberA('ab');
    const { drain = 0 } = possession.lapse();
    expect(possession.owned).to.deep.equal([]);
    possession.drained(drain);
    expect(possession.reopen().acquired).to.deep.equal([0]);
  });

  it('holds nothing after its replica is expelled, even when the replica joins under another name', () => {
    const possession = memberA('aa');
    possession.see(record(2, 'aA'));
    possession.expelled();
    expect([possession.holds(0), possession.holds(1)]).to.deep.equal([false, false]);
    possession.join('b');
    possession.reopen();
    possession.see(record(3, 'bb'));
    expect([possession.holds(0), possession.holds(1)]).to.deep.equal([false, false]);
  });

  it('acquires no more slots after its replica begins to leave', () => {
    const possession = memberA('a-');
    const { drain = 0 } = possession.leave();
    possession.see(record(2, 'aa'));
    expect(possession.drained(drain).acquired).to.deep.equal([]);
    expect(possession.isDrained).to.equal(true);
  });
});
