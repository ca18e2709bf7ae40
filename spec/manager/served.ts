import type { Manager } from '../../lib/manager/manager.js';

/** What a server answered. */
export interface Served {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** Asks a server of a manager, over a connection of its own. */
export async function served(
  manager: Manager,
  path: string,
  headers: Record<string, string> = {},
): Promise<Served> {
  const server = path.startsWith('/metrics') ? 'metrics-server' : 'health-server';
  const { url = '' } = manager.status().runnables.find(({ name }) => name === server) ?? {};
  const answer = await fetch(url + path, { headers: { connection: 'close', ...headers } });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

/** Servers of specs listen here, on a free port. */
export const onLoopback = { host: '127.0.0.1', port: 0 };
