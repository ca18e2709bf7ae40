import type { ShardTimes } from '../../../../lib/manager/sharding/member-lease.js';
import type { Random } from '../../../../lib/system/random.js';
import { ModelProcess } from './model-process.js';
import { ModelServer } from './model-server.js';
import { VirtualTime } from './virtual-time.js';

/** Options of {@link ModelGroup}. */
export interface ModelGroupOptions {
  readonly random: Random;
  readonly slotCount?: number;
  readonly drainMs?: number;
  /** The largest clock drift, as a fraction. */
  readonly drift?: number;
}

/** Short lease times. */
export const times: ShardTimes = {
  leaseDurationMs: 3_000,
  renewDeadlineMs: 2_000,
  retryPeriodMs: 400,
};

/** Replicas of one operator with their server, and a check of all replicas at once. */
export class ModelGroup {
  readonly time: VirtualTime;
  readonly server: ModelServer;
  readonly processes: ModelProcess[] = [];
  /** Slots that two processes could have written at the same time, with their names and the time. */
  readonly doubles: string[] = [];
  readonly slotCount: number;
  readonly #drainMs: number;
  readonly #drift: number;

  constructor({ random, slotCount = 24, drainMs = 300, drift = 0.01 }: ModelGroupOptions) {
    this.time = new VirtualTime(random);
    this.server = new ModelServer(() => this.time.nowMs);
    this.slotCount = slotCount;
    this.#drainMs = drainMs;
    this.#drift = drift;
  }

  get alive(): readonly ModelProcess[] {
    return this.processes.filter(({ isAlive, machine }) => isAlive && machine.phase !== 'left');
  }

  start(): ModelProcess {
    const { time, server, slotCount } = this;
    const process = new ModelProcess({
      name: `p${this.processes.length}`,
      ...{ time, server, times, slotCount, drainMs: this.#drainMs },
      clockRate: 1 + time.between(-this.#drift, this.#drift),
      changed: (changed) => this.#judge(changed),
    });
    this.processes.push(process);
    return process;
  }

  /** Returns the process that is the leader according to most replicas. */
  leader(): ModelProcess | undefined {
    const names = this.server.list().members.filter(({ holder }) => holder !== '');
    names.sort((one, other) => one.createdMs - other.createdMs || (one.name < other.name ? -1 : 1));
    return this.processes.find(({ machine }) => machine.name === names[0]?.name);
  }

  /** Returns the number of processes that work on each slot. */
  workers(): readonly number[] {
    const count = Array<number>(this.slotCount).fill(0);
    for (const { works } of this.processes) for (const slot of works) count[slot]! += 1;
    return count;
  }

  /** Returns true if every slot has exactly one worker. */
  isComplete(): boolean {
    return this.workers().every((count) => count === 1);
  }

  /** Runs until every slot has one worker, for at most `limitMs`. @returns the time that this took */
  untilComplete(limitMs: number): number {
    const startMs = this.time.nowMs;
    while (!this.isComplete() && this.time.nowMs < startMs + limitMs) {
      this.time.runUntil(this.time.nowMs + 5);
    }
    return this.isComplete() ? this.time.nowMs - startMs : Infinity;
  }

  #judge(changed: ModelProcess): void {
    if (!changed.isOpen) return;
    const others = this.processes.filter((other) => other !== changed && other.isOpen);
    for (let slot = 0; slot < this.slotCount && others.length > 0; slot++) {
      if (!changed.holds(slot)) continue;
      const other = others.find((process) => process.holds(slot));
      if (other === undefined) continue;
      const at = this.time.nowMs.toFixed(1);
      this.doubles.push(`${at} ms: ${changed.name} and ${other.name} hold ${slot}`);
    }
  }
}
