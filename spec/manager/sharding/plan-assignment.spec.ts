import { expect } from 'chai';
import { planAssignment } from '../../../lib/manager/sharding/assignment.js';
import type {
  AssignmentFacts,
  MemberStanding,
  StoredAssignment,
} from '../../../lib/manager/sharding/assignment.js';

/**
 * Returns slots by holder and target: `a` for a slot that `a` holds, `ab` for one that moves from `a` to `b`, `-` for
 * a free one.
 */
function slotsIn(text: string): Pick<StoredAssignment, 'holders' | 'targets'> {
  const slots = text.split(' ');
  const name = (at: string | undefined) => (at === undefined || at === '-' ? undefined : at);
  return {
    holders: slots.map(([holder]) => name(holder)),
    targets: slots.map(([, target]) => name(target)),
  };
}

function record(epoch: number, slots: string, awaited: Record<string, number> = {}) {
  const named = { ...slotsIn(slots), awaited: new Map(Object.entries(awaited)) };
  return { uid: 'r', resourceVersion: '1', epoch, ...named };
}

/** Returns the next assignment, in the form of {@link record}. Members without a standing have acknowledged nothing. */
function planned(
  before: StoredAssignment | undefined,
  candidates: string,
  facts: Partial<AssignmentFacts> & { readonly standings?: Record<string, MemberStanding> } = {},
) {
  const { standings = {}, ...rest } = facts;
  const next = planAssignment({
    ...{ record: before, slotCount: 4, mayHold: [], candidates: candidates.split('') },
    standingOf: (member) => standings[member] ?? { type: 'live', acknowledged: 0 },
    ...rest,
  });
  if (next === undefined) return undefined;
  const slots = next.holders.map((holder, slot) => `${holder ?? '-'}${next.targets[slot] ?? ''}`);
  return [next.epoch, slots.join(' '), Object.fromEntries(next.awaited)];
}

const acknowledged = (epoch: number): MemberStanding => ({ type: 'live', acknowledged: epoch });
const gone = { type: 'gone' } as const;
const missing = { type: 'missing' } as const;

describe('planAssignment, which computes the next record of slots and members', () => {
  it('assigns all slots if there is no record yet, and nothing without a candidate', () => {
    expect(planned(undefined, 'ab')).to.deep.equal([1, 'a a b b', {}]);
    expect(planned(undefined, '')).to.equal(undefined);
    expect(planned(record(3, 'a a b b'), '')).to.equal(undefined);
  });

  it('changes nothing while every candidate has its share', () => {
    expect(planned(record(3, 'a a b b'), 'ab')).to.equal(undefined);
    expect(planned(record(3, 'a a ac b', { a: 3 }), 'abc')).to.equal(undefined);
  });

  it('assigns no slots after the record was lost until every member that may hold some has acknowledged the new record', () => {
    expect(planned(undefined, 'ab', { mayHold: ['a', 'b'] })).to.deep.equal([
      ...[1, '- - - -', { a: 1, b: 1 }],
    ]);
    const opening = record(1, '- - - -', { a: 1, b: 1 });
    for (const b of [acknowledged(0), missing]) {
      expect(planned(opening, 'ab', { standings: { a: acknowledged(1), b } })).to.equal(undefined);
    }
    for (const b of [acknowledged(1), gone]) {
      const standings = { a: acknowledged(1), b };
      expect(planned(opening, 'ab', { standings })).to.deep.equal([2, 'a a b b', {}]);
    }
  });

  it('moves a slot only after its holder has acknowledged the epoch in which it loses the slot', () => {
    expect(planned(record(3, 'a a a a'), 'ab')).to.deep.equal([4, 'a a ab ab', { a: 4 }]);
    const moving = record(4, 'a a ab ab', { a: 4 });
    expect(planned(moving, 'ab', { standings: { a: acknowledged(3) } })).to.equal(undefined);
    expect(planned(moving, 'ab', { standings: { a: missing } })).to.equal(undefined);
    expect(planned(moving, 'ab', { standings: { a: acknowledged(4) } })).to.deep.equal([
      ...[5, 'a a b b', {}],
    ]);
  });

  it('reassigns at once the slots of a member that has left for good, but not those of a member whose Lease is missing', () => {
    const both = record(3, 'a a b b');
    expect(planned(both, 'a', { standings: { b: gone } })).to.deep.equal([4, 'a a a a', {}]);
    expect(planned(both, 'a', { standings: { b: missing } })).to.deep.equal([
      ...[4, 'a a ba ba', { b: 4 }],
    ]);
  });

  it('waits until a member has acknowledged the newest epoch in which it loses a slot', () => {
    // `a` was to release one slot, and now another one too.
    expect(planned(record(4, 'a a a ab', { a: 4 }), 'bc')).to.deep.equal([
      ...[5, 'ab ac ac ab', { a: 5 }],
    ]);
    // `b` is to release a slot now; what `a` has to release stays the same.
    expect(planned(record(4, 'a ac b b', { a: 4 }), 'abc')).to.equal(undefined);
    expect(planned(record(4, 'a b b ac', { a: 4 }), 'acd')).to.deep.equal([
      ...[5, 'a ba bd ac', { a: 4, b: 5 }],
    ]);
  });

  it('gives a moving slot to another candidate, or back to its holder, if the candidate for it has left', () => {
    const moving = record(4, 'a a ab ab', { a: 4 });
    expect(planned(moving, 'a')).to.deep.equal([5, 'a a a a', {}]);
    expect(planned(moving, 'ac')).to.deep.equal([5, 'a a ac ac', { a: 4 }]);
    // The slots of `x` are free, but the slot of `c` does not move: no share requires it.
    const standings = { x: gone };
    expect(planned(record(4, 'cb x x a', { c: 4 }), 'ac', { standings })).to.deep.equal([
      ...[5, 'c a c a', {}],
    ]);
  });
});
