import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A way to a server that can fall silent: connections stay up, and nothing comes through. */
export interface SilentProxy {
  readonly port: number;
  silence(): void;
  /** Connections of before are reset, as by a firewall that forgot them; new ones get through. */
  heal(): void;
  close(): Promise<void>;
}

/** Starts one to `port` of 127.0.0.1. */
export async function startSilentProxy(port: number): Promise<SilentProxy> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  // Half open: Node would answer the end of one side by shutting down its own, and a connection that is
  // shutting down cannot be reset: `resetAndDestroy` leaves it open for ever, without an error, so that
  // the listener never closes, and the process spins when it exits.
  const server = createServer({ allowHalfOpen: true }, (outer) => {
    const inner = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    for (const [from, to] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      sockets.add(from);
      // What comes in silence is gone, the end of a connection, too.
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
