import { systemClock } from '../../../lib/system/clock.js';
import type { ReplicaEvent, ReplicaSettings } from './replica-settings.js';
import { SpecProcess } from './spec-process.js';

const program = new URL('./replica.ts', import.meta.url);

/** Longer than any awaited event takes. Afterwards the error reports the events so far. */
const patienceMs = 60_000;

/** A replica in a process of its own, and its events. */
export class ReplicaProcess {
  readonly identity: string;
  readonly #process: SpecProcess;
  readonly #events: ReplicaEvent[] = [];
  readonly #waiting = new Set<() => void>();
  #isOver = false;

  constructor(settings: ReplicaSettings) {
    this.identity = settings.identity;
    const onLine = (line: string): void => {
      this.#events.push(line as ReplicaEvent);
      for (const check of this.#waiting) check();
    };
    const args = [JSON.stringify(settings)];
    this.#process = new SpecProcess(settings.identity, program, { args, onLine });
  }

  /** True while it leads, according to its events. */
  get leads(): boolean {
    return this.count('leads') > this.count('lost') + this.count('gave back');
  }

  count(event: ReplicaEvent): number {
    return this.#events.filter((one) => one === event).length;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.signal(signal);
  }

  /** Resolves after `times` more occurrences of `event`. @throws Error: they do not occur */
  until(event: ReplicaEvent, times = 1): Promise<this> {
    const target = this.count(event) + times;
    return this.when(`${event} ${times} more times`, () => this.count(event) >= target);
  }

  /** Resolves once `event` has occurred. @throws Error: it does not occur */
  once(event: ReplicaEvent): Promise<this> {
    return this.when(event, () => this.count(event) > 0);
  }

  /** Resolves when `holds` returns true. @throws Error: it takes too long */
  when(what: string, holds: () => boolean): Promise<this> {
    return new Promise((resolve, reject) => {
      const settle = (settled: () => void): void => {
        this.#waiting.delete(check);
        patience.cancel();
        settled();
      };
      const check = (): void => {
        if (holds()) settle(() => resolve(this));
        else if (this.#isOver) settle(() => reject(new Error(`${this.identity} was ended`)));
      };
      const patience = systemClock.setTimer(() => {
        const told = `${this.identity} told ${this.#process.output}`;
        const state = this.#process.hasEnded ? 'ended' : 'runs';
        settle(() => reject(new Error(`not within ${patienceMs} ms: ${what}; ${told}; ${state}`)));
      }, patienceMs);
      this.#waiting.add(check);
      check();
    });
  }

  async end(): Promise<void> {
    await this.#process.kill();
    // The process has ended, so no event can follow.
    this.#isOver = true;
    for (const check of this.#waiting) check();
  }
}
