import type { Fence } from '../../client/fence.js';
import type { KeyOwnership, KeyOwnershipListener } from '../../controller/key-ownership.js';
import type { ReconcileKey } from '../../controller/reconcile-key.js';
import type { Timer } from '../../system/clock.js';
import { OperatorError } from '../../system/operator-error.js';
import { elapsedMs, momentOf } from '../lease-fence.js';
import type { Moment } from '../lease-fence.js';
import type { HealthCheck } from '../health-check.js';
import type { Runnable, RunnableContext } from '../runnable.js';
import { hashOfKey } from './shard-hash.js';
import { ShardMachine } from './shard-machine.js';
import type { MemberPhase } from './shard-machine.js';
import type { ShardCommand, ShardEvent } from './shard-messages.js';
import { rangesOf, slotCount, slotOf } from './shard-range.js';
import type { ShardRange } from './shard-range.js';
import { shardMetrics } from './shard-metrics.js';
import type { ShardMetrics } from './shard-metrics.js';
import { ShardStore } from './shard-store.js';
import { resolveShardingOptions } from './sharding-options.js';
import type { ResolvedShardingOptions, ShardingOptions } from './sharding-options.js';

/** How a {@link Sharding} is doing, as this process sees it. */
export interface ShardingStatus {
  readonly phase: MemberPhase;
  /** The own Lease. */
  readonly member: string;
  /** The Lease of the replica that assigns the ranges; undefined: none is known. */
  readonly leader: string | undefined;
  /** The Leases of all replicas that are not known to be gone. */
  readonly members: readonly string[];
  /** Of the assignment that was seen last; 0: there is none yet. */
  readonly epoch: number;
  /** What is owned now: the share of all hashes, from 0 to 1. */
  readonly share: number;
  /** What is owned now, as ranges of hashes. */
  readonly ranges: readonly ShardRange[];
}

/**
 * Spreads the keys of controllers over all replicas of an operator: each key has one owner at a time.
 *
 * ## Flow
 * Each replica holds a Lease of its own and renews it. The hashes of all keys are divided into 1,024
 * slots; the replica whose Lease is the oldest assigns them in epochs, stored in one more Lease. Who
 * loses a slot ends its reconciles, acknowledges the epoch in its own Lease, and then the slot is given
 * on. The Lease of a replica that is silent for `leaseDurationMs` is taken from it, and its slots are
 * given on at once.
 *
 * ## Guarantees
 * - No write of a reconcile is begun later than `renewDeadlineMs` after the start of the last
 *   successful renewal, nor after the slot was acknowledged to be given up.
 * - What a dead replica had, the leader too, is owned again within `leaseDurationMs` and 4
 *   `retryPeriodMs`; what a replica had that ended in good order, within 3 `retryPeriodMs`.
 * - Shares differ by one slot, and no slot moves that need not.
 *
 * ## Caveats
 * - A Lease fences nothing at the server: a write that was on the wire in time may land later.
 * - Whoever deletes all Leases of the group at one moment has two owners for up to a retry period.
 */
export class Sharding implements KeyOwnership, Runnable {
  readonly name = 'shards';
  readonly phase = 'replica';
  /** For readyz: this replica is a member of its group. */
  readonly healthCheck: HealthCheck = { name: 'shards', check: () => this.#check() };
  readonly #options: ResolvedShardingOptions;
  readonly #machine: ShardMachine;
  readonly #metrics: ShardMetrics;
  readonly #listeners = new Set<KeyOwnershipListener>();
  readonly #origin: Moment;
  readonly #ended = new AbortController();
  #term = new AbortController();
  #termNumber = 1;
  #store: ShardStore | undefined;
  #timer: Timer | undefined;
  #problem: unknown;
  #whenOver: (() => void) | undefined;
  #queue: ShardEvent[] = [];
  #isStepping = false;

  /** @throws OperatorError `InvalidOption`: an option is missing, out of range, or contradicts another. */
  constructor(options: ShardingOptions) {
    this.#options = resolveShardingOptions(options);
    const { clock, random, name, metrics } = this.#options;
    this.#origin = momentOf(clock);
    this.#metrics = shardMetrics(metrics, name);
    this.#machine = new ShardMachine({
      times: this.#options,
      slotCount,
      newName: () => `${name}-${random.uuid().slice(0, 8)}`,
    });
  }

  /** Where the Leases are. */
  get namespace(): string {
    return this.#options.namespace;
  }

  owns(key: ReconcileKey): boolean {
    return this.#machine.owns(this.#slotOf(key), this.#nowMs());
  }

  fenceOf(key: ReconcileKey): Fence {
    const slot = this.#slotOf(key);
    const { term } = this.#machine;
    const { signal: lost } = this.#term;
    const check = (what: string): void => {
      if (this.#machine.holds(slot, term, this.#nowMs())) return;
      const why = `its shard is not this replica's (any more), or Lease ${this.#machine.name} is stale`;
      throw new OperatorError('Fenced', `${what}: not sent, for ${why}`);
    };
    return { check, lost };
  }

  subscribe(listener: KeyOwnershipListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** How it is doing. */
  status(): ShardingStatus {
    const { phase, name: member, view, owned } = this.#machine;
    const nowMs = this.#nowMs();
    const slots = this.#machine.isFresh(nowMs) ? owned : [];
    const held = view.members.filter(({ holder }) => holder !== '');
    return {
      ...{ phase, member, leader: this.#machine.leader(nowMs) },
      members: held.map(({ name }) => name),
      epoch: view.record?.epoch ?? 0,
      share: slots.length / slotCount,
      ranges: rangesOf(slots),
    };
  }

  /**
   * Is a member of its group until `signal` is aborted; then it gives all keys back, which ends their
   * reconciles, and resolves. It runs once.
   */
  async run({ signal, ready }: Pick<RunnableContext, 'signal' | 'ready'>): Promise<void> {
    if (this.#store !== undefined) throw new OperatorError('Stopped', 'sharding: it ran already');
    this.#store = new ShardStore(this.#options, this.#ended.signal);
    const over = new Promise<void>((resolve) => (this.#whenOver = resolve));
    const onAbort = (): void => this.#step({ type: 'stop' });
    signal.addEventListener('abort', onAbort, { once: true });
    // Others need not wait: what nobody owns is not reconciled.
    ready();
    this.#step(signal.aborted ? { type: 'stop' } : { type: 'tick' });
    await over;
    signal.removeEventListener('abort', onAbort);
    this.#timer?.cancel();
    this.#ended.abort(new OperatorError('Stopped', 'sharding has ended'));
    this.#metrics.forget();
  }

  /** What a command causes at once comes after the command. */
  #step(event: ShardEvent): void {
    this.#queue.push(event);
    if (this.#isStepping) return;
    this.#isStepping = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const commands = this.#machine.step(next, this.#nowMs());
      this.#checkTerm();
      for (const command of commands) this.#carryOut(command);
    }
    this.#isStepping = false;
    this.#metrics.update(this.status());
    this.#timer?.cancel();
    const nowMs = this.#nowMs();
    const wakeMs = this.#machine.wakeAtMs(nowMs);
    if (wakeMs === Infinity) return;
    // A timer may fire a little before its time.
    const delayMs = Math.max(1, Math.ceil(wakeMs - nowMs));
    this.#timer = this.#options.clock.setTimer(() => this.#step({ type: 'tick' }), delayMs);
  }

  /** Ends what began as a member that was expelled since. */
  #checkTerm(): void {
    if (this.#termNumber === this.#machine.term) return;
    this.#termNumber = this.#machine.term;
    const message = `sharding: the Lease of this replica was taken from it`;
    this.#options.logger.warn(message, { joinsAgainAs: this.#machine.name });
    this.#term.abort(new OperatorError('Fenced', message));
    this.#term = new AbortController();
  }

  #carryOut(command: ShardCommand): void {
    const store = this.#store;
    if (store === undefined) return;
    const startedMs = this.#nowMs();
    switch (command.type) {
      case 'list':
        void this.#list(store, startedMs);
        return;
      case 'join':
      case 'renew':
      case 'resign':
        void own(store, command).then((outcome) =>
          this.#step({ type: 'wroteOwn', outcome, startedMs }),
        );
        return;
      case 'expel':
        this.#options.logger.info('sharding: a replica is silent', { lease: command.lease.name });
        void store
          .giveUp(command.lease)
          .then((outcome) => this.#step({ type: 'expelled', outcome }));
        return;
      case 'record':
        void store
          .record(command.assignment, command.over)
          .then((outcome) => this.#step({ type: 'recorded', outcome }));
        return;
      case 'remove':
        void store.remove(command.lease);
        return;
      case 'release':
        void this.#release(command.drain, command.isAtOnce ? 0 : this.#options.drainMs);
        return;
      case 'acquired':
        this.#tellAcquired(new Set(command.slots));
        return;
      case 'ended':
        this.#whenOver?.();
    }
  }

  async #list(store: ShardStore, startedMs: number): Promise<void> {
    try {
      const view = await store.list();
      this.#problem = undefined;
      this.#step({ type: 'listed', view, startedMs });
    } catch (error) {
      if (!this.#ended.signal.aborted) {
        this.#options.logger.warn('sharding: the Leases could not be listed', { error });
      }
      this.#problem = error;
      this.#step({ type: 'listFailed' });
    }
  }

  async #release(drain: number, graceMs: number): Promise<void> {
    const released = [...this.#listeners].map(async (listener) => listener.released(graceMs));
    try {
      await Promise.all(released);
    } catch (error) {
      // What may go on must not be given away: it stays ours until this process ends.
      this.#options.logger.error('sharding: keys could not be released', { error });
      return;
    }
    this.#step({ type: 'drained', drain });
  }

  #tellAcquired(slots: ReadonlySet<number>): void {
    const isNew = (key: ReconcileKey): boolean => slots.has(this.#slotOf(key));
    for (const listener of this.#listeners) {
      try {
        listener.acquired(isNew);
      } catch (error) {
        this.#options.logger.error('sharding: keys could not be taken over', { error });
      }
    }
  }

  #check(): void {
    if (this.#machine.isFresh(this.#nowMs())) return;
    const why = this.#problem instanceof Error ? `: ${this.#problem.message}` : '';
    throw new OperatorError('Fenced', `not a member of shards ${this.#options.name}${why}`);
  }

  /** Milliseconds since this was made, those included for which the process or machine was stopped. */
  #nowMs(): number {
    return elapsedMs(this.#options.clock, this.#origin);
  }

  #slotOf(key: ReconcileKey): number {
    return slotOf(hashOfKey(key, this.#options.by));
  }
}

function own(
  store: ShardStore,
  command: ShardCommand & { type: 'join' | 'renew' | 'resign' },
): ReturnType<ShardStore['join']> {
  switch (command.type) {
    case 'join':
      return store.join(command.name);
    case 'renew':
      return store.renew(command.lease, command.acknowledged);
    case 'resign':
      return store.giveUp(command.lease);
  }
}
