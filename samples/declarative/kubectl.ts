import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Runs kubectl against one server, without the user's own configuration. */
export class Kubectl {
  readonly #folder: string;
  readonly #server: string;

  private constructor(folder: string, server: string) {
    this.#folder = folder;
    this.#server = server;
  }

  /** @param server - for example `http://127.0.0.1:18443` */
  static async for(server: string): Promise<Kubectl> {
    const folder = await mkdtemp(join(tmpdir(), 'declarative-'));
    // An empty kubeconfig, since the one of the user may name another server and namespace.
    await writeFile(join(folder, 'config'), 'apiVersion: v1\nkind: Config\n');
    return new Kubectl(folder, server);
  }

  /** Returns the output of a command. @throws Error the command failed, or kubectl is not installed. */
  async run(...args: readonly string[]): Promise<string> {
    const lines: string[] = [];
    for await (const line of this.follow(new AbortController().signal, ...args)) lines.push(line);
    return lines.join('\n');
  }

  /** Yields the lines that a command prints, until it ends or `signal` is aborted. @throws like `run` */
  async *follow(signal: AbortSignal, ...args: readonly string[]): AsyncGenerator<string, void> {
    const child = spawn('kubectl', [...this.#options(), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'close') as Promise<[number | null]>;
    // `ended` is awaited below. Until then, a missing kubectl must not be an unhandled rejection.
    ended.catch(() => undefined);
    let problem = '';
    child.stderr.on('data', (part: Buffer) => (problem += part.toString()));
    const stop = (): void => void child.kill();
    signal.addEventListener('abort', stop);
    try {
      yield* createInterface({ input: child.stdout });
      const [code] = await ended;
      if (code !== 0 && !signal.aborted) throw new Error(`kubectl ${args.join(' ')}: ${problem}`);
    } finally {
      signal.removeEventListener('abort', stop);
      child.kill();
    }
  }

  async close(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  #options(): string[] {
    return [`--kubeconfig=${join(this.#folder, 'config')}`, `--server=${this.#server}`];
  }
}
