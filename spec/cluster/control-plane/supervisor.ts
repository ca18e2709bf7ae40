import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from './programs.js';

/** Command line and environment of a program. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

interface Exit {
  readonly exited: Program;
  readonly reason: string;
}

interface Reply {
  readonly id: number;
  readonly result?: unknown;
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Runs the programs of a control plane as children of a small separate process that ends them when
 * this process is gone, however it ended.
 */
export class Supervisor {
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #commands = new Map<Program, Command>();
  readonly #pids = new Map<Program, number>();
  readonly #exits = new Map<Program, string>();
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  /**
   * @param folder - where the programs run and log; removed at the end.
   * @param reviewPort - where the API server sends its TokenReviews.
   */
  constructor(folder: string, reviewPort: number) {
    this.#folder = folder;
    this.#process = fork(
      join(import.meta.dirname, 'supervisor.js'),
      [folder, String(reviewPort)],
      // The supervisor has its own process group, so that Ctrl-C at the terminal reaches this process first.
      {
        execArgv: [],
        env: plainEnvironment(),
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        detached: true,
      },
    );
    this.#process.on('message', (message) => this.#receive(message as Exit | Reply));
    this.#process.on('exit', () => this.#failPending());
    // This process may end without stop(). The supervisor detects its end.
    this.#process.unref();
    this.#process.channel?.unref();
  }

  /** Process ids of the running programs. */
  get pids(): ReadonlyMap<Program, number> {
    return this.#pids;
  }

  /** Process id of the supervisor. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  async start(name: Program, command: Command): Promise<void> {
    this.#commands.set(name, command);
    this.#exits.delete(name);
    const pid = await this.#ask('start', { name, ...command, log: this.logFile(name) });
    if (typeof pid === 'number') this.#pids.set(name, pid);
  }

  /** Restarts a program with the same command. */
  async startAgain(name: Program): Promise<void> {
    const command = this.#commands.get(name);
    if (command === undefined) throw new Error(`${name} was never started`);
    await this.start(name, command);
  }

  /** Sends a signal, without waiting. */
  async signal(name: Program, signal: NodeJS.Signals): Promise<void> {
    await this.#ask('signal', { name, signal });
  }

  /** Makes the API server accept `token`. */
  async addUser(token: string, username: string, groups: readonly string[]): Promise<void> {
    await this.#ask('user', { token, username, groups });
  }

  /** @throws Error: `name` does not run; the message ends with its last log lines. */
  assertRunning(name: Program): void {
    const reason = this.#exits.get(name);
    if (reason === undefined) return;
    const log = readFileSync(this.logFile(name), 'utf8')
      .trimEnd()
      .split('\n')
      .slice(-20)
      .join('\n');
    throw new Error(`${name} ended (${reason}). Its last lines:\n${log}`);
  }

  hasExited(name: Program): boolean {
    return this.#exits.has(name);
  }

  logFile(name: Program): string {
    return join(this.#folder, `${name}.log`);
  }

  /** Ends every program and removes the folder. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.ref();
    const exit = once(this.#process, 'exit');
    if (this.#process.connected) this.#process.disconnect();
    await exit;
    this.#pids.clear();
  }

  async #ask(type: string, message: object): Promise<unknown> {
    const id = ++this.#lastId;
    // Otherwise nothing may keep this process alive until the reply arrives.
    this.#process.channel?.ref();
    try {
      return await new Promise<unknown>((resolve, reject) => {
        this.#pending.set(id, { resolve, reject });
        this.#process.send({ ...message, id, type }, (error) => {
          if (error !== null) reject(error);
        });
      });
    } finally {
      this.#pending.delete(id);
      if (this.#pending.size === 0) this.#process.channel?.unref();
    }
  }

  #receive(message: Exit | Reply): void {
    if ('id' in message) {
      this.#pending.get(message.id)?.resolve(message.result);
      return;
    }
    this.#exits.set(message.exited, message.reason);
    this.#pids.delete(message.exited);
  }

  #failPending(): void {
    const error = new Error('the supervisor of the control plane ended');
    for (const { reject } of this.#pending.values()) reject(error);
  }
}

/** Returns the environment without variables of coverage runs and loaders. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const environment = { ...process.env };
  delete environment['NODE_OPTIONS'];
  delete environment['NODE_V8_COVERAGE'];
  return environment;
}
