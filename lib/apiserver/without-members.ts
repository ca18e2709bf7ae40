import { setMember } from '../object/json.js';

/** Returns a copy of `object` without the members of these names. The copy shares the remaining values. */
export function withoutMembers<T extends object, K extends string>(
  object: T,
  ...names: readonly K[]
): Omit<T, K> {
  const rest: Record<string, unknown> = {};
  // Does not delete members from a copy: engines keep such objects in a slower form.
  for (const [name, value] of Object.entries(object)) {
    if (!(names as readonly string[]).includes(name)) setMember(rest, name, value);
  }
  return rest as Omit<T, K>;
}
