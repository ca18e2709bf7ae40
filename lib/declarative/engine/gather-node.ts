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
  /** As it is written: `@gather` or `@mux`. */
  readonly stage: string;
  readonly path: SpecPath;
  /** What the documents of a group have in common. */
  readonly key: Expression;
  /** Where each has its value, and the group its list. */
  readonly at: DocumentPath;
}

/** A document that is in a group; or in none, for it failed or has no key or no value. */
interface Member {
  readonly key: string;
  readonly document: Document;
  readonly name: string;
  readonly item: Item;
  weight: number;
  readonly group: Group | undefined;
  readonly error: Error | undefined;
}

/** The value of a member, without its document, which lists from before would keep. */
interface Item {
  readonly key: string;
  readonly value: unknown;
  readonly sortKey: SortKey;
}

/** Documents of one key. */
class Group {
  readonly key: string;
  /** By their values; equal ones by their keys. One that is there twice stands here twice. */
  readonly #members = new SortedList<Item>(compareItems);
  /** By their names. */
  readonly #names = new SortedList<Member>(compareNames);
  /** Of long lists only. */
  #sum: ListSum | undefined;
  /** What was passed on last. */
  output: Delta | undefined;

  constructor(key: string) {
    this.key = key;
  }

  /** The member that is first by name. */
  get lowest(): Member | undefined {
    return this.#names.first;
  }

  /** A document with the list of all values at a place. */
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

  /** Takes in how often a member is there. */
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
 * One document for each key: that of the member with the lowest name, with the values of all, sorted,
 * as a list at the path. A document without a key or without a value there (absent or null) is in no
 * group, as in dcontroller; one that is there twice adds its value twice.
 *
 * Which document stands for a group depends on what is in it and on nothing else, so that a restart
 * gives the same; it is another one when the lowest goes.
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
    // Added up first: a document may go before it came, within one batch.
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
      // One that could not hold the list is left out now: it may have to stand for its group later.
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

  /** What changes for those after this node. */
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

/** A text to compare: the name first, then the namespace. */
function rankingName(document: Document): string {
  const metadata = memberOf(document, 'metadata');
  if (!isJsonObject(metadata)) return '';
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  // No name has a NUL: a name that begins as another does comes after it.
  return `${text(memberOf(metadata, 'name'))}\0${text(memberOf(metadata, 'namespace'))}`;
}
