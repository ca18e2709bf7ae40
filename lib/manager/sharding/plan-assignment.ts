import type { Assignment, StoredAssignment } from './assignment.js';
import { rebalance } from './rebalance.js';

/** State of a member, as the leader knows it. */
export type MemberStanding =
  /** It may hold slots; `acknowledged`: an epoch of the current record, or 0. */
  | { readonly type: 'live'; readonly acknowledged: number }
  /** Its Lease is missing for an unknown reason: it may hold slots, and gets no new ones. */
  | { readonly type: 'missing' }
  /** It holds no slots and never returns under this name. */
  | { readonly type: 'gone' };

/** Input of a plan. */
export interface AssignmentFacts {
  readonly record: StoredAssignment | undefined;
  readonly slotCount: number;
  readonly standingOf: (member: string) => MemberStanding;
  /** Members that may get slots, the oldest first. */
  readonly candidates: readonly string[];
  /** Members that may hold slots of a lost record, if there is no record. */
  readonly mayHold: readonly string[];
}

/**
 * Returns the next epoch. Slots that their holders have acknowledged or left are reassigned. Every slot gets
 * a target so that all candidates have equal shares with as few moves as possible. The plan depends only on
 * facts that stay true (an acknowledgement, an end), and is stored only over the record that was read. Two
 * members that both act as leader therefore do no harm.
 * @returns undefined if there is nothing to change
 */
export function planAssignment(facts: AssignmentFacts): Assignment | undefined {
  const { record, candidates } = facts;
  if (candidates.length === 0) return undefined;
  if (record === undefined) return firstAssignment(facts);
  if (isOpening(record) && [...record.awaited.keys()].some((member) => !gaveUp(facts, member))) {
    return undefined;
  }
  const current = record.holders.map((holder, slot) => {
    if (holder === undefined || facts.standingOf(holder).type === 'gone') return undefined;
    return record.targets[slot] !== undefined && gaveUp(facts, holder) ? undefined : holder;
  });
  const wanted = current.map((holder, slot) => {
    const target = record.targets[slot];
    return target !== undefined && candidates.includes(target) ? target : holder;
  });
  const desired = rebalance(wanted, candidates);
  const holders = current.map((holder, slot) => holder ?? desired[slot]);
  const targets = holders.map((holder, slot) =>
    holder === desired[slot] ? undefined : desired[slot],
  );
  const epoch = record.epoch + 1;
  const next = { epoch, holders, targets, awaited: awaitedIn(record, { epoch, holders, targets }) };
  return isSame(record, next) ? undefined : next;
}

/**
 * Returns the first assignment, if there is no record or it was lost. If members may still hold slots of a
 * lost record, all slots stay free until these members acknowledge the new record.
 */
function firstAssignment({ slotCount, candidates, mayHold }: AssignmentFacts): Assignment {
  const nobody = Array<undefined>(slotCount).fill(undefined);
  const holders = mayHold.length === 0 ? rebalance(nobody, candidates) : nobody;
  const awaited = new Map(mayHold.map((member) => [member, 1]));
  return { epoch: 1, holders, targets: nobody, awaited };
}

function isOpening({ holders, awaited }: Assignment): boolean {
  return awaited.size > 0 && holders.every((holder) => holder === undefined);
}

/** Returns whether `member` certainly holds none of the slots that it had to release. */
function gaveUp({ record, standingOf }: AssignmentFacts, member: string): boolean {
  const standing = standingOf(member);
  switch (standing.type) {
    case 'gone':
      return true;
    case 'missing':
      return false;
    case 'live':
      return standing.acknowledged >= (record?.awaited.get(member) ?? Infinity);
  }
}

/** A member with more slots to release than before must acknowledge the new epoch. */
function awaitedIn(
  record: Assignment,
  next: Pick<Assignment, 'epoch' | 'holders' | 'targets'>,
): ReadonlyMap<string, number> {
  const awaited = new Map<string, number>();
  next.holders.forEach((holder, slot) => {
    if (holder === undefined || next.targets[slot] === undefined) return;
    const before = record.targets[slot] === undefined ? undefined : record.awaited.get(holder);
    awaited.set(holder, Math.max(before ?? next.epoch, awaited.get(holder) ?? 0));
  });
  return awaited;
}

function isSame(one: Assignment, other: Assignment): boolean {
  const sameSlots = one.holders.every(
    (holder, slot) => holder === other.holders[slot] && one.targets[slot] === other.targets[slot],
  );
  const sameAwaited = [...one.awaited].every(([name, epoch]) => other.awaited.get(name) === epoch);
  return sameSlots && sameAwaited && one.awaited.size === other.awaited.size;
}
