import { isJsonObject, memberOf, setMember, deepEqual } from '../../object/index.js';
import type { PathElement } from '../../object/index.js';
import { fieldAtom, shapeOf, elementOfItem } from './atom.js';
import type { Atom, ListType, MapType } from './atom.js';

/**
 * Merges `applied` over `live`: leaves of `applied` win; maps, list-maps and sets keep the entries
 * of both. The result shares unchanged parts, and is `live` itself if nothing changes. Both must
 * fit `atom`.
 */
export function merge(live: unknown, applied: unknown, atom: Atom): unknown {
  if (live === undefined || live === applied) return applied;
  if (applied === undefined) return live;
  switch (shapeOf(atom, applied)) {
    case 'map':
      return mergeMaps(live, applied, atom.map as MapType);
    case 'list':
      return mergeLists(live, applied, atom.list as ListType);
    case 'scalar':
    case undefined:
      return keepApplied(live, applied);
  }
}

function keepApplied(live: unknown, applied: unknown): unknown {
  return deepEqual(live, applied) ? live : applied;
}

function mergeMaps(live: unknown, applied: unknown, map: MapType): unknown {
  const [left, right] = [asMap(live), asMap(applied)];
  // Distinguish an empty map from null, and replace an atomic map as a whole.
  if (map.atomic || (isEmpty(left) && isEmpty(right))) return keepApplied(live, applied);
  let merged: Record<string, unknown> | undefined;
  if (left === undefined) return applied;
  for (const name of Object.keys(right ?? {})) {
    const own = memberOf(left, name);
    const value = merge(own, right?.[name], fieldAtom(map, name));
    if (value === own) continue;
    merged ??= { ...left };
    setMember(merged, name, value);
  }
  return merged ?? live;
}

function asMap(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isJsonObject(value) ? value : undefined;
}

function isEmpty(value: Readonly<Record<string, unknown>> | undefined): boolean {
  return value === undefined || Object.keys(value).length === 0;
}

function mergeLists(live: unknown, applied: unknown, list: ListType): unknown {
  const left = Array.isArray(live) ? (live as unknown[]) : [];
  const right = Array.isArray(applied) ? (applied as unknown[]) : [];
  if (list.atomic || (left.length === 0 && right.length === 0)) return keepApplied(live, applied);
  const merged = new ListMerge(list, indexed(list, left), indexed(list, right)).run();
  const same = merged.length === left.length && merged.every((item, at) => item === left[at]);
  return same ? live : merged;
}

interface IndexedList {
  /** The path element of every item, in order. */
  readonly elements: readonly PathElement[];
  readonly items: readonly unknown[];
  /** The item of each element; `null` if several items have the element, because those cannot be merged. */
  readonly byElement: ReadonlyMap<PathElement, unknown>;
}

function indexed(list: ListType, values: readonly unknown[]): IndexedList {
  const elements: PathElement[] = [];
  const items: unknown[] = [];
  const byElement = new Map<PathElement, unknown>();
  for (const item of values) {
    const element = elementOfItem(list, item);
    if (element === undefined) continue;
    byElement.set(element, byElement.has(element) ? null : item);
    elements.push(element);
    items.push(item);
  }
  return { elements, items, byElement };
}

/**
 * Merges two lists of named entries. Entries of both lists get the order of the applied list.
 * Entries of the live list alone keep their place relative to the shared entries.
 */
class ListMerge {
  readonly #list: ListType;
  readonly #live: IndexedList;
  readonly #applied: IndexedList;
  /** Shared entries in the applied order. `#shared[#nextShared]` is the next one. */
  readonly #shared: readonly PathElement[];
  readonly #done = new Set<PathElement>();
  readonly #out: unknown[] = [];
  #nextShared = 0;
  #liveAt = 0;
  #appliedAt = 0;

  constructor(list: ListType, live: IndexedList, applied: IndexedList) {
    this.#list = list;
    this.#live = live;
    this.#applied = applied;
    this.#shared = applied.elements.filter((element) => live.byElement.has(element));
  }

  run(): unknown[] {
    const [live, applied] = [this.#live.elements, this.#applied.elements];
    while (this.#liveAt < live.length || this.#appliedAt < applied.length) {
      this.#step(live[this.#liveAt], applied[this.#appliedAt]);
    }
    return this.#out;
  }

  #step(live: PathElement | undefined, applied: PathElement | undefined): void {
    if (live !== undefined && applied !== undefined) {
      if (live === applied) {
        this.#takeBoth(applied);
        this.#liveAt++;
        this.#nextShared++;
        return;
      }
      const next = this.#shared[this.#nextShared];
      if (this.#applied.byElement.has(live) && next !== undefined && next !== live) {
        // The live entry is also applied, but another entry comes before it in the applied order: that order wins, and
        // this entry is placed later.
        this.#liveAt++;
        return;
      }
    }
    if (live !== undefined) {
      if (!this.#applied.byElement.has(live)) {
        this.#out.push(this.#live.items[this.#liveAt]);
        this.#liveAt++;
        return;
      }
      if (this.#done.has(live)) this.#liveAt++;
    }
    if (applied === undefined) return;
    if (applied === this.#shared[this.#nextShared]) this.#nextShared++;
    this.#takeBoth(applied);
  }

  #takeBoth(element: PathElement): void {
    this.#done.add(element);
    this.#appliedAt++;
    const live = this.#live.byElement.get(element);
    const applied = this.#applied.byElement.get(element);
    this.#out.push(merge(live, applied, this.#list.items.atom));
  }
}
