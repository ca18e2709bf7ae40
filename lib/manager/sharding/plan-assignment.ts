import type { Assignment, StoredAssignment } from './assignment.js';
import { rebalance } from './rebalance.js';

/** What the leader knows of a member. */
export type MemberStanding =
  /** It may hold slots; `acknowledged`: the epoch of the present record, 0: none. */
  | { readonly type: 'live'; readonly acknowledged: number }
  /** Its Lease has vanished, nobody knows why: it may hold slots, and gets none. */
  | { readonly type: 'missing' }
  /** It holds nothing and never will again under this name. */
  | { readonly type: 'gone' };

/** What a plan is made of. */
export interface AssignmentFacts {
  readonly record: StoredAssignment | undefined;
  readonly slotCount: number;
  readonly standingOf: (member: string) => MemberStanding;
  /** Who may be given slots, the oldest first. */
  readonly candidates: readonly string[];
  /** Who may hold slots of a record that is lost, where there is none (any more). */
  readonly mayHold: readonly string[];
}

/**
 * The next epoch: what holders acknowledged or left behind is given on, and every slot gets a target
 * such that all candidates have the same share, with as few moves as that takes. It is a function of
 * facts that stay true (an acknowledgement, an end), and is stored only over the very record that
 * was read: so it does no harm when two believe to be the leader.
 * @returns undefined: nothing is to be changed
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

/** No record, or a lost one: nothing is given away before all members know that it is a new one. */
function firstAssignment({ slotCount, candidates, mayHold }: AssignmentFacts): Assignment {
  const nobody = Array<undefined>(slotCount).fill(undefined);
  const holders = mayHold.length === 0 ? rebalance(nobody, candidates) : nobody;
  const awaited = new Map(mayHold.map((member) => [member, 1]));
  return { epoch: 1, holders, targets: nobody, awaited };
}

function isOpening({ holders, awaited }: Assignment): boolean {
  return awaited.size > 0 && holders.every((holder) => holder === undefined);
}

/** Whether `member` surely holds nothing of what it was told to give up. */
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

/** A member that has more to give up than before has to acknowledge the new epoch. */
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
