import type { Manager } from '../../lib/manager/manager.js';

/** A response of a server. */
export interface Served {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** Sends a request to a server of a manager, over a connection of its own. */
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

/** The address for servers in specs, with a free port. */
export const onLoopback = { host: '127.0.0.1', port: 0 };
