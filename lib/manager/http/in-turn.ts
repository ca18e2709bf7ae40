import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** So many requests of a connection may wait for the answer to the one before. */
const maxWaiting = 16;

interface Line {
  /** The answer that the next one has to wait for. */
  last: ServerResponse | undefined;
  waiting: number;
}

/**
 * Answers the requests of a connection one after the other. Node hands out all that a client sends
 * without waiting for answers (pipelining) at once, and never says that a connection is gone to those
 * whose turn had not come: what answers them would wait, and hold what it holds, for ever. They are
 * dropped with the connection; a client that sends very many is not waited for.
 */
export function inTurn(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  const lines = new WeakMap<Socket, Line>();
  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket) ?? { last: undefined, waiting: 0 };
    lines.set(socket, line);
    const before = line.last;
    line.last = response;
    response.once('close', () => {
      if (line.last === response) line.last = undefined;
    });
    if (before === undefined) answer(request, response);
    else if (line.waiting >= maxWaiting) socket.destroy();
    else {
      line.waiting++;
      before.once('close', () => {
        line.waiting--;
        // Without one: the connection has ended, or the answer before was its last.
        if (response.socket !== null) answer(request, response);
      });
    }
  };
}
