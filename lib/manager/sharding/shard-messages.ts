import type { Assignment, StoredAssignment } from './assignment.js';
import type { MemberLease } from './member-lease.js';
import type { Acknowledgement } from './possession.js';

/** Durations of the protocol, in milliseconds; see `ShardingOptions`. */
export interface ShardTimes {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** All objects of a group at one moment: one list, so that its parts fit together. */
export interface ShardView {
  readonly members: readonly MemberLease[];
  readonly record: StoredAssignment | undefined;
}

/** How a write went: `conflict`: the object changed meanwhile; `failed`: it may have been stored or not. */
export type WriteOutcome<T> =
  | { readonly type: 'stored'; readonly object: T }
  | { readonly type: 'conflict' | 'gone' | 'failed' };

/** What happened; times are those of the process' own monotonic clock. */
export type ShardEvent =
  | { readonly type: 'tick' }
  /** It is to end: all slots are given up in good order. */
  | { readonly type: 'stop' }
  | { readonly type: 'listed'; readonly view: ShardView; readonly startedMs: number }
  | { readonly type: 'listFailed' }
  /** Answer to `join`, `renew` and `resign`. */
  | {
      readonly type: 'wroteOwn';
      readonly outcome: WriteOutcome<MemberLease>;
      readonly startedMs: number;
    }
  | { readonly type: 'expelled'; readonly outcome: WriteOutcome<MemberLease> }
  | { readonly type: 'recorded'; readonly outcome: WriteOutcome<StoredAssignment> }
  /** What `release` asked for is done. */
  | { readonly type: 'drained'; readonly drain: number };

/** What is to be done about it. */
export type ShardCommand =
  | { readonly type: 'list' }
  /** Create a Lease of this name. */
  | { readonly type: 'join'; readonly name: string }
  /** Renew the own Lease, if it is still of this version, and tell what is acknowledged. */
  | {
      readonly type: 'renew';
      readonly lease: MemberLease;
      readonly acknowledged: Acknowledgement | undefined;
    }
  /** Give up the own Lease: nothing is held any more. */
  | { readonly type: 'resign'; readonly lease: MemberLease }
  /** Take the Lease from its member, if it is still of this version. */
  | { readonly type: 'expel'; readonly lease: MemberLease }
  /** Delete a Lease that nobody holds, if it is still of this version. There is no answer. */
  | { readonly type: 'remove'; readonly lease: MemberLease }
  /** Store the next epoch over `over`, if that is still of this version; undefined: create it. */
  | {
      readonly type: 'record';
      readonly assignment: Assignment;
      readonly over: StoredAssignment | undefined;
    }
  /** End the work on all keys that are not owned any more: at once, or in their time. */
  | { readonly type: 'release'; readonly drain: number; readonly isAtOnce: boolean }
  /** These slots are owned from now on. */
  | { readonly type: 'acquired'; readonly slots: readonly number[] }
  /** It is over; no command follows. */
  | { readonly type: 'ended' };
