import type { Assignment, StoredAssignment } from './assignment.js';
import type { MemberLease } from './member-lease.js';
import type { Acknowledgement } from './possession.js';

/** Durations of the protocol, in milliseconds; see `ShardingOptions`. */
export interface ShardTimes {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** All objects of a group, from a single list request, so that they are consistent. */
export interface ShardView {
  readonly members: readonly MemberLease[];
  readonly record: StoredAssignment | undefined;
}

/** Result of a write. `conflict`: the object has changed meanwhile. `failed`: it may or may not be stored. */
export type WriteOutcome<T> =
  | { readonly type: 'stored'; readonly object: T }
  | { readonly type: 'conflict' | 'gone' | 'failed' };

/** Input of the protocol; times are those of the process' own monotonic clock. */
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
  /** Renew the own Lease if it still has this version, with the acknowledgement. */
  | {
      readonly type: 'renew';
      readonly lease: MemberLease;
      readonly acknowledged: Acknowledgement | undefined;
    }
  /** Release the own Lease: no slot is held. */
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
