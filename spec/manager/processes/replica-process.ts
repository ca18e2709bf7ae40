import { systemClock } from '../../../lib/system/clock.js';
import type { ReplicaEvent, ReplicaSettings } from './replica-settings.js';
import { SpecProcess } from './spec-process.js';

const program = new URL('./replica.ts', import.meta.url);

/** Longer than anything takes that is waited for; then it is told what there was instead. */
const patienceMs = 60_000;

/** A replica in a process of its own, and what it tells. */
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

  /** Whether it leads, as far as it told. */
  get leads(): boolean {
    return this.count('leads') > this.count('lost') + this.count('gave back');
  }

  count(event: ReplicaEvent): number {
    return this.#events.filter((one) => one === event).length;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.signal(signal);
  }

  /** Resolves when it told `event` `times` more times. @throws Error: it does not. */
  until(event: ReplicaEvent, times = 1): Promise<this> {
    const target = this.count(event) + times;
    return this.when(`${event} ${times} more times`, () => this.count(event) >= target);
  }

  /** Resolves when it has told `event`, before or from now on. @throws Error: it does not. */
  once(event: ReplicaEvent): Promise<this> {
    return this.when(event, () => this.count(event) > 0);
  }

  /** Resolves when `holds`. @throws Error: it takes too long. */
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
    // Nobody waits for it any more.
    this.#isOver = true;
    for (const check of this.#waiting) check();
  }
}
