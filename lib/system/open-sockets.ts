import type { Server, Socket } from 'node:net';

/**
 * Tracks the connections of a server from their start. Node's `closeAllConnections` omits those that have
 * sent nothing or are in a TLS handshake; each could keep a closed server alive indefinitely.
 */
export class OpenSockets {
  readonly #open = new Set<Socket>();

  /** Create it before `server` listens, so that it tracks every connection. */
  constructor(server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  /** Closes all connections at once, whatever their state. */
  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }
}
