import { isJsonObject, memberOf } from '../../object/json.js';
import { asError } from '../../system/as-error.js';
import type { Document } from '../document.js';
import type { Expression } from '../expression/expression.js';
import type { SpecPath } from '../spec-problem.js';
import { compareSortKeys, compareTexts, sortKeyOf } from './sort-key.js';
import type { SortKey } from './sort-key.js';
import type { Delta, IncrementalNode } from './delta.js';
import { documentKey, valueKey } from './document-key.js';
import type { DocumentPath } from './document-path.js';
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
  readonly value: unknown;
  readonly sortKey: SortKey;
  weight: number;
  readonly group: Group | undefined;
  readonly error: Error | undefined;
}

interface Group {
  readonly key: string;
  /** By their values; equal ones by their keys. */
  readonly members: Member[];
  /** The member that is first by name. */
  lowest: Member | undefined;
  /** What was passed on last. */
  output: Delta | undefined;
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
    member.weight += entry.weight;
    if (error !== undefined) {
      this.#failures.add({ ...this.#place(), document, error }, entry.weight);
    }
    if (member.weight === 0) {
      this.#members.delete(member.key);
      if (group !== undefined) leave(group, member);
    } else if (known === undefined) {
      this.#members.set(member.key, member);
      if (group !== undefined) join(group, member);
    }
    return group;
  }

  #admit({ key, document }: ZSetEntry): Member {
    const value = this.#step.at.get(document);
    const named = { key, document, name: rankingName(document), weight: 0 };
    const member = { ...named, value, sortKey: sortKeyOf(value) };
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
    const group: Group = { key, members: [], lowest: undefined, output: undefined };
    this.#groups.set(key, group);
    return group;
  }

  /** What changes for those after this node. */
  #pass(group: Group): readonly Delta[] {
    const before = group.output;
    if (group.members.length === 0) this.#groups.delete(group.key);
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
    const document = this.#step.at.set(group.lowest.document, valuesOf(group));
    return { document, weight: 1, key: documentKey(document) };
  }

  #place(): { readonly stage: string; readonly path: SpecPath } {
    return { stage: this.#step.stage, path: this.#step.path };
  }
}

function valuesOf({ members }: Group): unknown[] {
  const values: unknown[] = [];
  for (const { value, weight } of members) {
    for (let times = 0; times < weight; times++) values.push(value);
  }
  return values;
}

function join(group: Group, member: Member): void {
  group.members.splice(placeOf(group, member), 0, member);
  if (group.lowest === undefined || compareNames(member, group.lowest) < 0) group.lowest = member;
}

function leave(group: Group, member: Member): void {
  const { members } = group;
  members.splice(placeOf(group, member), 1);
  if (group.lowest !== member) return;
  group.lowest = members.reduce<Member | undefined>(
    (lowest, each) => (lowest === undefined || compareNames(each, lowest) < 0 ? each : lowest),
    undefined,
  );
}

/** Where a member stands, or would. */
function placeOf({ members }: Group, member: Member): number {
  let [low, high] = [0, members.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = members[middle];
    if (other !== undefined && compareMembers(other, member) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compareMembers(one: Member, other: Member): number {
  return compareSortKeys(one.sortKey, other.sortKey) || compareTexts(one.key, other.key);
}

function compareNames(one: Member, other: Member): number {
  return compareTexts(one.name, other.name) || compareTexts(one.key, other.key);
}

/** A text to compare: the name first, then the namespace. */
function rankingName(document: Document): string {
  const metadata = memberOf(document, 'metadata');
  if (!isJsonObject(metadata)) return '';
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  // No name has a NUL: a name that begins as another does comes after it.
  return `${text(memberOf(metadata, 'name'))}\0${text(memberOf(metadata, 'namespace'))}`;
}
