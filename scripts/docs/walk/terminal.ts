import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFile } from 'node:fs/promises';

const { signals } = constants;

/** Options of {@link Terminal}. */
export interface TerminalOptions {
  /** Initial working directory. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Time limit of the commands of one call, in milliseconds. @defaultValue 180_000 */
  readonly timeoutMs?: number | undefined;
}

/** Exit code and output of commands. */
export interface Ended {
  readonly code: number;
  /** Text of standard output and standard error, as a terminal shows them. */
  readonly output: string;
}

/**
 * Runs commands in sequence like bash in a terminal. The working directory is kept between calls. The first failing
 * command ends a call.
 */
export class Terminal {
  readonly #env: NodeJS.ProcessEnv;
  readonly #timeoutMs: number;
  readonly #place: string;
  #folder: string;
  #running: LeftRunning | undefined;

  constructor({ folder, env, timeoutMs = 180_000 }: TerminalOptions) {
    this.#folder = folder;
    this.#env = env;
    this.#place = join(env['TMPDIR'] ?? tmpdir(), `place-${randomUUID()}`);
    this.#timeoutMs = timeoutMs;
  }

  /** Absolute path of the working directory. */
  get folder(): string {
    return this.#folder;
  }

  /** Runs commands, and kills them at the time limit: their exit code is then 137. */
  async run(script: string): Promise<Ended> {
    const place = this.#place;
    const text = `set -euo pipefail\n${script}\npwd > '${place}'\n`;
    const shell = this.#spawn(text);
    const output = collect(shell);
    const timer = setTimeout(() => end(shell, 'SIGKILL'), this.#timeoutMs);
    const code = await ended(shell).finally(() => clearTimeout(timer));
    if (code === 0) this.#folder = (await readFile(place, 'utf8')).trim();
    return { code, output: output.text() };
  }

  /**
   * Starts commands that keep running, in a terminal of their own.
   * @param isEnough - returns true once the output shows that they have started
   * @throws Error the commands end before that, or take too long
   */
  async start(script: string, isEnough: (output: string) => boolean): Promise<string> {
    if (this.#running !== undefined) throw new Error('something is left running already');
    const shell = this.#spawn(`set -euo pipefail\n${script}`);
    const output = collect(shell);
    const running = { shell, ended: ended(shell), output };
    this.#running = running;
    await new Promise<void>((resolve, reject) => {
      const look = (): void => {
        if (!isEnough(output.text())) return;
        clearTimeout(timer);
        resolve();
      };
      const fail = (why: string): void => reject(new Error(`${why}; it wrote:\n${output.text()}`));
      const timer = setTimeout(() => fail('it does not write that'), this.#timeoutMs);
      output.onMore = look;
      look();
      void running.ended.then((code) => {
        clearTimeout(timer);
        fail(`it ended with ${code}`);
      });
    });
    return output.text();
  }

  /** Ends the running commands; by default like Ctrl-C. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<Ended> {
    const running = this.#running;
    if (running === undefined) throw new Error('nothing is left running');
    this.#running = undefined;
    end(running.shell, signal);
    const timer = setTimeout(() => end(running.shell, 'SIGKILL'), this.#timeoutMs);
    const code = await running.ended.finally(() => clearTimeout(timer));
    return { code, output: running.output.text() };
  }

  /** Kills the running commands, if there are any. */
  async close(): Promise<void> {
    if (this.#running !== undefined) await this.stop('SIGKILL');
  }

  #spawn(script: string): ChildProcess {
    return spawn('bash', ['-c', script], {
      cwd: this.#folder,
      env: this.#env,
      // A process group of its own, so that a signal reaches all its processes and no others.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
}

interface LeftRunning {
  readonly shell: ChildProcess;
  readonly ended: Promise<number>;
  readonly output: Collected;
}

interface Collected {
  text(): string;
  onMore: () => void;
}

function collect(shell: ChildProcess): Collected {
  let all = '';
  const collected: Collected = { text: () => all, onMore: () => undefined };
  for (const stream of [shell.stdout, shell.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      all += text;
      collected.onMore();
    });
  }
  return collected;
}

/** Resolves with the exit code once all processes with the shell's outputs have ended, not only the shell. */
function ended(shell: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    shell.on('error', reject);
    shell.on('close', (code, signal) => resolve(code ?? 128 + signals[signal ?? 'SIGKILL']));
  });
}

function end({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch (error) {
    // ESRCH: the process group has ended already.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
