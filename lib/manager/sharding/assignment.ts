import type { ReconcileKey } from '../../controller/index.js';
import { keyString } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';

/** The owners of all slots in one epoch. Members are identified by the names of their Leases. */
export interface Assignment {
  /** Starts at 1 and grows by one with each change. */
  readonly epoch: number;
  /**
   * The member that may work on each slot exclusively; undefined if the slot is free. A slot gets another holder only
   * after the former one has acknowledged the release of the slot, or can no longer hold any slot.
   */
  readonly holders: readonly (string | undefined)[];
  /** The next holder of each slot once the holder has acknowledged; undefined if the holder keeps it. */
  readonly targets: readonly (string | undefined)[];
  /**
   * Epoch that each listed member must acknowledge before the slots it releases are reassigned. While all
   * slots are free, these are the members that may still hold slots of a lost record.
   */
  readonly awaited: ReadonlyMap<string, number>;
}

/** An {@link Assignment} as stored on the server. */
export interface StoredAssignment extends Assignment {
  /** UID of the stored object; epochs of different objects can't be compared. */
  readonly uid: string;
  readonly resourceVersion: string;
}

interface Text {
  readonly epoch: number;
  readonly members: readonly string[];
  readonly slots: string;
  readonly awaited: Readonly<Record<string, number>>;
}

/**
 * Formats `assignment` as JSON. Its `slots` are runs `<count>*<holder>` or `<count>*<holder>><target>`, with
 * indexes into `members`, `-` for a free slot. For 100 replicas the size is 4 KB initially and 15 KB at
 * worst.
 */
export function formatAssignment(assignment: Assignment): string {
  const { epoch, holders, targets, awaited } = assignment;
  const named = [...holders, ...targets].filter((name) => name !== undefined);
  const members = [...new Set(named)].sort();
  const places = new Map(members.map((name, at) => [name, at]));
  const place = (name: string | undefined): string =>
    String((name === undefined ? undefined : places.get(name)) ?? '-');
  const runs: { count: number; owner: string }[] = [];
  holders.forEach((holder, slot) => {
    const target = targets[slot];
    const owner = target === undefined ? place(holder) : `${place(holder)}>${place(target)}`;
    const run = runs.at(-1);
    if (run?.owner === owner) run.count++;
    else runs.push({ count: 1, owner });
  });
  const slots = runs.map(({ count, owner }) => `${count}*${owner}`).join(',');
  const text: Text = { epoch, members, slots, awaited: Object.fromEntries(awaited) };
  return JSON.stringify(text);
}

/**
 * Reads the output of {@link formatAssignment} for `slotCount` slots.
 * @throws OperatorError `InvalidObject`: the text has another format.
 */
export function parseAssignment(text: string, slotCount: number): Assignment {
  const { epoch, members, slots, awaited } = parsedText(text);
  const holders: (string | undefined)[] = [];
  const targets: (string | undefined)[] = [];
  for (const run of slots.split(',')) {
    const [, count, holder, target] = /^([1-9]\d{0,5})\*(-|\d+)(?:>(\d+))?$/.exec(run) ?? [];
    if (count === undefined || holder === undefined) throw unreadable(`slots ${run}`);
    const holderName = holder === '-' ? undefined : nameAt(members, holder);
    const targetName = target === undefined ? undefined : nameAt(members, target);
    for (let n = 0; n < Number(count) && holders.length <= slotCount; n++) {
      holders.push(holderName);
      targets.push(targetName);
    }
  }
  if (holders.length !== slotCount) throw unreadable(`not ${slotCount} slots`);
  return { epoch, holders, targets, awaited: new Map(Object.entries(awaited)) };
}

/** Returns the members that a record refers to. */
export function membersIn({ holders, targets, awaited }: Assignment): readonly string[] {
  const named = [...holders, ...targets, ...awaited.keys()];
  return [...new Set(named.filter((name) => name !== undefined))];
}

function nameAt(members: readonly string[], place: string): string {
  const name = members[Number(place)];
  if (name === undefined) throw unreadable(`no member ${place}`);
  return name;
}

function parsedText(text: string): Text {
  const { epoch, members, slots, awaited } = parsedJson(text);
  const isText =
    isEpoch(epoch) &&
    typeof slots === 'string' &&
    Array.isArray(members) &&
    members.every((name) => typeof name === 'string') &&
    typeof awaited === 'object' &&
    awaited !== null &&
    Object.values(awaited).every(isEpoch);
  if (!isText) throw unreadable('it has other fields');
  return { epoch, members, slots, awaited: awaited as Text['awaited'] };
}

function parsedJson(text: string): Partial<Record<keyof Text, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    throw unreadable('it is not JSON', error);
  }
  throw unreadable('it is not an object');
}

function isEpoch(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function unreadable(why: string, cause?: unknown): OperatorError {
  const message = `the assignment of shards can't be read: ${why}`;
  return new OperatorError('InvalidObject', message, { cause });
}

/** State of a member, from the leader's last list of the Leases. */
export type MemberStanding =
  /** The member may hold slots; `acknowledged`: the epoch of the current record that it has acknowledged, or 0. */
  | { readonly type: 'live'; readonly acknowledged: number }
  /** Its Lease is missing for an unknown reason: it may hold slots, and gets no new ones. */
  | { readonly type: 'missing' }
  /** It holds no slots and never returns under this name. */
  | { readonly type: 'gone' };

/** Input of a plan. */
export interface AssignmentFacts {
  readonly record: StoredAssignment | undefined;
  readonly slotCount: number;
  readonly standingOf: (member: string) => MemberStanding;
  /** Members that may get slots, the oldest first. */
  readonly candidates: readonly string[];
  /** Members that may hold slots of a lost record, if there is no record. */
  readonly mayHold: readonly string[];
}

/**
 * Returns the next epoch. Reassigns the slots whose release their holders have acknowledged, and the slots of members
 * that have left. Every slot gets a target so that all candidates have equal shares with as few moves as possible. The
 * plan depends only on facts that stay true (a member has acknowledged, or has ended), and is stored only over the
 * record that was read. So it does no harm if two members act as leader at the same time.
 * @returns undefined if there is nothing to change
 */
export function planAssignment(facts: AssignmentFacts): Assignment | undefined {
  const { record, candidates } = facts;
  if (candidates.length === 0) return undefined;
  if (record === undefined) return firstAssignment(facts);
  if (isOpening(record) && [...record.awaited.keys()].some((member) => !gaveUp(facts, member))) {
    return undefined;
  }
  const current = record.holders.map((holder, slot) => {
    if (holder === undefined || facts.standingOf(holder).type === 'gone') return undefined;
    return record.targets[slot] !== undefined && gaveUp(facts, holder) ? undefined : holder;
  });
  const wanted = current.map((holder, slot) => {
    const target = record.targets[slot];
    return target !== undefined && candidates.includes(target) ? target : holder;
  });
  const desired = rebalance(wanted, candidates);
  const holders = current.map((holder, slot) => holder ?? desired[slot]);
  const targets = holders.map((holder, slot) =>
    holder === desired[slot] ? undefined : desired[slot],
  );
  const epoch = record.epoch + 1;
  const next = { epoch, holders, targets, awaited: awaitedIn(record, { epoch, holders, targets }) };
  return isSame(record, next) ? undefined : next;
}

/**
 * Returns the first assignment, if there is no record or it was lost. If members may still hold slots of a
 * lost record, all slots stay free until these members acknowledge the new record.
 */
function firstAssignment({ slotCount, candidates, mayHold }: AssignmentFacts): Assignment {
  const nobody = Array<undefined>(slotCount).fill(undefined);
  const holders = mayHold.length === 0 ? rebalance(nobody, candidates) : nobody;
  const awaited = new Map(mayHold.map((member) => [member, 1]));
  return { epoch: 1, holders, targets: nobody, awaited };
}

function isOpening({ holders, awaited }: Assignment): boolean {
  return awaited.size > 0 && holders.every((holder) => holder === undefined);
}

/** Returns whether `member` certainly holds none of the slots that it had to release. */
function gaveUp({ record, standingOf }: AssignmentFacts, member: string): boolean {
  const standing = standingOf(member);
  switch (standing.type) {
    case 'gone':
      return true;
    case 'missing':
      return false;
    case 'live':
      return standing.acknowledged >= (record?.awaited.get(member) ?? Infinity);
  }
}

/**
 * Returns the epoch that each member must acknowledge: the new one if the member has more slots to release than before.
 */
function awaitedIn(
  record: Assignment,
  next: Pick<Assignment, 'epoch' | 'holders' | 'targets'>,
): ReadonlyMap<string, number> {
  const awaited = new Map<string, number>();
  next.holders.forEach((holder, slot) => {
    if (holder === undefined || next.targets[slot] === undefined) return;
    const before = record.targets[slot] === undefined ? undefined : record.awaited.get(holder);
    awaited.set(holder, Math.max(before ?? next.epoch, awaited.get(holder) ?? 0));
  });
  return awaited;
}

function isSame(one: Assignment, other: Assignment): boolean {
  const sameSlots = one.holders.every(
    (holder, slot) => holder === other.holders[slot] && one.targets[slot] === other.targets[slot],
  );
  const sameAwaited = [...one.awaited].every(([name, epoch]) => other.awaited.get(name) === epoch);
  return sameSlots && sameAwaited && one.awaited.size === other.awaited.size;
}

/**
 * Assigns every slot to one of `members`, with shares that differ by at most one and as few changes as
 * possible. Slots of other members and free slots (undefined) are reassigned.
 */
export function rebalance(
  slots: readonly (string | undefined)[],
  members: readonly string[],
): readonly (string | undefined)[] {
  if (members.length === 0) return slots.map(() => undefined);
  const left = new Map(quotas(slots, members));
  const kept = slots.map((member) => {
    const quota = (member !== undefined && left.get(member)) || 0;
    if (member === undefined || quota === 0) return undefined;
    left.set(member, quota - 1);
    return member;
  });
  // Assign in order of slots, member by member, so that each gets few contiguous runs.
  const takers = [...left].flatMap(([member, quota]) => Array<string>(quota).fill(member));
  return kept.map((member) => member ?? takers.shift());
}

/** Returns the number of slots for each member. Members with the most slots keep the remainder. */
function quotas(
  slots: readonly (string | undefined)[],
  members: readonly string[],
): readonly [string, number][] {
  const has = new Map(members.map((member) => [member, 0]));
  for (const member of slots) {
    const count = member === undefined ? undefined : has.get(member);
    if (member !== undefined && count !== undefined) has.set(member, count + 1);
  }
  const share = Math.floor(slots.length / members.length);
  const withMore = slots.length % members.length;
  const byCount = [...has].sort(([, one], [, other]) => other - one);
  const quota = new Map(byCount.map(([member], at) => [member, share + (at < withMore ? 1 : 0)]));
  return members.map((member) => [member, quota.get(member) ?? 0]);
}

/**
 * Number of equal slots of the 64-bit hash space; a power of two. Slots, not free ranges, move between
 * replicas: with up to 200 replicas, no share exceeds 1.2 times another.
 */
export const slotCount = 1024;

/** Hashes from `start` (inclusive) to `end` (exclusive): `0x` and 16 digits; the last range ends at 2^64. */
export interface ShardRange {
  readonly start: string;
  readonly end: string;
}

/** Returns the slot of a hash: its upper ten bits. */
export function slotOf({ high }: Hash64): number {
  return Math.floor(high / (2 ** 32 / slotCount));
}

/** Returns the ranges that `slots` (ascending) cover, with adjacent slots merged. */
export function rangesOf(slots: readonly number[]): readonly ShardRange[] {
  const ranges: { first: number; last: number }[] = [];
  for (const slot of slots) {
    const range = ranges.at(-1);
    if (range !== undefined && range.last === slot - 1) range.last = slot;
    else ranges.push({ first: slot, last: slot });
  }
  return ranges.map(({ first, last }) => ({ start: boundary(first), end: boundary(last + 1) }));
}

function boundary(slot: number): string {
  const bits = 64n - BigInt(Math.log2(slotCount));
  return `0x${(BigInt(slot) << bits).toString(16).padStart(16, '0')}`;
}

/** A 64-bit hash as two unsigned halves; `bigint` would be fifty times slower. */
export interface Hash64 {
  readonly high: number;
  readonly low: number;
}

/**
 * The part of a key that is hashed.
 *
 * `key`: cluster, namespace and name, mixed well: shares are even for any names.
 *
 * `namespace`: the namespace, hashed like `object.metadata.namespace` by a server with KEP-5866. All keys of
 * a namespace, and the objects that belong to them, fall to one replica, and a filtered watch would deliver
 * just those. Its FNV-1a hardly spreads names that differ at their end: with `tenant-0` to `tenant-999`, one
 * of three replicas gets no key. Cluster-scoped keys are hashed by `key`.
 *
 * The UID, KEP-5866's other choice, is not offered. A key has no UID before its object is known or after it
 * is deleted. A recreated object would move to another replica while the old one still cleans up. The UIDs of
 * children do not identify their owner.
 */
export type ShardBy = 'key' | 'namespace';

/** Returns the hash of `key`. The owner of the range that contains it owns the key. */
export function hashOfKey(key: ReconcileKey, by: ShardBy): Hash64 {
  const { namespace = '', cluster = '' } = key;
  if (by === 'namespace' && namespace !== '') return fnv1a64(namespace);
  const text = keyString(key);
  return mixed(fnv1a64(cluster === '' ? text : `${cluster}//${text}`));
}

const utf8 = new TextEncoder();

/** Returns the 64-bit FNV-1a hash of the UTF-8 of `text`, as in KEP-5866. */
export function fnv1a64(text: string): Hash64 {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of utf8.encode(text)) {
    low = (low ^ byte) >>> 0;
    // Multiplies by 2^40 + 0x1b3; each product stays below 2^53.
    const product = low * 0x1b3;
    high = (high * 0x1b3 + Math.floor(product / 2 ** 32) + low * 2 ** 8) % 2 ** 32;
    low = product % 2 ** 32;
  }
  return { high, low };
}

/** Mixes all bits of the hash into the upper ones, which select the range. */
function mixed({ high, low }: Hash64): Hash64 {
  // Applies the 32-bit finisher of MurmurHash3 to each half, so that each depends on the other.
  const lower = finished(low ^ finished(high));
  return { high: finished(high ^ lower), low: lower };
}

function finished(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
