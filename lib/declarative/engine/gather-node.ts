import { isJsonObject, memberOf } from '../../object/json.js';
import { shortestKnownList } from '../../object/known-list.js';
import { asError } from '../../system/as-error.js';
import type { Document } from '../document.js';
import type { Expression } from '../expression/expression.js';
import type { SpecPath } from '../spec-problem.js';
import { compareSortKeys, compareTexts, sortKeyOf } from './sort-key.js';
import type { SortKey } from './sort-key.js';
import type { Delta, IncrementalNode } from './delta.js';
import { documentKey, valueKey } from './document-key.js';
import type { DocumentPath } from './document-path.js';
import { ListSum } from './list-sum.js';
import { SortedList } from './sorted-list.js';
import type { FailureLog } from './stage-failure.js';
import { netDeltas } from './z-set.js';
import type { ZSetEntry } from './z-set.js';

/** A stage `@gather`. */
export interface GatherStep {
  /** The name as written: `@gather` or `@mux`. */
  readonly stage: string;
  readonly path: SpecPath;
  /** The key that the documents of a group share. */
  readonly key: Expression;
  /** The place of each document's value and of the group's list. */
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
  /** Set for long lists only. */
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
    // Sum first: within a batch, a document may be removed before it is added.
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
      this.#failures.add({ ...this.#place(), document, error }, entry.weight);
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
      // Exclude now a document that cannot hold the list: it may have to represent its group later.
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

  #place(): { readonly stage: string; readonly path: SpecPath } {
    return { stage: this.#step.stage, path: this.#step.path };
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
