import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A script in a process of its own, that speaks a line of JSON at a time. */
export interface LineProcess {
  /** The next line that it prints. @throws Error: it ended before. */
  next<T>(): Promise<T>;
  send(line: string): void;
  /** Closes its stdin, and waits for its end. */
  end(): Promise<void>;
}

/** Starts `script`, a file beside this one. */
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
