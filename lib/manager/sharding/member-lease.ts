import type { Lease } from '../../object/index.js';
import { parseTime } from '../../object/index.js';
import { parseAssignment } from './assignment.js';
import type { Assignment, StoredAssignment } from './assignment.js';
import type { Acknowledgement } from './possession.js';
import type { ResolvedShardingOptions } from './sharding-options.js';

/** Label of all Leases of a group; its value is the group's name. */
export const groupLabel = 'operator-builder.io/shards';

/** Annotation of a member's Lease: its acknowledgement, `<uid of the record>/<epoch>`. */
export const acknowledgedAnnotation = 'operator-builder.io/shards-acknowledged';

/** Annotation of the Lease with the record: the assignment; see `formatAssignment`. */
export const assignmentAnnotation = 'operator-builder.io/shards-assignment';

/** The Lease of one member, as last read. */
export interface MemberLease {
  /** Generated for each join: an expelled member never returns under the same name. */
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Empty after the member has resigned or was expelled; this is final. */
  readonly holder: string;
  readonly acknowledged: Acknowledgement | undefined;
  /** Time for which the member may hold its slots after its last renewal, in milliseconds. */
  readonly durationMs: number;
  /** Milliseconds since 1970 on the server's clock; the oldest member leads. */
  readonly createdMs: number;
}

export function memberLeaseOf({ metadata, spec }: Lease): MemberLease {
  const { name = '', uid = '', resourceVersion = '', creationTimestamp } = metadata;
  return {
    ...{ name, uid, resourceVersion },
    holder: spec?.holderIdentity ?? '',
    acknowledged: acknowledgementIn(metadata.annotations?.[acknowledgedAnnotation]),
    durationMs: (spec?.leaseDurationSeconds ?? 0) * 1_000,
    createdMs: creationTimestamp === undefined ? 0 : parseTime(creationTimestamp),
  };
}

/** Returns the value of {@link acknowledgedAnnotation}; null removes it with a merge patch. */
export function acknowledgementText(acknowledged: Acknowledgement | undefined): string | null {
  if (acknowledged === undefined) return null;
  return `${acknowledged.record}/${acknowledged.epoch}`;
}

function acknowledgementIn(text: string | undefined): Acknowledgement | undefined {
  // An unreadable value counts as no acknowledgement.
  const [, record, epoch] = /^(.+)\/(\d+)$/.exec(text ?? '') ?? [];
  return record === undefined ? undefined : { record, epoch: Number(epoch) };
}

/**
 * Returns the assignment of shards that an annotation of `lease` holds.
 * @throws OperatorError `InvalidObject`: the annotation can't be read.
 */
export function storedAssignmentOf({ metadata }: Lease, slotCount: number): StoredAssignment {
  const { uid = '', resourceVersion = '', annotations } = metadata;
  const text = annotations?.[assignmentAnnotation] ?? '';
  return { ...parseAssignment(text, slotCount), uid, resourceVersion };
}

interface Seen {
  readonly version: string;
  readonly sinceMs: number;
  readonly durationMs: number;
}

/**
 * Decides by this process's own clock which Leases have expired: those seen unchanged for a whole lease duration. The
 * duration is this process's own, or a longer one in the Lease, as during the rollout of another release. The holder's
 * own writes are refused before that: its shorter time limit starts when it sends a renewal, this duration when the
 * renewal is observed.
 */
export class MemberObserver {
  readonly #leaseDurationMs: number;
  readonly #seen = new Map<string, Seen>();

  constructor(leaseDurationMs: number) {
    this.#leaseDurationMs = leaseDurationMs;
  }

  /** Records the Leases of a list, and which of `expected` are missing. */
  observe(leases: readonly MemberLease[], expected: Iterable<string>, nowMs: number): void {
    const found = new Map(leases.map((lease) => [lease.name, lease]));
    const names = new Set([...expected, ...found.keys()]);
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name);
    for (const name of names) {
      const lease = found.get(name);
      const version = lease === undefined ? 'missing' : `${lease.uid}/${lease.resourceVersion}`;
      const before = this.#seen.get(name);
      if (before?.version === version) continue;
      // A deleted Lease keeps its last duration.
      const durationMs = this.#durationMs(lease, before);
      this.#seen.set(name, { version, sinceMs: nowMs, durationMs });
    }
  }

  /** Returns whether the Lease, or its absence, is unchanged for a lease duration. */
  isExpired(name: string, nowMs: number): boolean {
    return this.expiresAtMs(name) <= nowMs;
  }

  /** Returns the time at which the Lease expires unless it changes; Infinity if the Lease was never seen. */
  expiresAtMs(name: string): number {
    const seen = this.#seen.get(name);
    return seen === undefined ? Infinity : seen.sinceMs + seen.durationMs;
  }

  #durationMs(lease: MemberLease | undefined, before: Seen | undefined): number {
    const own = this.#leaseDurationMs;
    if (lease === undefined) return before?.durationMs ?? own;
    // Leases store whole seconds, rounded up; round this process's duration in the same way before the comparison.
    return lease.durationMs > Math.ceil(own / 1_000) * 1_000 ? lease.durationMs : own;
  }
}

/** Durations of the protocol, in milliseconds; see `ShardingOptions`. */
export type ShardTimes = Pick<
  ResolvedShardingOptions,
  'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'
>;

/**
 * All objects of a group, from a single list request, so that they are consistent. A record that has lost the label is
 * read after the members. That is safe: a member never takes back an acknowledgement, and a member that has ended never
 * returns.
 */
export interface ShardView {
  readonly members: readonly MemberLease[];
  readonly record: StoredAssignment | undefined;
}

/** Result of a write. `conflict`: the object has changed meanwhile. `failed`: it may or may not be stored. */
export type WriteOutcome<T> =
  | { readonly type: 'stored'; readonly object: T }
  | { readonly type: 'conflict' | 'gone' | 'failed' };

/** Input of the protocol; times are those of the process's own monotonic clock. */
export type ShardEvent =
  | { readonly type: 'tick' }
  /** Stop requested: release all slots in order. */
  | { readonly type: 'stop' }
  | { readonly type: 'listed'; readonly view: ShardView; readonly startedMs: number }
  | { readonly type: 'listFailed' }
  /** Response to `join`, `renew` and `resign`. */
  | {
      readonly type: 'wroteOwn';
      readonly outcome: WriteOutcome<MemberLease>;
      readonly startedMs: number;
    }
  | { readonly type: 'expelled'; readonly outcome: WriteOutcome<MemberLease> }
  | { readonly type: 'recorded'; readonly outcome: WriteOutcome<StoredAssignment> }
  /** The drain of a `release` has ended. */
  | { readonly type: 'drained'; readonly drain: number };

/** Output of the protocol: an action to carry out. */
export type ShardCommand =
  | { readonly type: 'list' }
  /** Create a Lease with this name. */
  | { readonly type: 'join'; readonly name: string }
  /** Renew the Lease of this process if it still has this version, with the acknowledgement. */
  | {
      readonly type: 'renew';
      readonly lease: MemberLease;
      readonly acknowledged: Acknowledgement | undefined;
    }
  /** Release the Lease of this process: no slot is held. */
  | { readonly type: 'resign'; readonly lease: MemberLease }
  /** Take the Lease from its member if it still has this version. */
  | { readonly type: 'expel'; readonly lease: MemberLease }
  /** Delete a Lease without a holder if it still has this version. There is no response. */
  | { readonly type: 'remove'; readonly lease: MemberLease }
  /** Store the next epoch over `over` if that still has this version; undefined: create it. */
  | {
      readonly type: 'record';
      readonly assignment: Assignment;
      readonly over: StoredAssignment | undefined;
    }
  /** End the work on all keys that are no longer owned: at once, or within the grace period. */
  | { readonly type: 'release'; readonly drain: number; readonly isAtOnce: boolean }
  /** These slots are owned from now on. */
  | { readonly type: 'acquired'; readonly slots: readonly number[] }
  /** The protocol has ended; no command follows. */
  | { readonly type: 'ended' };
