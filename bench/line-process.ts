import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A script in a separate process, which reads commands and prints answers as lines of JSON. */
export interface LineProcess {
  /** Waits for the next printed line, and returns it parsed. @throws Error the process ended before */
  next<T>(): Promise<T>;
  send(line: string): void;
  /** Closes stdin of the process, and waits until it exits. */
  end(): Promise<void>;
}

/** Starts `script`, a file in this folder. */
export function startLineProcess(
  script: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): LineProcess {
  const path = new URL(script, import.meta.url).pathname;
  const flags = ['--expose-gc', '--max-old-space-size=6000', '--import', 'tsx', path, ...args];
  const child = spawn(process.execPath, flags, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return {
    next: async <T>() => {
      const line: IteratorResult<string, unknown> = await lines.next();
      if (line.done === true) throw new Error(`${script} ended before its answer`);
      return JSON.parse(line.value) as T;
    },
    send: (line) => void child.stdin.write(`${line}\n`),
    end: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
