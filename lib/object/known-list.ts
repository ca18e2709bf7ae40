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
