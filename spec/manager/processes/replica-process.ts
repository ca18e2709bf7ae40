import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../lib/system/clock.js';
import type { ReplicaEvent, ReplicaSettings } from './replica-settings.js';

const script = fileURLToPath(new URL('replica.ts', import.meta.url));

/** Longer than anything takes that is waited for; then it is told what there was instead. */
const patienceMs = 60_000;

/** A replica in a process of its own. */
export class ReplicaProcess {
  readonly identity: string;
  readonly #child: ChildProcess;
  readonly #events: ReplicaEvent[] = [];
  readonly #waiting = new Set<() => void>();
  #exited = false;
  #isOver = false;

  constructor(settings: ReplicaSettings) {
    this.identity = settings.identity;
    const args = ['--import', 'tsx', script, JSON.stringify(settings)];
    this.#child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    let rest = '';
    this.#child.stdout?.on('data', (data: Buffer) => {
      const lines = (rest + data.toString()).split('\n');
      rest = lines.pop() ?? '';
      this.#events.push(...(lines as ReplicaEvent[]));
      for (const check of this.#waiting) check();
    });
    this.#child.once('exit', () => {
      this.#exited = true;
      for (const check of this.#waiting) check();
    });
  }

  /** Whether it leads, as far as it told. */
  get leads(): boolean {
    return this.count('leads') > this.count('lost') + this.count('gave back');
  }

  count(event: ReplicaEvent): number {
    return this.#events.filter((one) => one === event).length;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
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
        const told = `${this.identity} told ${this.#events.join(', ')}`;
        const state = this.#exited ? 'ended' : 'runs';
        settle(() => reject(new Error(`not within ${patienceMs} ms: ${what}; ${told}; ${state}`)));
      }, patienceMs);
      this.#waiting.add(check);
      check();
    });
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.when('exit', () => this.#exited);
    // Nobody waits for it any more.
    this.#isOver = true;
    for (const check of this.#waiting) check();
  }
}
