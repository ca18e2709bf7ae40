import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** A program of these specs in a process of its own: it can be killed, stopped and continued. */
export class SpecProcess {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #output = '';

  /**
   * @param program - a TypeScript file, for example `new URL('./replica.ts', import.meta.url)`
   * @param env - what it is told, beside this process' own environment
   */
  constructor(name: string, program: URL, env: Readonly<Record<string, string>>) {
    this.name = name;
    this.#child = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(program)], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-20_000);
    };
    this.#child.stdout?.on('data', keep);
    this.#child.stderr?.on('data', keep);
    this.#ended = new Promise((resolve) => this.#child.once('exit', () => resolve()));
  }

  /** The end of what it said, for messages. */
  get output(): string {
    return this.#output;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** @param signal - SIGSTOP pauses it, SIGCONT has it go on. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it without any warning. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
