/**
 * Gives every slot to one of `members`, as evenly as it goes (shares differ by one at most), and
 * changes as few of `slots` as that takes. Slots of others, or nobody's (undefined), are given away.
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
  // In order of the slots and one member after the other: what a member gets is in few pieces.
  const takers = [...left].flatMap(([member, quota]) => Array<string>(quota).fill(member));
  return kept.map((member) => member ?? takers.shift());
}

/** How many slots each member is to have: who has most keeps the one more that some must have. */
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
