import { OperatorError } from '../system/operator-error.js';
import type { Transport, TransportRequest } from '../system/transport.js';
import { WatchStream } from './reads/watch-stream.js';
import type { RequestHandler } from './http-adapter.js';

/** Options of `EmbeddedApiServer.transport`. */
export interface InProcessOptions {
  /** Deliver the stored, frozen objects in watch events instead of copies. @defaultValue false */
  readonly sharesObjects?: boolean | undefined;
}

/** Creates a {@link Transport} that calls `handler` instead of opening a connection. */
export function inProcessTransport(
  handler: RequestHandler,
  { sharesObjects = false }: InProcessOptions = {},
): Transport {
  let closed = false;
  const open = new Set<WatchStream>();
  return {
    request: async (request) => {
      if (closed) throw new OperatorError('Stopped', 'the transport was closed');
      if (request.signal?.aborted === true) throw aborted(request.signal);
      request.beforeSend?.();
      const response = await handler(request);
      if (!(response.body instanceof WatchStream)) return response;
      follow(request, response.body, open);
      return sharesObjects ? { ...response, events: response.body.events() } : response;
    },
    close: async () => {
      closed = true;
      for (const stream of [...open]) {
        stream.fail(new OperatorError('Stopped', 'the transport was closed'));
      }
    },
  };
}

/** Ends a watch when its request is aborted or the transport closes. */
function follow({ signal }: TransportRequest, stream: WatchStream, open: Set<WatchStream>): void {
  open.add(stream);
  const onAbort = (): void => stream.fail(aborted(signal));
  // The request may have been aborted while the server handled it.
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  stream.onceEnded(() => {
    open.delete(stream);
    signal?.removeEventListener('abort', onAbort);
  });
}

function aborted(signal: AbortSignal | undefined): OperatorError {
  return new OperatorError('Aborted', 'the request was aborted', { cause: signal?.reason });
}
