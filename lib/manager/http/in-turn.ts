import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum number of requests per connection that wait for an earlier response. */
const maxWaiting = 16;

interface Line {
  /** The response that the next request has to wait for. */
  last: ServerResponse | undefined;
  waiting: number;
}

/**
 * Answers the requests of a connection in sequence. Node.js passes pipelined requests on at once, and does
 * not notify waiting ones when the connection closes: their handlers would wait forever and leak. This drops
 * them with the connection. It closes a connection with too many waiting requests.
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
        // Without a socket, the connection has ended, or the previous response was its last.
        if (response.socket !== null) answer(request, response);
      });
    }
  };
}
