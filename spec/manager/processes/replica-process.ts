import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ReplicaEvent, ReplicaSettings } from './replica-settings.js';

const script = fileURLToPath(new URL('replica.ts', import.meta.url));

/** A replica in a process of its own. */
export class ReplicaProcess {
  readonly identity: string;
  readonly #child: ChildProcess;
  readonly #events: ReplicaEvent[] = [];
  readonly #waiting = new Set<() => void>();
  #exited = false;

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

  count(event: ReplicaEvent): number {
    return this.#events.filter((one) => one === event).length;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Resolves when it told `event` `times` more times. */
  until(event: ReplicaEvent, times = 1): Promise<this> {
    const target = this.count(event) + times;
    return this.#when(() => this.count(event) >= target);
  }

  /** Resolves when it has told `event`, before or from now on. */
  once(event: ReplicaEvent): Promise<this> {
    return this.#when(() => this.count(event) > 0);
  }

  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#when(() => this.#exited);
  }

  #when(holds: () => boolean): Promise<this> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!holds()) return;
        this.#waiting.delete(check);
        resolve(this);
      };
      this.#waiting.add(check);
      check();
    });
  }
}
