import { hash } from 'node:crypto';
import {
  deepFreeze,
  isJsonObject,
  memberOf,
  LazyList,
  plainBytes,
  shortestKnownList,
} from '../../object/index.js';
import { asError } from '../../system/index.js';
import type { Document } from '../document.js';
import type { Expression } from '../expression/compiled.js';
import type { SpecPath } from '../spec-problem.js';
import type { DocumentPath } from './expression-references.js';
import type { FailureLog } from './linear-node.js';
import { canonicalText, documentKey, netDeltas, valueKey } from './z-set.js';
import type { Delta, IncrementalNode, ZSetEntry } from './z-set.js';

/** A stage `@gather`. */
export interface GatherStep {
  /** The name as written: `@gather` or `@mux`. */
  readonly stage: string;
  readonly path: SpecPath;
  /** The key that the documents of a group share. */
  readonly key: Expression;
  /** Whether the key may differ for the same document, as with `@now` and `@rnd`. */
  readonly volatile: boolean;
  /** The path of the value in each document. The result of a group has its list at the same path. */
  readonly at: DocumentPath;
}

/** A document of a group. A document that failed, or lacks a key or a value, has no group. */
interface Member {
  readonly key: string;
  readonly document: Document;
  readonly name: string;
  readonly item: Item;
  weight: number;
  readonly group: Group | undefined;
  readonly error: Error | undefined;
}

/** The value of a member, without its document, so that earlier lists do not retain the document. */
interface Item {
  readonly key: string;
  readonly value: unknown;
  readonly sortKey: SortKey;
}

/** The documents of one key. */
class Group {
  readonly key: string;
  /** Ordered by value, then by key. Duplicates are listed once per occurrence. */
  readonly #members = new SortedList<Item>(compareItems);
  /** Ordered by name. */
  readonly #names = new SortedList<Member>(compareNames);
  /** Digest and size of a long list, updated with each change; undefined for a short list. */
  #sum: ListSum | undefined;
  /** The last output. */
  output: Delta | undefined;

  constructor(key: string) {
    this.key = key;
  }

  /** The first member by name. */
  get lowest(): Member | undefined {
    return this.#names.first;
  }

  /** Returns a document with the list of all values at a place. */
  documentOf({ document }: Member, at: DocumentPath): Document {
    const { size, chunks } = this.#members;
    if (size < shortestKnownList) {
      this.#sum = undefined;
      return at.set(document, valuesOf(chunks));
    }
    this.#sum ??= new ListSum(valuesOf(chunks));
    const list = this.#sum.list(size, () => valuesOf(chunks));
    return list === undefined ? at.set(document, valuesOf(chunks)) : at.hold(document, list);
  }

  /** Changes the weight of a member. */
  change(member: Member, from: number, to: number): void {
    for (let n = Math.max(from, 0); n < to; n++) {
      this.#members.add(member.item);
      this.#sum?.count(member.item.value, 1);
    }
    for (let n = Math.max(to, 0); n < from; n++) {
      this.#members.delete(member.item);
      this.#sum?.count(member.item.value, -1);
    }
    if (from <= 0 && to > 0) this.#names.add(member);
    if (from > 0 && to <= 0) this.#names.delete(member);
  }
}

/**
 * Produces one document per key: that of the member with the lowest name, with the sorted values of all
 * members at the path. A document without a key or a value (absent or null) is in no group, as in
 * dcontroller. A duplicate document contributes its value twice.
 *
 * The document of a group depends only on its members, so that a restart yields the same. It changes when the
 * lowest member leaves.
 */
export class GatherNode implements IncrementalNode {
  readonly #step: GatherStep;
  readonly #failures: FailureLog;
  readonly #members = new Map<string, Member>();
  readonly #groups = new Map<string, Group>();

  constructor(step: GatherStep, failures: FailureLog) {
    this.#step = step;
    this.#failures = failures;
  }

  push(_input: number, deltas: readonly Delta[]): readonly Delta[] {
    const touched = new Set<Group>();
    // Sum the changes first: within a batch, a document may be removed before it is added.
    for (const entry of netDeltas(deltas)) {
      const group = this.#change(entry);
      if (group !== undefined) touched.add(group);
    }
    return [...touched].flatMap((group) => this.#pass(group));
  }

  #change(entry: ZSetEntry): Group | undefined {
    const known = this.#members.get(entry.key);
    const member = known ?? this.#admit(entry);
    const { group, error, document } = member;
    const before = member.weight;
    member.weight += entry.weight;
    if (error !== undefined) {
      const { stage, path } = this.#step;
      this.#failures.add({ stage, path, document, error }, entry.weight);
    }
    if (member.weight === 0) this.#members.delete(member.key);
    else if (known === undefined) this.#members.set(member.key, member);
    group?.change(member, before, member.weight);
    return group;
  }

  #admit({ key, document }: ZSetEntry): Member {
    const value = this.#step.at.get(document);
    const item = { key, value, sortKey: sortKeyOf(value) };
    const member = { key, document, name: rankingName(document), weight: 0, item };
    try {
      // Fails early for a document that cannot hold the list, since such a document must not represent the group later.
      this.#step.at.set(document, []);
      const groupKey = this.#step.key(document) ?? undefined;
      const isLeftOut = groupKey === undefined || value === undefined || value === null;
      const group = isLeftOut ? undefined : this.#groupOf(valueKey(groupKey));
      return { ...member, group, error: undefined };
    } catch (thrown) {
      return { ...member, group: undefined, error: asError(thrown) };
    }
  }

  #groupOf(key: string): Group {
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group = new Group(key);
    this.#groups.set(key, group);
    return group;
  }

  /** Returns the changes of the output. */
  #pass(group: Group): readonly Delta[] {
    const before = group.output;
    if (group.lowest === undefined) this.#groups.delete(group.key);
    const now = this.#outputOf(group);
    group.output = now;
    if (before?.key === now?.key) return [];
    return [
      ...(before === undefined ? [] : [{ ...before, weight: -1 }]),
      ...(now === undefined ? [] : [now]),
    ];
  }

  #outputOf(group: Group): Delta | undefined {
    if (group.lowest === undefined) return undefined;
    const document = group.documentOf(group.lowest, this.#step.at);
    return { document, weight: 1, key: documentKey(document) };
  }
}

function compareItems(one: Item, other: Item): number {
  return compareSortKeys(one.sortKey, other.sortKey) || compareTexts(one.key, other.key);
}

function compareNames(one: Member, other: Member): number {
  return compareTexts(one.name, other.name) || compareTexts(one.key, other.key);
}

function valuesOf(chunks: readonly (readonly Item[])[]): unknown[] {
  const values: unknown[] = [];
  for (const chunk of chunks) for (const { value } of chunk) values.push(value);
  return values;
}

/** Returns a comparable text: the name first, then the namespace. */
function rankingName(document: Document): string {
  const metadata = memberOf(document, 'metadata');
  if (!isJsonObject(metadata)) return '';
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  // Names have no NUL, so a name sorts before longer names that begin with it.
  return `${text(memberOf(metadata, 'name'))}\0${text(memberOf(metadata, 'namespace'))}`;
}

/** Maximum depth of an item. A list with a deeper item has no digest. */
const deepest = 50;

/**
 * Digest and size of a sorted list, updated as items are added and removed. The items determine their order,
 * so the sum of their digests identifies the list.
 */
class ListSum {
  #digest = 0n;
  #bytes = 2;
  /** Number of items that are not plain JSON, or have nulls in maps. */
  #odd = 0;

  constructor(items: readonly unknown[]) {
    for (const item of items) this.count(item, 1);
  }

  /** @param weight - 1: the item was added, -1: it was removed */
  count(item: unknown, weight: 1 | -1): void {
    const bytes = plainBytes(deepFreeze(item), deepest);
    if (Number.isNaN(bytes)) {
      this.#odd += weight;
      return;
    }
    this.#bytes += weight * (bytes + 1);
    const digest = BigInt(`0x${hash('sha256', canonicalText(item), 'hex')}`);
    this.#digest += weight > 0 ? digest : -digest;
  }

  /** Returns the list if its digest is known. @param make - returns its items, which are frozen */
  list(length: number, make: () => readonly unknown[]): LazyList | undefined {
    const digest = `${length}/${this.#digest.toString(36)}`;
    return this.#odd > 0 ? undefined : new LazyList({ digest, bytes: this.#bytes }, make);
  }
}

/** Longest chunk; a longer one is split in two. */
const chunkLength = 512;

/**
 * A sorted list of any size. A change copies one chunk and the list of chunks; chunks are never modified.
 * Items may repeat.
 */
export class SortedList<T> {
  readonly #compare: (one: T, other: T) => number;
  #chunks: readonly (readonly T[])[] = [];
  #size = 0;

  /** @param compare - returns 0 only for equal items */
  constructor(compare: (one: T, other: T) => number) {
    this.#compare = compare;
  }

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#chunks[0]?.[0];
  }

  /** All current items in order, split into arrays that are never mutated: a change replaces an array. */
  get chunks(): readonly (readonly T[])[] {
    return this.#chunks;
  }

  add(item: T): void {
    const { number, chunk, at } = this.#find(item);
    const longer = chunk.toSpliced(at, 0, item);
    const middle = longer.length >> 1;
    const isLong = longer.length > chunkLength;
    const parts = isLong ? [longer.slice(0, middle), longer.slice(middle)] : [longer];
    this.#chunks = this.#chunks.toSpliced(number, 1, ...parts);
    this.#size++;
  }

  /** Removes an item, which must be present. */
  delete(item: T): void {
    const { number, chunk, at } = this.#find(item);
    const parts = chunk.length > 1 ? [chunk.toSpliced(at, 1)] : [];
    this.#chunks = this.#chunks.toSpliced(number, 1, ...parts);
    this.#size--;
  }

  /** Returns the place of the first equal item, or the place for insertion. */
  #find(item: T): { readonly number: number; readonly chunk: readonly T[]; readonly at: number } {
    const comesBefore = (other: T | undefined): boolean =>
      other !== undefined && this.#compare(other, item) < 0;
    const last = this.#chunks.length - 1;
    const number = Math.min(
      firstNot(last + 1, (n) => comesBefore(this.#chunks[n]?.at(-1))),
      Math.max(last, 0),
    );
    const chunk = this.#chunks[number] ?? [];
    return { number, chunk, at: firstNot(chunk.length, (n) => comesBefore(chunk[n])) };
  }
}

/**
 * Returns the lowest number below `end` for which `holds` is false; `end` if there is no such number. Once `holds` is
 * false for a number, it must be false for all higher ones.
 */
function firstNot(end: number, holds: (number: number) => boolean): number {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The precomputed sort key of a value. */
interface SortKey {
  /** Rank of the value's type among the types. */
  readonly rank: number;
  /** Order within the type: either all numbers or all strings. */
  readonly by: number | string;
}

/**
 * Returns a sort key that orders all JSON values: null, false, true, numbers, strings (by UTF-16 code units),
 * lists and maps (by their canonical text).
 */
export function sortKeyOf(value: unknown): SortKey {
  if (value === null || value === undefined) return { rank: 0, by: 0 };
  if (typeof value === 'boolean') return { rank: value ? 2 : 1, by: 0 };
  if (typeof value === 'number') return { rank: 3, by: value };
  if (typeof value === 'string') return { rank: 4, by: value };
  return { rank: Array.isArray(value) ? 5 : 6, by: canonicalText(value) };
}

/** Returns a number below 0 if `one` comes first; 0 if both are equal. */
export function compareSortKeys(one: SortKey, other: SortKey): number {
  return one.rank - other.rank || compareTexts(one.by, other.by);
}

/** Compares by UTF-16 code units: the same on every machine. */
export function compareTexts<T extends number | string>(one: T, other: T): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
