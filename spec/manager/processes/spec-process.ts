import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { bundleOf } from './bundle-of.js';

/** Options of {@link SpecProcess}. */
export interface SpecProcessOptions {
  /** Environment variables, in addition to those of this process. @defaultValue nothing */
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of the program. @defaultValue none */
  readonly args?: readonly string[];
  /** Receives each whole line of standard output. @defaultValue no listener */
  readonly onLine?: (line: string) => void;
}

/** A program of these specs in a process of its own, which can be killed, stopped and continued. */
export class SpecProcess {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #output = '';

  /** @param program - a TypeScript file, for example `new URL('./replica.ts', import.meta.url)` */
  constructor(name: string, program: URL, options: SpecProcessOptions = {}) {
    const { env = {}, args = [], onLine } = options;
    this.name = name;
    // Its standard input ends with this process.
    this.#child = spawn(process.execPath, [bundleOf(program), ...args], {
      env: { ...process.env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-20_000);
    };
    this.#child.stdout?.on('data', keep);
    this.#child.stderr?.on('data', keep);
    let rest = '';
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onLine?.(line);
    });
    this.#ended = new Promise((resolve) => this.#child.once('exit', () => resolve()));
  }

  /** The last part of the program's output, for messages. */
  get output(): string {
    return this.#output;
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Null while the program runs, or after a signal has ended it. */
  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  /** @param signal - SIGSTOP pauses the process, SIGCONT resumes it */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Kills the process without warning. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }
}
