import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** Result of a kubectl command. */
export interface Output {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running command, such as `get --watch`. */
export interface Following {
  /** Returns the next line; undefined after the end. */
  next(): Promise<string | undefined>;
  /** Stops the command and waits for its end. */
  stop(): Promise<void>;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** kubectl with its own kubeconfig and discovery cache. */
export class Kubectl {
  readonly folder: string;
  readonly #kubeConfig: string;

  private constructor(folder: string, kubeConfig: string) {
    this.folder = folder;
    this.#kubeConfig = kubeConfig;
  }

  /** @param write - writes the kubeconfig to a path. */
  static async create(write: (path: string) => Promise<void>): Promise<Kubectl> {
    const folder = await mkdtemp(join(tmpdir(), 'kubectl-'));
    const path = join(folder, 'kubeconfig');
    await write(path);
    return new Kubectl(folder, path);
  }

  /** Runs a command to its end. @param input - its stdin, for `-f -`. */
  async run(args: readonly string[], input = ''): Promise<Output> {
    const child = this.#start(args);
    const texts = [read(child.stdout), read(child.stderr)] as const;
    child.stdin.end(input);
    const code = await ended(child);
    const [stdout, stderr] = await Promise.all(texts);
    return { code, stdout, stderr };
  }

  /** Returns a command's output. @throws its error output if it fails */
  async print(args: readonly string[], input = ''): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** Starts a command that keeps running. */
  follow(args: readonly string[]): Following {
    const child = this.#start(args);
    child.stdin.end();
    child.stderr.resume();
    const end = ended(child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return {
      next: async () => {
        const line = await lines.next();
        return line.done === true ? undefined : line.value;
      },
      stop: async () => {
        child.kill();
        await end;
      },
    };
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  #start(args: readonly string[]): Child {
    const cache = ['--cache-dir', join(this.folder, 'cache')];
    const own = ['--kubeconfig', this.#kubeConfig, ...cache, ...args];
    return spawn('kubectl', own, { stdio: ['pipe', 'pipe', 'pipe'] });
  }
}

async function read(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function ended(child: Child): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => {
      reject(new Error('these specs need kubectl on the PATH', { cause }));
    });
    child.once('close', resolve);
  });
}
