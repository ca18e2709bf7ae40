import { membersIn, planAssignment } from './assignment.js';
import type {
  Assignment,
  StoredAssignment,
  AssignmentFacts,
  MemberStanding,
} from './assignment.js';
import type {
  MemberObserver,
  MemberLease,
  ShardCommand,
  ShardView,
  WriteOutcome,
} from './member-lease.js';
import type { Acknowledgement } from './possession.js';

/** The state of a member that may lead. */
export interface LeaderContext {
  /** Name of the Lease of this process. */
  readonly self: string;
  /** True while this process releases its own slots. */
  readonly isLeaving: boolean;
  /** The member's current acknowledgement; its Lease may still have an older one. */
  readonly acknowledged: Acknowledgement | undefined;
  readonly nowMs: number;
}

export interface ShardLeaderOptions {
  readonly observer: MemberObserver;
  readonly retryPeriodMs: number;
  readonly slotCount: number;
}

/**
 * The leader's part of the protocol: it expels members with expired Leases and reassigns the slots that they
 * and others have released. The oldest member leads, without an election. Each step is a compare-and-swap on
 * the object that it was derived from, so of two concurrent leaders one fails. If the leader is paused but
 * not yet expired, it does not take a due step. The next oldest member takes it one retry period later, and
 * so on.
 */
export class ShardLeader {
  readonly #options: ShardLeaderOptions;
  #view: ShardView = { members: [], record: undefined };
  /**
   * Whether a step was tried with `#view`. A view allows one step, since objects may have changed after it was read.
   */
  #isViewUsed = true;
  #dueSinceMs: number | undefined;
  #expelling = 0;
  #isRecording = false;
  readonly #removing = new Set<string>();

  constructor(options: ShardLeaderOptions) {
    this.#options = options;
  }

  /** The newest view, updated with this process's own writes. */
  get view(): ShardView {
    return this.#view;
  }

  see(view: ShardView): void {
    this.#view = view;
    this.#isViewUsed = false;
    this.#removing.clear();
  }

  /** Handles the response to `expel`. */
  expelled(outcome: WriteOutcome<MemberLease>): void {
    this.#expelling--;
    if (outcome.type !== 'stored') return;
    const { object } = outcome;
    const members = this.#view.members.map((lease) =>
      lease.name === object.name ? object : lease,
    );
    this.#view = { ...this.#view, members };
    // The view now contains this newer Lease, so the next step may use the view at once.
    this.#isViewUsed = false;
  }

  /** Handles the response to `record`. */
  recorded(outcome: WriteOutcome<StoredAssignment>): void {
    this.#isRecording = false;
    if (outcome.type === 'stored') this.#view = { ...this.#view, record: outcome.object };
  }

  /** Returns the leader as far as known: the oldest member that has not expired. */
  leader(nowMs: number): string | undefined {
    return this.#order(nowMs)[0]?.name;
  }

  /** Returns the commands that this process should run now. */
  step(context: LeaderContext): readonly ShardCommand[] {
    const { self, nowMs } = context;
    if (this.#expelling > 0 || this.#isRecording || this.#isViewUsed) return [];
    const rank = this.#order(nowMs).findIndex(({ name }) => name === self);
    if (rank < 0) return [];
    const expired = this.#expired(context);
    const plan = expired.length > 0 ? undefined : planAssignment(this.#facts(context));
    if (expired.length === 0 && plan === undefined) {
      this.#dueSinceMs = undefined;
      return rank === 0 ? this.#removals() : [];
    }
    this.#dueSinceMs ??= nowMs;
    if (nowMs < this.#dueSinceMs + rank * this.#options.retryPeriodMs) return [];
    this.#isViewUsed = true;
    this.#expelling = expired.length;
    if (plan === undefined) return expired.map((lease) => ({ type: 'expel', lease }));
    return [this.#record(plan)];
  }

  /** Returns when {@link ShardLeader.step} may have work without a new event; Infinity for never. */
  wakeAtMs(self: string, nowMs: number): number {
    if (this.#expelling > 0 || this.#isRecording || this.#isViewUsed) return Infinity;
    const rank = this.#order(nowMs).findIndex(({ name }) => name === self);
    if (rank < 0) return Infinity;
    const expiries = [...this.#held(), ...this.#missing()]
      .filter((name) => name !== self)
      .map((name) => this.#options.observer.expiresAtMs(name))
      .filter((atMs) => atMs > nowMs);
    const dueMs = (this.#dueSinceMs ?? Infinity) + rank * this.#options.retryPeriodMs;
    return Math.min(dueMs, ...expiries);
  }

  #record(assignment: Assignment): ShardCommand {
    this.#isRecording = true;
    return { type: 'record', assignment, over: this.#view.record };
  }

  #expired({ self, nowMs }: LeaderContext): readonly MemberLease[] {
    return this.#view.members.filter(
      ({ name, holder }) =>
        holder !== '' && name !== self && this.#options.observer.isExpired(name, nowMs),
    );
  }

  /** Removes Leases of former members that the record no longer refers to. */
  #removals(): readonly ShardCommand[] {
    const named = new Set(this.#view.record === undefined ? [] : membersIn(this.#view.record));
    const over = this.#view.members.filter(
      ({ name, holder }) => holder === '' && !named.has(name) && !this.#removing.has(name),
    );
    for (const { name } of over) this.#removing.add(name);
    return over.map((lease) => ({ type: 'remove', lease }));
  }

  #order(nowMs: number): readonly MemberLease[] {
    const { observer } = this.#options;
    return this.#view.members
      .filter(({ name, holder }) => holder !== '' && !observer.isExpired(name, nowMs))
      .sort((one, other) => one.createdMs - other.createdMs || (one.name < other.name ? -1 : 1));
  }

  #held(): readonly string[] {
    return this.#view.members.filter(({ holder }) => holder !== '').map(({ name }) => name);
  }

  #missing(): readonly string[] {
    const present = new Set(this.#view.members.map(({ name }) => name));
    const { record } = this.#view;
    return record === undefined ? [] : membersIn(record).filter((name) => !present.has(name));
  }

  #facts(context: LeaderContext): AssignmentFacts {
    const { self, isLeaving } = context;
    const held = [...this.#held()].sort();
    return {
      record: this.#view.record,
      slotCount: this.#options.slotCount,
      standingOf: (member) => this.#standingOf(member, context),
      candidates: held.filter((name) => !isLeaving || name !== self),
      // A leader that is the only member need not wait for its own acknowledgement.
      mayHold: held.some((name) => name !== self) ? held : [],
    };
  }

  #standingOf(member: string, context: LeaderContext): MemberStanding {
    const lease = this.#view.members.find(({ name }) => name === member);
    if (lease === undefined) {
      const isOver = this.#options.observer.isExpired(member, context.nowMs);
      return { type: isOver ? 'gone' : 'missing' };
    }
    if (lease.holder === '') return { type: 'gone' };
    const acknowledged = member === context.self ? context.acknowledged : lease.acknowledged;
    const isOfThis = acknowledged?.record === this.#view.record?.uid;
    return { type: 'live', acknowledged: isOfThis ? (acknowledged?.epoch ?? 0) : 0 };
  }
}
