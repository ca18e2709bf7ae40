import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** A received request. */
export interface StubRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Raw headers: name, value, name, value, … */
  readonly rawHeaders: readonly string[];
  readonly body: string;
  /** The request's connection. */
  readonly socket: Socket;
}

/** Responds to a request, or misbehaves. */
export type StubHandler = (request: StubRequest, response: ServerResponse) => void;

/** HTTP server that the spec scripts. */
export interface StubServer {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly StubRequest[];
  /** Open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Resolves once `predicate` holds; runs it at every request and closed connection. */
  until(predicate: () => boolean): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server on a free port of 127.0.0.1. */
export async function startStubServer(
  handler: StubHandler,
  tls?: ServerOptions,
): Promise<StubServer> {
  const requests: StubRequest[] = [];
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  const changed = (): void => waiting.forEach((check) => check());
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    void readAll(request).then((body) => {
      const { method = '', url = '', headers, rawHeaders, socket } = request;
      const seen = { method, url, headers, rawHeaders, body, socket };
      requests.push(seen);
      changed();
      handler(seen, response);
    });
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      changed();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    ...{ port, requests, sockets },
    until: (predicate) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!predicate()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    close: () => {
      sockets.forEach((socket) => socket.destroy());
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Responds with `value` as JSON. */
export function answerJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function readAll(request: IncomingMessage): Promise<string> {
  let body = '';
  request.setEncoding('utf8');
  for await (const chunk of request) body += chunk as string;
  return body;
}
