/**
 * Assigns every slot to one of `members`, with shares that differ by at most one and as few changes as
 * possible. Slots of other members and free slots (undefined) are reassigned.
 */
export function rebalance(
  slots: readonly (string | undefined)[],
  members: readonly string[],
): readonly (string | undefined)[] {
  if (members.length === 0) return slots.map(() => undefined);
  const left = new Map(quotas(slots, members));
  const kept = slots.map((member) => {
    const quota = (member !== undefined && left.get(member)) || 0;
    if (member === undefined || quota === 0) return undefined;
    left.set(member, quota - 1);
    return member;
  });
  // Assign in order of slots, member by member, so that each gets few contiguous runs.
  const takers = [...left].flatMap(([member, quota]) => Array<string>(quota).fill(member));
  return kept.map((member) => member ?? takers.shift());
}

/** Returns the number of slots for each member. Members with the most slots keep the remainder. */
function quotas(
  slots: readonly (string | undefined)[],
  members: readonly string[],
): readonly [string, number][] {
  const has = new Map(members.map((member) => [member, 0]));
  for (const member of slots) {
    const count = member === undefined ? undefined : has.get(member);
    if (member !== undefined && count !== undefined) has.set(member, count + 1);
  }
  const share = Math.floor(slots.length / members.length);
  const withMore = slots.length % members.length;
  const byCount = [...has].sort(([, one], [, other]) => other - one);
  const quota = new Map(byCount.map(([member], at) => [member, share + (at < withMore ? 1 : 0)]));
  return members.map((member) => [member, quota.get(member) ?? 0]);
}
