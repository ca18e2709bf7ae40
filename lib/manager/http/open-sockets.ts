import type { Server, Socket } from 'node:net';

/**
 * The connections of a server, from the moment on that they are there. Node's `closeAllConnections`
 * leaves out those that have not sent anything, or are in the middle of a TLS handshake: each of them
 * would keep a server that was closed alive for as long as its client likes.
 */
export class OpenSockets {
  readonly #open = new Set<Socket>();

  /** Made before `server` listens, it sees every connection. */
  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  /** Ends all of them at once, whatever they are doing. */
  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }
}
