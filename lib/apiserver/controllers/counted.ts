/** Returns a status field with a count, or no field if the count is zero, as Go's `omitempty` does. */
export function counted<Name extends string>(
  name: Name,
  count: number,
): Partial<Record<Name, number>> {
  return count === 0 ? {} : ({ [name]: count } as Record<Name, number>);
}
