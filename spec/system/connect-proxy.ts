import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A proxy that tunnels by `CONNECT`. */
export interface ConnectProxy {
  readonly url: string;
  /** What it was asked to connect to. */
  readonly targets: readonly string[];
  /** The `proxy-authorization` headers that came. */
  readonly authorizations: readonly (string | undefined)[];
  close(): Promise<void>;
}

/** Starts a proxy on a free port of 127.0.0.1. @param status - what it answers; 200: it connects */
export async function startConnectProxy(status = 200): Promise<ConnectProxy> {
  const targets: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer();
  server.on('connect', ({ url = '', headers }, socket: Socket) => {
    targets.push(url);
    authorizations.push(headers['proxy-authorization']);
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${url}`);
    const upstream = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    sockets.add(upstream);
    upstream.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    targets,
    authorizations,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
