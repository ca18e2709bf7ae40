import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** Proxy that tunnels by `CONNECT`. */
export interface ConnectProxy {
  readonly url: string;
  /** Requested targets. */
  readonly targets: readonly string[];
  /** Received `proxy-authorization` headers. */
  readonly authorizations: readonly (string | undefined)[];
  close(): Promise<void>;
}

/**
 * Starts a proxy on a free port of 127.0.0.1. @param status - status of its response; 200: it
 * connects
 */
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
