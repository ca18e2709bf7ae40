import type { Client, Fence } from '../../client/index.js';
import type { KeyOwnership, KeyOwnershipListener, ReconcileKey } from '../../controller/index.js';
import { Lease } from '../../object/index.js';
import type { Timer, Metrics } from '../../system/index.js';
import { OperatorError } from '../../system/index.js';
import type { RequiredAccess } from '../access/required-access.js';
import type { LeaderElectionOptions, Leadership } from '../leader-election.js';
import { elapsedMs, momentOf } from '../lease-claim.js';
import type { Moment } from '../lease-claim.js';
import type { HealthCheck } from '../manager-health.js';
import type { Runnable, RunnableContext } from '../runnable.js';
import { ShardMachine } from './shard-machine.js';
import type { MemberPhase } from './shard-machine.js';
import type { ShardCommand, ShardEvent } from './member-lease.js';
import { hashOfKey, rangesOf, slotCount, slotOf } from './assignment.js';
import type { ShardRange } from './assignment.js';
import { ShardStore } from './shard-store.js';
import { resolveShardingOptions } from './sharding-options.js';
import type { ResolvedShardingOptions, ShardingOptions } from './sharding-options.js';

/** Status of a {@link Sharding}, as this process sees it. */
export interface ShardingStatus {
  readonly phase: MemberPhase;
  /** Name of the Lease of this process. */
  readonly member: string;
  /** The Lease of the replica that assigns the ranges; undefined if unknown. */
  readonly leader: string | undefined;
  /** The Leases of all replicas that are not known to have left. */
  readonly members: readonly string[];
  /** Epoch of the last seen assignment; 0 before the first. */
  readonly epoch: number;
  /** Share of all hashes that this process owns now, from 0 to 1. */
  readonly share: number;
  /** Ranges of hashes that this process owns now. */
  readonly ranges: readonly ShardRange[];
}

/**
 * Spreads the keys of controllers over all replicas of an operator: each key has one owner at a time.
 *
 * ## Flow
 * Each replica holds and renews its own Lease. The hash space of the keys is divided into 1,024 slots. The
 * replica with the oldest Lease assigns them in epochs, which it stores in another Lease. A replica that
 * loses a slot ends its reconciles and acknowledges the epoch in its own Lease; then the slot is reassigned.
 * If a replica does not renew its Lease for `leaseDurationMs`, the Lease is taken from it and its slots are
 * reassigned at once.
 *
 * ## Guarantees
 * - No write of a reconcile starts later than `renewDeadlineMs` after the start of the last successful
 *   renewal, or after the release of the slot was acknowledged.
 * - The slots of a crashed replica, including the leader, have a new owner within `leaseDurationMs` and 4
 *   `retryPeriodMs`; those of a replica that stopped in order, within 3 `retryPeriodMs`.
 * - Shares differ by at most one slot, and only the necessary slots move.
 *
 * ## Caveats
 * - The server does not enforce a Lease: a write that was sent in time may take effect later.
 * - Deleting all Leases of the group at once causes two owners for up to a retry period.
 */
export class Sharding implements KeyOwnership, Runnable {
  readonly name = 'shards';
  readonly phase = 'replica';
  /** Readiness check: this replica is a member of its group. */
  readonly healthCheck: HealthCheck = { name: 'shards', check: () => this.#check() };
  readonly #options: ResolvedShardingOptions;
  readonly #machine: ShardMachine;
  readonly #metrics: ReturnType<typeof shardMetrics>;
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

  /** Namespace of the Leases. */
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
      const why = `this replica does not own the shard of the key, or its Lease ${this.#machine.name} is stale`;
      throw new OperatorError('Fenced', `${what}: not sent, because ${why}`);
    };
    return { check, lost };
  }

  subscribe(listener: KeyOwnershipListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

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
   * Joins the group until `signal` is aborted; then releases all keys, which ends their reconciles, and resolves. Can
   * be called only once.
   */
  async run({ signal, ready }: Pick<RunnableContext, 'signal' | 'ready'>): Promise<void> {
    if (this.#store !== undefined)
      throw new OperatorError('Stopped', 'sharding: run was called before; make a new one');
    this.#store = new ShardStore(this.#options, this.#ended.signal);
    const over = new Promise<void>((resolve) => (this.#whenOver = resolve));
    const onAbort = (): void => this.#step({ type: 'stop' });
    signal.addEventListener('abort', onAbort);
    // Other components need not wait: keys without an owner are not reconciled.
    ready();
    this.#step(signal.aborted ? { type: 'stop' } : { type: 'tick' });
    await over;
    signal.removeEventListener('abort', onAbort);
    this.#ended.abort(new OperatorError('Stopped', 'sharding has ended'));
    this.#metrics.forget();
  }

  /** Queues events that a command causes synchronously, so that they run after the command. */
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
    // A timer may fire slightly early.
    const delayMs = Math.max(1, Math.ceil(wakeMs - nowMs));
    this.#timer = this.#options.clock.setTimer(() => this.#step({ type: 'tick' }), delayMs);
  }

  /** Aborts work that began before this process was expelled. */
  #checkTerm(): void {
    if (this.#termNumber === this.#machine.term) return;
    this.#termNumber = this.#machine.term;
    const message = 'sharding: the Lease of this replica was taken over or deleted';
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
        this.#options.logger.info('sharding: replica missed its renewals', {
          lease: command.lease.name,
        });
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
        this.#reportAcquired(new Set(command.slots));
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
      // Work that may continue must not lose its slots: they stay owned until this process ends.
      this.#options.logger.error(
        'sharding: a controller could not release its keys, so this replica keeps them until it ends',
        { error },
      );
      return;
    }
    this.#step({ type: 'drained', drain });
  }

  #reportAcquired(slots: ReadonlySet<number>): void {
    const isNew = (key: ReconcileKey): boolean => slots.has(this.#slotOf(key));
    for (const listener of this.#listeners) {
      try {
        listener.acquired(isNew);
      } catch (error) {
        this.#options.logger.error(
          'sharding: a controller could not add the keys that this replica acquired',
          { error },
        );
      }
    }
  }

  #check(): void {
    if (this.#machine.isFresh(this.#nowMs())) return;
    const problem = this.#problem ?? this.#store?.problem;
    const why = problem instanceof Error ? `: ${problem.message}` : '';
    throw new OperatorError('Fenced', `not a member of shards ${this.#options.name}${why}`);
  }

  /** Returns the milliseconds since construction, including time while the process or machine was stopped. */
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

/** Options that a manager sets itself. */
type OwnParts = 'client' | 'clock' | 'random' | 'logger' | 'metrics';

/** Options for sharing the keys of controllers over the replicas of a manager. */
export interface ShardsOptions extends Omit<ShardingOptions, OwnParts | 'name' | 'namespace'> {
  /**
   * Reads and writes the Leases. Use a separate client if the manager's has a rate limit.
   * @defaultValue that of the first cluster
   */
  readonly client?: Client | undefined;
  /** Name of the group; the same for all replicas. @defaultValue that of `leaderElection` */
  readonly name?: string | undefined;
  /** Namespace of the Leases. @defaultValue that of `leaderElection` */
  readonly namespace?: string | undefined;
}

/** The options of a manager that configure its shards. */
interface ShardsWanted {
  readonly shards: ShardsOptions | undefined;
  readonly leaderElection: LeaderElectionOptions | Leadership | undefined;
}

/**
 * Returns the membership of a manager in its shard group. It is not started yet. Durations default to those of the
 * election.
 * @throws OperatorError `InvalidOption`: the name or namespace of the Leases is unknown, or an option is out of range.
 */
export function shardingOf(
  { shards = {}, leaderElection }: ShardsWanted,
  parts: Pick<ShardingOptions, OwnParts>,
): Sharding {
  const isElection = leaderElection !== undefined && !('run' in leaderElection);
  const election: Partial<LeaderElectionOptions> = isElection ? leaderElection : {};
  const { name = election.name, namespace = election.namespace } = shards;
  if (name === undefined || namespace === undefined) {
    const remedy = "give the manager's shards a name and a namespace";
    throw new OperatorError(
      'InvalidOption',
      `shards: name and namespace of the Leases are unknown; ${remedy}`,
    );
  }
  const { client = election.client ?? parts.client, identity = election.identity } = shards;
  const {
    leaseDurationMs = election.leaseDurationMs,
    renewDeadlineMs = election.renewDeadlineMs,
    retryPeriodMs = election.retryPeriodMs,
    ...rest
  } = shards;
  const times = { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
  return new Sharding({ ...rest, ...parts, ...times, client, identity, name, namespace });
}

export function shardingAccess(namespace: string): readonly RequiredAccess[] {
  return [{ type: Lease, verbs: ['list', 'create', 'patch', 'delete'], namespace }];
}

type ShardFigures = Pick<ShardingStatus, 'share' | 'members' | 'epoch'>;

/** Registers the metrics of the group `name`. */
function shardMetrics(metrics: Metrics, name: string) {
  const gauge = (metric: string, help: string) => {
    const made = metrics.gauge({
      name: `operator_builder_shards_${metric}`,
      help,
      labelNames: ['name'],
    });
    return (value: number): void => made.set(value, { name });
  };
  const share = gauge('owned_share', 'Share of all keys that this replica owns, from 0 to 1.');
  const members = gauge('members', 'Replicas that share the keys, according to this replica.');
  const epoch = gauge('epoch', 'Epoch of the latest assignment of keys that this replica read.');
  const update = (figures: ShardFigures): void => {
    share(figures.share);
    members(figures.members.length);
    epoch(figures.epoch);
  };
  // Resets the values when this process is no longer a member.
  const forget = (): void => update({ share: 0, members: [], epoch: 0 });
  return { update, forget };
}
