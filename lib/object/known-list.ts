/** What the maker of a long list knows of it, so that others need not go through it. */
export interface KnownList {
  /** Of all its items, in their order: lists of one digest are equal, others differ. */
  readonly digest: string;
  /** Of its JSON, about. */
  readonly bytes: number;
}

const known = new WeakMap<readonly unknown[], KnownList>();

/** Notes what is known of a frozen list that holds plain JSON without nulls in its maps. */
export function noteList(list: readonly unknown[], facts: KnownList): void {
  known.set(list, facts);
}

/** Shorter ones are looked through as quickly. */
export const shortestKnownList = 64;

/** What is known of a list; undefined: nothing. */
export function knownList(list: readonly unknown[]): KnownList | undefined {
  return list.length < shortestKnownList ? undefined : known.get(list);
}

/** About the bytes of a value's JSON; NaN: it has none, has nulls in maps, or nests deeper than `depth`. */
export function plainBytes(value: unknown, depth: number): number {
  if (typeof value === 'string') return Buffer.byteLength(value) + 2;
  if (typeof value === 'number') return Number.isFinite(value) ? 8 : NaN;
  if (typeof value === 'boolean') return 5;
  if (typeof value !== 'object' || value === null || depth === 0) return NaN;
  let bytes = 2;
  if (Array.isArray(value)) {
    const known = knownList(value)?.bytes;
    if (known !== undefined) return known;
    for (const item of value as unknown[]) bytes += item === null ? 5 : plainBytes(item, depth - 1);
    return bytes;
  }
  for (const name of Object.keys(value)) {
    bytes += name.length + 4 + plainBytes(value[name as keyof typeof value], depth - 1);
  }
  return bytes;
}
