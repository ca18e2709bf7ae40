import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** An API server to measure clients against. */
export interface MeasuredServer {
  /** For the title of a result, for example `the embedded server over HTTP`. */
  readonly description: string;
  /** A kubeconfig as text. */
  readonly kubeConfig: string;
  stop(): void;
}

/** Returns the server of `KUBECONFIG`; if it is not set, starts an embedded server in a separate process. */
export async function startMeasuredServer(): Promise<MeasuredServer> {
  const path = process.env['KUBECONFIG'];
  if (path !== undefined && path !== '') {
    const kubeConfig = await readFile(path, 'utf8');
    return { description: 'the server of KUBECONFIG', kubeConfig, stop: () => undefined };
  }
  const server = await startApiServerCommand();
  return { ...server, description: 'the embedded server over HTTP' };
}

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

/**
 * Starts `operator-builder apiserver` of the built package, so that server and client do not share one core, and
 * resolves once it is ready.
 */
export async function startApiServerCommand(
  ...args: readonly string[]
): Promise<{ readonly pid: number; readonly kubeConfig: string; stop(): void }> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-apiserver-'));
  const path = join(folder, 'kubeconfig');
  const command = [program, 'apiserver', '--output', 'json', '--kubeconfig', path, ...args];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = (): void => void child.kill();
  process.once('exit', stop);
  child.once('exit', () => process.off('exit', stop));
  await new Promise((resolve, reject) => {
    child.stdout.once('data', resolve);
    child.once('exit', (code) => reject(new Error(`the embedded server ended with ${code ?? 0}`)));
  });
  const kubeConfig = await readFile(path, 'utf8');
  await rm(folder, { recursive: true });
  return { pid: child.pid ?? NaN, kubeConfig, stop };
}

/** Returns a kubeconfig for a server that requires no credentials. */
export function kubeConfigOf(server: string): string {
  return JSON.stringify({
    'current-context': 'bench',
    contexts: [{ name: 'bench', context: { cluster: 'bench', user: 'bench' } }],
    // client-node uses plain HTTP only if TLS verification is disabled.
    clusters: [{ name: 'bench', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'bench', user: {} }],
  });
}
