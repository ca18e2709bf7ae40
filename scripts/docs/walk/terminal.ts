import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFile } from 'node:fs/promises';

const { signals } = constants;

/** Options of {@link Terminal}. */
export interface TerminalOptions {
  /** Where it begins. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** How long commands may take, in milliseconds. @defaultValue 180_000 */
  readonly timeoutMs?: number | undefined;
}

/** Result of commands. */
export interface Ended {
  readonly code: number;
  /** Text of standard output and standard error, as a terminal shows them. */
  readonly output: string;
}

/**
 * Runs commands one after the other as bash in a terminal does: they stay where the ones before them went,
 * and the first one that fails ends them.
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

  /** Where it is: absolute. */
  get folder(): string {
    return this.#folder;
  }

  /** @throws Error they take too long */
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
   * Starts commands that go on, in a terminal of their own.
   * @param isEnough - whether they have written what is waited for
   * @throws Error they end, or do not write it
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

  /** Ends what goes on, as Ctrl-C does. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<Ended> {
    const running = this.#running;
    if (running === undefined) throw new Error('nothing is left running');
    this.#running = undefined;
    end(running.shell, signal);
    const timer = setTimeout(() => end(running.shell, 'SIGKILL'), this.#timeoutMs);
    const code = await running.ended.finally(() => clearTimeout(timer));
    return { code, output: running.output.text() };
  }

  /** Ends whatever goes on, if anything does. */
  async close(): Promise<void> {
    if (this.#running !== undefined) await this.stop('SIGKILL');
  }

  #spawn(script: string): ChildProcess {
    return spawn('bash', ['-c', script], {
      cwd: this.#folder,
      env: this.#env,
      // A group of its own: a signal reaches all of it, as from a terminal, and nothing else.
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

/** Once all that has its outputs has ended, not the shell alone. */
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
    // It has ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
