import type {
  MemberLease,
  ShardCommand,
  ShardEvent,
  ShardTimes,
  WriteOutcome,
} from '../../../../lib/manager/sharding/member-lease.js';
import { ShardMachine } from '../../../../lib/manager/sharding/shard-machine.js';
import type { ModelServer } from './model-server.js';
import type { VirtualTime } from './virtual-time.js';

/** The network of one process. */
export interface Network {
  /** The longest time of a request and of a response, each in milliseconds. */
  latencyMs: number;
  /** The new requests that do not arrive, or whose responses do not: all of them, lists or writes. */
  cut: 'none' | 'requests' | 'answers' | 'lists' | 'writes';
}

/** Options of {@link ModelProcess}. */
export interface ModelProcessOptions {
  readonly name: string;
  readonly time: VirtualTime;
  readonly server: ModelServer;
  readonly times: ShardTimes;
  readonly slotCount: number;
  /** The longest time until the work on keys has ended, in milliseconds. */
  readonly drainMs: number;
  /** The rate of this process's clock, which starts anywhere and may run slightly fast or slow. */
  readonly clockRate: number;
  readonly changed: (process: ModelProcess) => void;
}

/** A replica in a simulation: the real protocol, with a clock and a network of its own. */
export class ModelProcess {
  readonly name: string;
  readonly machine: ShardMachine;
  readonly network: Network = { latencyMs: 5, cut: 'none' };
  /** The command over which the process dies: before the server receives it, or before the response. */
  doom: { readonly type: 'expel' | 'record'; readonly isStored: boolean } | undefined;
  readonly #options: ModelProcessOptions;
  readonly #offsetMs: number;
  #state: 'runs' | 'paused' | 'dead' = 'runs';
  readonly #held: (() => void)[] = [];
  #wakes = 0;

  constructor(options: ModelProcessOptions) {
    const { name, times, slotCount, time } = options;
    this.name = name;
    this.#options = options;
    this.#offsetMs = time.between(-1e6, 1e6);
    let joins = 0;
    const newName = (): string => `${name}.${joins++}`;
    this.machine = new ShardMachine({ times, slotCount, newName });
    this.#step({ type: 'tick' });
  }

  get isAlive(): boolean {
    return this.#state !== 'dead';
  }

  get isPaused(): boolean {
    return this.#state === 'paused';
  }

  /** True if the process may write now, according to its own state. */
  get isOpen(): boolean {
    return this.isAlive && this.machine.isFresh(this.#nowMs());
  }

  /** Returns true if the process may write keys of `slot` now, according to its own state. */
  holds(slot: number): boolean {
    const { machine } = this;
    return machine.holds(slot, machine.term, this.#nowMs());
  }

  /** The slots that the process works on now. */
  get works(): readonly number[] {
    const nowMs = this.#nowMs();
    if (this.#state !== 'runs') return [];
    return this.machine.owned.filter((slot) => this.machine.owns(slot, nowMs));
  }

  kill(): void {
    this.#state = 'dead';
  }

  /** Stops the process while its clock runs on. */
  pause(): void {
    if (this.#state === 'runs') this.#state = 'paused';
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'runs';
    // Held events arrive in any order, because timers and sockets are different queues.
    for (const action of this.#held.splice(0)) {
      this.#options.time.after(this.#options.time.between(0, 3), () => this.#do(action));
    }
  }

  stop(): void {
    this.#do(() => this.#step({ type: 'stop' }));
  }

  #nowMs(): number {
    return this.#options.time.nowMs * this.#options.clockRate + this.#offsetMs;
  }

  #do(action: () => void): void {
    if (this.#state === 'runs') action();
    else if (this.#state === 'paused') this.#held.push(action);
  }

  #step(event: ShardEvent): void {
    for (const command of this.machine.step(event, this.#nowMs())) this.#carryOut(command);
    this.#options.changed(this);
    const wake = ++this.#wakes;
    const inMs = (this.machine.wakeAtMs(this.#nowMs()) - this.#nowMs()) / this.#options.clockRate;
    if (inMs === Infinity) return;
    this.#options.time.after(Math.max(0, inMs) + 0.01, () => {
      if (wake === this.#wakes) this.#do(() => this.#step({ type: 'tick' }));
    });
  }

  #carryOut(command: ShardCommand): void {
    const { server, time, drainMs } = this.#options;
    const startedMs = this.#nowMs();
    if (!this.isAlive) return;
    if (this.doom?.type === command.type) {
      // The server processes a request that was sent, although its sender is dead.
      if (!this.doom.isStored) this.network.cut = 'requests';
      time.after(0, () => this.kill());
    }
    const wroteOwn = (outcome: WriteOutcome<MemberLease>): void =>
      this.#step({ type: 'wroteOwn', outcome, startedMs });
    switch (command.type) {
      case 'list':
        this.#request(
          () => server.list(),
          (view) =>
            this.#step(
              view === undefined ? { type: 'listFailed' } : { type: 'listed', view, startedMs },
            ),
          'lists',
        );
        return;
      case 'join':
        this.#request(() => server.create(command.name), write(wroteOwn));
        return;
      case 'renew':
        this.#request(() => server.renew(command.lease, command.acknowledged), write(wroteOwn));
        return;
      case 'resign':
        this.#request(() => server.giveUp(command.lease), write(wroteOwn));
        return;
      case 'expel':
        this.#request(
          () => server.giveUp(command.lease),
          write((outcome) => this.#step({ type: 'expelled', outcome })),
        );
        return;
      case 'record':
        this.#request(
          () => server.record(command.assignment, command.over),
          write((outcome) => this.#step({ type: 'recorded', outcome })),
        );
        return;
      case 'remove':
        this.#request(
          () => server.remove(command.lease),
          () => undefined,
        );
        return;
      case 'release': {
        const { drain, isAtOnce } = command;
        const inMs = isAtOnce ? time.between(0, 5) : time.between(0, drainMs);
        time.after(inMs, () => this.#do(() => this.#step({ type: 'drained', drain })));
        return;
      }
      case 'acquired':
      case 'ended':
    }
  }

  /** Calls `answered` once: with the response of the server, or with undefined after a time-out. */
  #request<T>(
    serve: () => T,
    answered: (answer: T | undefined) => void,
    kind: 'lists' | 'writes' = 'writes',
  ): void {
    const { time, times } = this.#options;
    const { latencyMs, cut } = this.network;
    let isOver = false;
    const end = (answer: T | undefined): void =>
      this.#do(() => {
        if (isOver) return;
        isOver = true;
        answered(answer);
      });
    const timeoutMs = Math.max(times.retryPeriodMs, times.renewDeadlineMs / 2);
    time.after(timeoutMs / this.#options.clockRate, () => end(undefined));
    if (cut === 'requests' || cut === kind) return;
    time.after(time.between(0, latencyMs), () => {
      const answer = serve();
      if (cut !== 'answers') time.after(time.between(0, latencyMs), () => end(answer));
    });
  }
}

/** Treats a missing response as a failed write, which may have been stored or not. */
function write<T>(
  told: (outcome: WriteOutcome<T>) => void,
): (outcome: WriteOutcome<T> | undefined) => void {
  return (outcome) => told(outcome ?? { type: 'failed' });
}
