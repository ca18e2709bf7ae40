import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A proxy to a server that can go silent: connections stay open, and no bytes get through. */
export interface SilentProxy {
  readonly port: number;
  silence(): void;
  /** Resets the old connections, like a firewall that lost their state. New ones get through. */
  heal(): void;
  close(): Promise<void>;
}

/** Starts a proxy to `port` of 127.0.0.1. */
export async function startSilentProxy(port: number): Promise<SilentProxy> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  // Half open: otherwise Node answers the end of one side by shutting down its own, and a
  // connection that is shutting down cannot be reset. `resetAndDestroy` would leave it open without
  // an error, so that the listener never closes and the process spins when it exits.
  const server = createServer({ allowHalfOpen: true }, (outer) => {
    const inner = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    for (const [from, to] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      sockets.add(from);
      // Everything that arrives in silence is dropped, even the end of a connection.
      from.on('data', (data) => isSilent || to.write(data));
      from.on('end', () => isSilent || from.destroy());
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        if (!isSilent) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const reset = (): void => sockets.forEach((socket) => socket.resetAndDestroy());
  return {
    port: (server.address() as AddressInfo).port,
    silence: () => (isSilent = true),
    heal: () => {
      reset();
      isSilent = false;
    },
    close: () => {
      reset();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
