import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';

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
  const script = new URL('embedded-server.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--import', 'tsx', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const server = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (data: Buffer) => resolve(data.toString().trim()));
    child.once('exit', (code) => reject(new Error(`the embedded server ended with ${code ?? 0}`)));
  });
  return {
    description: 'the embedded server over HTTP',
    kubeConfig: kubeConfigOf(server),
    stop: () => child.stdin.end(),
  };
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
