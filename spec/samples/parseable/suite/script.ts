import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

/** A script of a sample as a process of its own, and what it has written. */
export class Script {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  output = '';

  /** @param file - `main.ts` of this sample, or `lifecycle/main.ts` of another */
  constructor(file: string, ...args: string[]) {
    const path = file.includes('/') ? `samples/${file}` : `samples/parseable/${file}`;
    const command = ['--import', 'tsx', path, ...args];
    this.#child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    }
    this.#exited = new Promise((resolve) => this.#child.on('close', resolve));
  }

  /** Resolves when it has written `text`; fails when it ends before. */
  async writes(text: string): Promise<void> {
    const written = new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.output.includes(text)) resolve();
      };
      this.#child.stdout?.on('data', look);
      look();
    });
    const ended = this.#exited.then((code) => {
      throw new Error(`ended with ${code ?? 'a signal'} before «${text}»: ${this.output}`);
    });
    await Promise.race([written, ended]);
  }

  /** @returns its exit code. */
  ends(signal?: 'SIGTERM'): Promise<number | null> {
    if (signal !== undefined) this.#child.kill(signal);
    return this.#exited;
  }
}
