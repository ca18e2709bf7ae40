/** A status field that counts something: left out at zero, as Go's `omitempty` leaves it out. */
export function counted<Name extends string>(
  name: Name,
  count: number,
): Partial<Record<Name, number>> {
  return count === 0 ? {} : ({ [name]: count } as Record<Name, number>);
}
