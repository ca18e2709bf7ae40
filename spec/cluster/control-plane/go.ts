import { spawn } from 'node:child_process';

/** Callbacks during a run of `go`. */
export interface GoOptions {
  readonly cwd: string;
  /** Receives each line of stderr. */
  readonly onLine?: (line: string) => void;
}

/**
 * Runs the Go command and returns its stdout, trimmed.
 * @throws Error: Go is not installed, or the command failed; the message ends with its output.
 */
export async function go(args: readonly string[], options: GoOptions): Promise<string> {
  const child = spawn('go', args, {
    cwd: options.cwd,
    // Without cgo no C compiler is needed. GOWORK: ignore a go.work above the checkout.
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const stdout: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
  child.stderr.setEncoding('utf8').on(
    'data',
    eachLine((line) => {
      lines.push(line);
      options.onLine?.(line);
    }),
  );
  const code = await new Promise<number | string>((resolve, reject) => {
    child.once('error', (cause) => reject(noGo(cause)));
    child.once('close', (exitCode, signal) => resolve(exitCode ?? signal ?? 'unknown'));
  });
  if (code === 0) return stdout.join('').trim();
  throw new Error(`go ${args.join(' ')} ended with ${code}:\n${lines.slice(-30).join('\n')}`);
}

function eachLine(handle: (line: string) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(handle);
  };
}

function noGo(cause: Error): Error {
  if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') return cause;
  return new Error(
    'Go is not installed: the control plane is built from its Go modules (see go.mod for the ' +
      'version). Install Go, or set USE_EXISTING_CLUSTER=true to use the cluster of KUBECONFIG.',
    { cause },
  );
}
