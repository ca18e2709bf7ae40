import { setMember } from '../object/json.js';

/** A copy of `object` without the members of these names; what is left is shared. */
export function withoutMembers<T extends object, K extends string>(
  object: T,
  ...names: readonly K[]
): Omit<T, K> {
  const rest: Record<string, unknown> = {};
  // Not a copy with members deleted: engines keep such objects in a slower form.
  for (const [name, value] of Object.entries(object)) {
    if (!(names as readonly string[]).includes(name)) setMember(rest, name, value);
  }
  return rest as Omit<T, K>;
}
