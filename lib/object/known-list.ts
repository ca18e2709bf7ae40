/** What the maker of a long list knows of it, so that others need not go through it. */
export interface KnownList {
  /** Of all its items, in their order: lists of one digest are equal, others differ. */
  readonly digest: string;
  /** Of its JSON, about. */
  readonly bytes: number;
}

/** A long list that is made when it is first read. */
export class LazyList {
  readonly known: KnownList;
  #make: (() => readonly unknown[]) | undefined;
  #items: readonly unknown[] = [];

  /** @param make - gives plain, frozen JSON without nulls in its maps */
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
/** Most processes have none: then nothing is looked up. */
let hasAny = false;

/** Shorter lists are looked through as quickly. */
export const shortestKnownList = 64;

/** What is known of a list; undefined: nothing. */
export function knownList(list: readonly unknown[]): KnownList | undefined {
  return hasAny && list.length >= shortestKnownList ? lists.get(list) : undefined;
}

/** Makes `list` the member `name` of an object. To its readers it is a member like others. */
export function holdList(holder: object, name: string, list: LazyList): void {
  hasAny = true;
  const get = (): readonly unknown[] => list.items;
  Object.defineProperty(holder, name, { get, enumerable: true, configurable: true });
  holders.set(holder, { name, list });
}

/** The list that an object holds, not read yet maybe, and the name of that member; undefined: none. */
export function heldBy(holder: object): Held | undefined {
  return hasAny ? holders.get(holder) : undefined;
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
