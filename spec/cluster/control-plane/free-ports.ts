import { createServer } from 'node:net';
import { once } from 'node:events';

/**
 * The lowest port. All ports are below the range from which systems take local ports of outgoing connections (32768
 * and up on Linux), since a free port must still be free when a program listens on it a second later.
 */
const lowest = 20_000;
const count = 12_000;

/** Returns `wanted` distinct free ports of 127.0.0.1. */
export async function findFreePorts(wanted: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let attempt = 0; ports.size < wanted; attempt++) {
    if (attempt === 1000) throw new Error('no free ports on 127.0.0.1');
    const port = lowest + Math.floor(Math.random() * count);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

/** Returns a free port of 127.0.0.1; it stays free, see {@link findFreePorts}. */
export async function findFreePort(): Promise<number> {
  const [port = 0] = await findFreePorts(1);
  return port;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
