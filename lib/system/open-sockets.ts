import type { Server, Socket } from 'node:net';
import { asError } from './as-error.js';
import { OperatorError } from './operator-error.js';

/** Returns the error of a server that can't listen. @param server - its name in the message */
export function listenFailed(
  server: string,
  address: string,
  thrown: unknown,
  remedy: string,
): OperatorError {
  const cause = asError(thrown);
  const { code } = cause as NodeJS.ErrnoException;
  const why = code === 'EADDRINUSE' ? 'the port is in use' : cause.message;
  const message = `${server} can't listen on ${address}: ${why} (${remedy})`;
  return new OperatorError('ListenFailed', message, { cause });
}

/**
 * Tracks the connections of a server from their start. Node's `closeAllConnections` omits those that have
 * sent nothing or are in a TLS handshake; each could keep a closed server alive indefinitely.
 */
export class OpenSockets {
  readonly #open = new Set<Socket>();

  /** Create the instance before `server` listens, so that it tracks every connection. */
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
