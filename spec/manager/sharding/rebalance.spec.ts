import { expect } from 'chai';
import fc from 'fast-check';
import {
  formatAssignment,
  parseAssignment,
  rebalance,
} from '../../../lib/manager/sharding/assignment.js';

const members = ['a', 'b', 'c', 'd', 'e'];
const anySlots = fc.array(fc.option(fc.constantFrom(...members), { nil: undefined }), {
  minLength: 1,
  maxLength: 60,
});
const anyMembers = fc.subarray(members, { minLength: 1 });

const count = (slots: readonly (string | undefined)[], member: string): number =>
  slots.filter((owner) => owner === member).length;

describe('rebalance', () => {
  it('assigns all slots in shares that differ by at most one', () => {
    const property = fc.property(anySlots, anyMembers, (slots, wanted) => {
      const shares = wanted.map((member) => count(rebalance(slots, wanted), member));
      expect(shares.reduce((sum, share) => sum + share)).to.equal(slots.length);
      expect(Math.max(...shares) - Math.min(...shares)).to.be.at.most(1);
    });
    fc.assert(property);
  });

  it('moves only as many slots as even shares require', () => {
    const property = fc.property(anySlots, anyMembers, (slots, wanted) => {
      const after = rebalance(slots, wanted);
      const moved = slots.filter((owner, slot) => owner !== after[slot]).length;
      const low = Math.floor(slots.length / wanted.length);
      let more = slots.length % wanted.length;
      // The most that can stay: each member keeps up to the lower share, and some keep one more.
      let kept = 0;
      for (const member of wanted) {
        const had = count(slots, member);
        kept += Math.min(had, low);
        if (had > low && more > 0) {
          kept++;
          more--;
        }
      }
      expect(moved).to.equal(slots.length - kept);
    });
    fc.assert(property);
  });

  it('moves only the slots that a dead member leaves or a new member needs', () => {
    const three = rebalance(Array<undefined>(1_024).fill(undefined), ['a', 'b', 'c']);
    const two = rebalance(three, ['a', 'c']);
    expect(two.filter((owner, slot) => owner !== three[slot])).to.have.length(count(three, 'b'));
    const four = rebalance(three, ['a', 'b', 'c', 'd']);
    expect(four.filter((owner, slot) => owner !== three[slot])).to.have.length(256);
  });

  it('keeps the shares of 100 replicas within a factor of 1.3', () => {
    const many = Array.from({ length: 100 }, (_, n) => `member-${n}`);
    const slots = rebalance(Array<undefined>(1_024).fill(undefined), many);
    const shares = many.map((member) => count(slots, member));
    expect(Math.max(...shares) / Math.min(...shares)).to.be.below(1.3);
  });
});

describe('parseAssignment and formatAssignment', () => {
  const anyAssignment = fc.record({
    epoch: fc.integer({ min: 1 }),
    slots: fc.array(
      fc.tuple(
        fc.option(fc.constantFrom(...members), { nil: undefined }),
        fc.option(fc.constantFrom(...members), { nil: undefined }),
      ),
      { minLength: 1, maxLength: 60 },
    ),
    awaited: fc
      .uniqueArray(fc.constantFrom(...members))
      .map((names) => new Map(names.map((name, n) => [name, n + 1]))),
  });

  it('parses a formatted assignment', () => {
    const property = fc.property(anyAssignment, ({ epoch, slots, awaited }) => {
      const holders = slots.map(([holder]) => holder);
      const targets = slots.map(([, target]) => target);
      const text = formatAssignment({ epoch, holders, targets, awaited });
      expect(parseAssignment(text, slots.length)).to.deep.equal({
        epoch,
        holders,
        targets,
        awaited,
      });
    });
    fc.assert(property);
  });

  it('formats an assignment to 100 replicas in at most 15 KB', () => {
    const names = Array.from(
      { length: 100 },
      (_, n) => `operator-name-${String(n).padStart(8, '0')}`,
    );
    const holders = Array.from({ length: 1_024 }, (_, slot) => names[(slot * 37) % 100]);
    const targets = holders.map((_, slot) => names[(slot * 41) % 100]);
    const awaited = new Map(names.map((name) => [name, 1_000_000]));
    const text = formatAssignment({ epoch: 1_000_000, holders, targets, awaited });
    expect(text.length).to.be.below(15_000);
  });

  const good = { epoch: 1, members: ['a'], slots: '2*0', awaited: {} };
  for (const bad of [
    { epoch: 0 },
    { members: [] },
    { slots: '1*0' },
    { slots: '3*0' },
    { slots: '2*x' },
    { awaited: { a: 'b' } },
  ]) {
    it(`rejects ${JSON.stringify(bad)}`, () => {
      const parse = () => parseAssignment(JSON.stringify({ ...good, ...bad }), 2);
      expect(parse).to.throw("can't be read").with.property('code', 'InvalidObject');
    });
  }

  it('rejects invalid JSON', () => {
    expect(() => parseAssignment('', 2)).to.throw('not JSON');
  });
});
