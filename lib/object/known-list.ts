/** Precomputed facts about a long list, so that callers need not iterate over it. */
export interface KnownList {
  /** A digest of all items in order: lists are equal if and only if their digests are. */
  readonly digest: string;
  /** The approximate size of its JSON. */
  readonly bytes: number;
}

/** A long list that is created at its first read. */
export class LazyList {
  readonly known: KnownList;
  #make: (() => readonly unknown[]) | undefined;
  #items: readonly unknown[] = [];

  /** @param make - returns plain, frozen JSON without nulls in its maps */
  constructor(known: KnownList, make: () => readonly unknown[]) {
    this.known = known;
    this.#make = make;
  }

  get items(): readonly unknown[] {
    if (this.#make !== undefined) {
      this.#items = Object.freeze(this.#make());
      this.#make = undefined;
      lists.set(this.#items, this.known);
    }
    return this.#items;
  }
}

interface Held {
  readonly name: string;
  readonly list: LazyList;
}

const lists = new WeakMap<readonly unknown[], KnownList>();
const holders = new WeakMap<object, Held>();
/** Most processes have no such lists, and skip the look-up. */
let hasAny = false;

/** Shorter lists are as fast to iterate over. */
export const shortestKnownList = 64;

/** Returns the facts about a list, or undefined. */
export function knownList(list: readonly unknown[]): KnownList | undefined {
  return hasAny && list.length >= shortestKnownList ? lists.get(list) : undefined;
}

/** Makes `list` the member `name` of an object. For readers, it looks like an ordinary member. */
export function holdList(holder: object, name: string, list: LazyList): void {
  hasAny = true;
  const get = (): readonly unknown[] => list.items;
  Object.defineProperty(holder, name, { get, enumerable: true, configurable: true });
  holders.set(holder, { name, list });
}

/** Returns the lazy list of an object without reading it, and its member name, or undefined. */
export function heldBy(holder: object): Held | undefined {
  return hasAny ? holders.get(holder) : undefined;
}

/**
 * Returns the approximate size of a value's JSON; NaN if it has no JSON form, has nulls in maps, or nests
 * deeper than `depth`.
 */
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
  const held = heldBy(value);
  for (const name of Object.keys(value)) {
    const isHeld = name === held?.name;
    bytes += name.length + 4;
    bytes += isHeld
      ? held.list.known.bytes
      : plainBytes(value[name as keyof typeof value], depth - 1);
  }
  return bytes;
}
