import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { bundleOf } from '../../../manager/processes/bundle-of.js';

const samples = new URL('../../../../samples/', import.meta.url);

/** Runs a script of a sample as a process, and records its output. */
export class Script {
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  output = '';

  /**
   * @param file - path within the samples, such as `parseable/main.ts`; it reads no files beside it
   */
  constructor(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const program = bundleOf(new URL(file, samples));
    this.#child = spawn(process.execPath, [program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    }
    this.#exited = new Promise((resolve) => this.#child.on('close', resolve));
  }

  /** Resolves when it has written `text`; rejects when it ends before. */
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

  /** @returns the exit code */
  ends(signal?: 'SIGTERM'): Promise<number | null> {
    if (signal !== undefined) this.#child.kill(signal);
    return this.#exited;
  }
}
