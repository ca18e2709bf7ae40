import { membersIn } from './assignment.js';
import { MemberObserver } from './member-lease.js';
import type {
  MemberLease,
  ShardCommand,
  ShardEvent,
  ShardTimes,
  ShardView,
} from './member-lease.js';
import { Possession } from './possession.js';
import type { Acknowledgement, PossessionChange } from './possession.js';
import { ShardLeader } from './shard-leader.js';

export interface ShardMachineOptions {
  readonly times: ShardTimes;
  readonly slotCount: number;
  /** Generates the name of a Lease; never the same twice. */
  readonly newName: () => string;
}

export type MemberPhase = 'joining' | 'member' | 'leaving' | 'left';

/**
 * One replica's part of the protocol of docs/sharding.md, without input, output or a clock. Each
 * {@link ShardMachine.step} takes an event and its time, and returns commands.
 *
 * ```text
 *            own Lease stored                 stop              drained, Lease given up
 *  joining ------------------> member ---------------> leaving --------------------------> left
 *     ^                          |
 *     +--------------------------+ own Lease is gone or taken: a new name, and no slot
 * ```
 *
 * Why a slot never has two owners:
 *
 * 1. The record changes the holder of a slot only after the holder has acknowledged its release, given up its
 *    Lease, or was expelled.
 * 2. A member acknowledges after its work on the slot has ended.
 * 3. A member is expelled if its Lease was seen unchanged for leaseDuration, by a compare-and-swap of exactly that
 *    version. The member's last renewal began before that version was first seen, so its fence is closed at the
 *    expulsion and can't reopen.
 * 4. A member ignores a record that is older than one that it saw.
 */
export class ShardMachine {
  readonly #options: ShardMachineOptions;
  readonly #possession: Possession;
  readonly #observer: MemberObserver;
  readonly #leader: ShardLeader;
  #commands: ShardCommand[] = [];
  #phase: MemberPhase = 'joining';
  #term = 1;
  #name: string;
  #own: MemberLease | undefined;
  /** Time at which the Lease of this process was known to exist; a list that began earlier may not contain it. */
  #ownSinceMs = Infinity;
  #renewedMs = -Infinity;
  /** Name of the Lease that is being written. */
  #writing: string | undefined;
  #writeAtMs = -Infinity;
  #attempted: Acknowledgement | undefined;
  #isListing = false;
  #listAtMs = -Infinity;
  /** Start of the last list with a response. */
  #listedMs = -Infinity;
  /** Set while the version of the Lease of this process is unknown; a list that begins later determines it. */
  #unsureSinceMs: number | undefined;

  constructor(options: ShardMachineOptions) {
    const { times, slotCount, newName } = options;
    const { leaseDurationMs, retryPeriodMs } = times;
    this.#options = options;
    this.#name = newName();
    this.#possession = new Possession(slotCount);
    this.#observer = new MemberObserver(leaseDurationMs);
    this.#leader = new ShardLeader({ observer: this.#observer, retryPeriodMs, slotCount });
  }

  get phase(): MemberPhase {
    return this.#phase;
  }

  /** Name of the Lease of this process. */
  get name(): string {
    return this.#name;
  }

  /** Grows when this process is expelled: work that began earlier must no longer write. */
  get term(): number {
    return this.#term;
  }

  /** The group as last seen. */
  get view(): ShardView {
    return this.#leader.view;
  }

  /** The slots that are owned while the lease is fresh. */
  get owned(): readonly number[] {
    return this.#possession.owned;
  }

  /** Returns whether the lease is fresh, so that this process may write. */
  isFresh(nowMs: number): boolean {
    return nowMs < this.#renewedMs + this.#options.times.renewDeadlineMs;
  }

  /** Returns whether work on `slot` may start. */
  owns(slot: number, nowMs: number): boolean {
    return this.isFresh(nowMs) && this.#possession.owns(slot);
  }

  /** Returns whether work on `slot` that began in `term` may write. */
  holds(slot: number, term: number, nowMs: number): boolean {
    return this.isFresh(nowMs) && term === this.#term && this.#possession.holds(slot);
  }

  /** Returns the leader, as far as this process knows. */
  leader(nowMs: number): string | undefined {
    return this.#leader.leader(nowMs);
  }

  /** @returns the commands for `event`, in order */
  step(event: ShardEvent, nowMs: number): readonly ShardCommand[] {
    if (this.#phase === 'left') return [];
    this.#commands = [];
    // Check the fence first. Work that arrived while the lease was stale was dropped and must be queued
    // again, even if this event makes the lease fresh.
    this.#checkFence(nowMs);
    this.#handle(event, nowMs);
    this.#checkFence(nowMs);
    this.#list(nowMs);
    this.#writeOwn(nowMs);
    this.#lead(nowMs);
    return this.#commands;
  }

  /** Returns when to `tick` next if no other event occurs. */
  wakeAtMs(nowMs: number): number {
    if (this.#phase === 'left') return Infinity;
    const fenceMs = this.#renewedMs + this.#options.times.renewDeadlineMs;
    return Math.min(
      this.#isListing ? Infinity : this.#listAtMs,
      this.#canWriteOwn(nowMs) ? this.#writeAtMs : Infinity,
      this.#possession.isOpen ? fenceMs : Infinity,
      this.#canLead(nowMs) ? this.#leader.wakeAtMs(this.#name, nowMs) : Infinity,
    );
  }

  #handle(event: ShardEvent, nowMs: number): void {
    switch (event.type) {
      case 'tick':
        return;
      case 'stop':
        this.#phase = 'leaving';
        this.#writeAtMs = nowMs;
        this.#change(this.#possession.leave(), false);
        return;
      case 'listed':
        this.#isListing = false;
        this.#seen(event.view, event.startedMs, nowMs);
        return;
      case 'listFailed':
        this.#isListing = false;
        return;
      case 'wroteOwn':
        // Ignore the result for a Lease that was taken meanwhile.
        if (this.#writing === this.#name) this.#wroteOwn(event, nowMs);
        this.#writing = undefined;
        return;
      case 'expelled':
        this.#leader.expelled(event.outcome);
        if (event.outcome.type !== 'stored') this.#listSoon(nowMs);
        return;
      case 'recorded':
        this.#leader.recorded(event.outcome);
        if (event.outcome.type !== 'stored') this.#listSoon(nowMs);
        else this.#change(this.#possession.see(event.outcome.object), false);
        return;
      case 'drained':
        this.#change(this.#possession.drained(event.drain), false);
    }
  }

  #seen(view: ShardView, startedMs: number, nowMs: number): void {
    const { members, record } = view;
    this.#listedMs = startedMs;
    this.#observer.observe(members, record === undefined ? [] : membersIn(record), nowMs);
    this.#leader.see(view);
    const lease = members.find(({ name }) => name === this.#name);
    const isOver = lease?.holder === '' || (lease !== undefined && this.#isOther(lease));
    if (isOver || (lease === undefined && startedMs > this.#ownSinceMs)) this.#expelled(nowMs);
    else if (lease !== undefined) this.#found(lease, startedMs, nowMs);
    if (record !== undefined) this.#change(this.#possession.see(record), false);
  }

  /** Handles the Lease of this process as listed. */
  #found(lease: MemberLease, startedMs: number, nowMs: number): void {
    if (this.#own === undefined) {
      // The response to the creation of the Lease was lost. The list is not a renewal: the fence stays closed.
      this.#joined(lease, startedMs);
      this.#writeAtMs = nowMs;
    } else if (this.#unsureSinceMs !== undefined && startedMs >= this.#unsureSinceMs) {
      this.#own = lease;
      this.#writeAtMs = nowMs;
    } else return;
    this.#unsureSinceMs = undefined;
  }

  #isOther(lease: MemberLease): boolean {
    return this.#own !== undefined && this.#own.uid !== lease.uid;
  }

  #joined(lease: MemberLease, knownMs: number): void {
    this.#own = lease;
    this.#ownSinceMs = knownMs;
    if (this.#phase === 'joining') this.#phase = 'member';
    this.#possession.join(lease.name);
  }

  #wroteOwn(event: ShardEvent & { type: 'wroteOwn' }, nowMs: number): void {
    const { outcome, startedMs } = event;
    const { retryPeriodMs } = this.#options.times;
    switch (outcome.type) {
      case 'stored':
        if (outcome.object.holder === '') {
          this.#end();
          return;
        }
        this.#renewedMs = startedMs;
        this.#writeAtMs = Math.max(nowMs, startedMs + retryPeriodMs);
        if (this.#own === undefined) this.#joined(outcome.object, nowMs);
        else this.#own = outcome.object;
        return;
      case 'gone':
        this.#expelled(nowMs);
        return;
      case 'conflict':
        // The Lease was taken, or a response was lost; the next list shows which.
        this.#unsureSinceMs = nowMs;
        this.#listSoon(nowMs);
        return;
      case 'failed':
        this.#writeAtMs = nowMs + retryPeriodMs;
    }
  }

  /** Handles the loss of the Lease of this process: other members may own its slots from now on. */
  #expelled(nowMs: number): void {
    this.#term++;
    this.#own = undefined;
    this.#ownSinceMs = Infinity;
    this.#renewedMs = -Infinity;
    this.#unsureSinceMs = undefined;
    this.#attempted = undefined;
    this.#name = this.#options.newName();
    // The next write is delayed, so that this process does not compete with a user who deletes all Leases.
    this.#writeAtMs = nowMs + this.#options.times.retryPeriodMs;
    if (this.#phase === 'member') this.#phase = 'joining';
    this.#change(this.#possession.expelled(), true);
  }

  #checkFence(nowMs: number): void {
    if (this.#own === undefined || this.#phase === 'left') return;
    const isFresh = this.isFresh(nowMs);
    if (isFresh === this.#possession.isOpen) return;
    if (isFresh) this.#change(this.#possession.reopen(), false);
    else this.#change(this.#possession.lapse(), true);
  }

  /** Lists again soon, because the view is out of date, but with a delay that prevents a hot loop. */
  #listSoon(nowMs: number): void {
    const soonMs = Math.max(nowMs, this.#listedMs + this.#options.times.retryPeriodMs / 4);
    this.#listAtMs = Math.min(this.#listAtMs, soonMs);
  }

  #list(nowMs: number): void {
    if (this.#isListing || this.#phase === 'left' || nowMs < this.#listAtMs) return;
    this.#isListing = true;
    this.#listAtMs = nowMs + this.#options.times.retryPeriodMs;
    this.#commands.push({ type: 'list' });
  }

  #canWriteOwn(nowMs: number): boolean {
    if (this.#writing !== undefined || this.#unsureSinceMs !== undefined) return false;
    // A member that can't list the group must not lead, and must not keep slots that other members wait for.
    return nowMs < this.#listedMs + this.#options.times.renewDeadlineMs;
  }

  #writeOwn(nowMs: number): void {
    const lease = this.#own;
    if (this.#phase === 'left') return;
    if (this.#phase === 'leaving' && this.#canEnd(nowMs)) {
      this.#end();
      return;
    }
    if (!this.#canWriteOwn(nowMs)) return;
    const { acknowledged } = this.#possession;
    const isNews = !isSame(acknowledged, this.#attempted);
    if (nowMs < this.#writeAtMs && !(lease !== undefined && isNews)) return;
    if (lease === undefined) this.#commands.push({ type: 'join', name: this.#name });
    else if (this.#phase === 'leaving' && this.#possession.isDrained) {
      this.#commands.push({ type: 'resign', lease });
    } else {
      this.#attempted = acknowledged;
      this.#commands.push({ type: 'renew', lease, acknowledged });
    }
    this.#writing = this.#name;
  }

  /** Returns whether no slot is held and no further message can be sent. */
  #canEnd(nowMs: number): boolean {
    if (this.#writing !== undefined || !this.#possession.isDrained) return false;
    return this.#own === undefined || !this.isFresh(nowMs);
  }

  #end(): void {
    this.#phase = 'left';
    this.#commands.push({ type: 'ended' });
  }

  #canLead(nowMs: number): boolean {
    return this.#own !== undefined && this.#phase !== 'left' && this.isFresh(nowMs);
  }

  #lead(nowMs: number): void {
    if (!this.#canLead(nowMs)) return;
    const { acknowledged } = this.#possession;
    const isLeaving = this.#phase === 'leaving';
    const context = { self: this.#name, isLeaving, acknowledged, nowMs };
    this.#commands.push(...this.#leader.step(context));
  }

  #change({ acquired, drain }: PossessionChange, isAtOnce: boolean): void {
    if (drain !== undefined) this.#commands.push({ type: 'release', drain, isAtOnce });
    if (acquired.length > 0) this.#commands.push({ type: 'acquired', slots: acquired });
  }
}

function isSame(one: Acknowledgement | undefined, other: Acknowledgement | undefined): boolean {
  return one?.record === other?.record && one?.epoch === other?.epoch;
}
