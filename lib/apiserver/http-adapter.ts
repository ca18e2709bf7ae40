import { isAborted, joinHeaders, OpenSockets, OperatorError, WholeBody } from '../system/index.js';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Transport, TransportRequest, TransportResponse } from '../system/index.js';
import type { ListenerAccess, RequestHead, Visitor } from './auth/asking.js';
import { certifiedClient } from './auth/authenticator.js';
import type { CertifiedClient } from './auth/authenticator.js';
import { WatchStream } from './reads/watch-stream.js';
import { bodyLimitBytes, errorResponse } from './requests/body.js';
import { CommandSession } from './requests/exec-requests.js';
import { methodNotAllowed, tooLarge } from './status-error.js';

/** Handles a request. The response may be a stream. */
export type RequestHandler = (request: TransportRequest) => Promise<TransportResponse>;

export interface Origin {
  /** Content of the client certificate; undefined without one. */
  readonly certified: CertifiedClient | undefined;
  /** Result of {@link ListenSettings.admit}; undefined if `admit` leaves the decision to the handler. */
  readonly visitor?: Visitor | undefined;
}

/** Handles a request that came over a connection. */
export type ConnectionHandler = (
  request: TransportRequest,
  origin: Origin,
) => Promise<TransportResponse>;

/** Certificates of an HTTPS server, in PEM format. */
export interface ListenTls {
  readonly certificate: string;
  readonly privateKey: string;
  /**
   * The authority whose client certificates the server trusts.
   * @defaultValue undefined: the server requests no client certificates
   */
  readonly clientAuthority?: string | undefined;
}

export interface ListenAddress {
  /** The port to listen on. @defaultValue 0: any free port */
  readonly port?: number;
  /** The address to bind to. @defaultValue '127.0.0.1' */
  readonly host?: string;
  /** Certificates for HTTPS. @defaultValue undefined: plain HTTP */
  readonly tls?: ListenTls | undefined;
}

/** Options of `EmbeddedApiServer.listen`. */
export interface ListenOptions extends ListenAddress {
  /** Authenticates and authorizes the clients of this listener. @defaultValue the server's users and roles */
  readonly access?: ListenerAccess | undefined;
  /**
   * Host names that requests without credentials may use, in addition to `localhost` and IP addresses. Not together
   * with `access`, which admits requests itself. @defaultValue none
   */
  readonly allowedHosts?: readonly string[] | undefined;
}

export interface ListenSettings extends ListenAddress {
  /**
   * Identifies or refuses the client before the server reads the body. Undefined leaves the decision to the
   * handler.
   * @defaultValue the server reads all bodies
   */
  readonly admit?:
    ((head: RequestHead) => Promise<Visitor | undefined> | Visitor | undefined) | undefined;
}

export interface Listener {
  /** The URL of the server, for example `http://127.0.0.1:41231`. */
  readonly url: string;
  /** Stops listening and ends every connection. */
  close(): Promise<void>;
}

/**
 * Serves `handler` over HTTP/1.1, or over HTTPS with `tls`.
 * @throws the error of the socket, for example when the address is in use.
 */
export async function listenHttp(
  handler: ConnectionHandler,
  options: ListenSettings = {},
): Promise<Listener> {
  const { port = 0, host = '127.0.0.1', tls, admit } = options;
  const server = await newServer(tls, (incoming, outgoing) => {
    void serve({ handler, admit }, incoming, outgoing);
  });
  server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    void upgrade({ handler, admit }, { incoming, socket, head });
  });
  const sockets = new OpenSockets(server);
  // No limit: watches stay open until one side closes them.
  server.requestTimeout = 0;
  // Go's clients close idle connections after 90 s. The server waits longer: if it closed an idle connection first, a
  // write that the client sends at that moment would fail.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const scheme = tls === undefined ? 'http' : 'https';
  return { url: `${scheme}://${name}:${address.port}`, close: () => closeServer(server, sockets) };
}

async function newServer(tls: ListenTls | undefined, listener: RequestListener): Promise<Server> {
  const messages = { IncomingMessage: CommandOrPlainRequest };
  if (tls === undefined) return createServer(messages, listener);
  const https = await import('node:https');
  const { certificate, privateKey, clientAuthority } = tls;
  const own = { ...messages, cert: certificate, key: privateKey, minVersion: 'TLSv1.2' } as const;
  if (clientAuthority === undefined) return https.createServer(own, listener);
  // Client certificates are optional: a client without one may have a token.
  const clients = { ca: clientAuthority, requestCert: true, rejectUnauthorized: false };
  return https.createServer({ ...own, ...clients }, listener);
}

function closeServer(server: Server, sockets: OpenSockets): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    sockets.destroy();
  });
}

const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** A request to switch protocols; Node.js has read its head only. */
interface UpgradeRequest {
  readonly incoming: IncomingMessage;
  readonly socket: Socket;
  /** Bytes that came after the head. */
  readonly head: Buffer;
}

/**
 * A request that becomes a WebSocket only if it runs a command in a pod. Every other request for an upgrade gets an
 * answer over HTTP/1.1, as HTTP allows: Java's client requests HTTP/2 with each request. After the head of a request,
 * Node.js reads the property `upgrade`, and emits the event `upgrade` if the property is true.
 */
class CommandOrPlainRequest extends IncomingMessage {
  declare private asked: boolean | undefined;

  get upgrade(): boolean {
    if (this.asked !== true) return false;
    const { headers, url = '' } = this;
    const isCommand = /\/pods\/[^/?]+\/exec(\?|$)/.test(url);
    return isCommand && headers.upgrade?.toLowerCase() === 'websocket';
  }

  set upgrade(asked: boolean | undefined) {
    this.asked = asked;
  }
}

/** Answers a request to run a command, over a WebSocket unless it is refused. */
async function upgrade(
  handlers: Handlers,
  { incoming, socket, head }: UpgradeRequest,
): Promise<void> {
  socket.on('error', () => socket.destroy());
  try {
    const response = await respond(handlers, incoming, socket);
    if (response.body instanceof CommandSession) {
      const session = response.body;
      const { WebSocketServer } = await import('ws');
      const sockets = new WebSocketServer({
        ...{ noServer: true, maxPayload: CommandSession.maxMessageBytes },
        handleProtocols: (offered) => CommandSession.protocolOf(offered) ?? false,
      });
      sockets.handleUpgrade(incoming, socket, head, (opened) => session.serve(opened));
      return;
    }
    const outgoing = new ServerResponse(incoming);
    outgoing.shouldKeepAlive = false;
    outgoing.assignSocket(socket);
    // A client that does not close its side must not keep the connection.
    outgoing.once('finish', () => socket.destroySoon());
    await send(response, outgoing);
  } catch {
    // A fault broke the connection.
    socket.destroy();
  }
}

interface Handlers extends Pick<ListenSettings, 'admit'> {
  readonly handler: ConnectionHandler;
}

async function serve(
  handlers: Handlers,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  try {
    const response = await respond(handlers, incoming, outgoing);
    await send(response, outgoing);
  } catch {
    // A fault broke the connection, or a stream failed: no answer can be sent.
    outgoing.destroy();
  }
}

async function respond(
  { handler, admit }: Handlers,
  incoming: IncomingMessage,
  ending: Ending,
): Promise<TransportResponse> {
  const method = incoming.method === 'HEAD' ? 'GET' : (incoming.method ?? '');
  if (!methods.has(method)) return errorResponse(methodNotAllowed(), incoming.headers.accept);
  const request = new ReceivedRequest(method as TransportRequest['method'], incoming, ending);
  const origin = { certified: certifiedClient(incoming.socket), visitor: await admit?.(request) };
  // A refused request is answered without its body, which is never read.
  if (origin.visitor?.refused !== undefined) return handler(request, origin);
  const body = await readBody(incoming);
  if (body === undefined) return errorResponse(tooLarge(bodyLimitBytes), incoming.headers.accept);
  if (body.length > 0) request.body = body;
  return handler(request, origin);
}

/** Response or socket of a request. It is closed once the response is complete or the client has disconnected. */
type Ending = Pick<ServerResponse | Socket, 'closed' | 'destroyed' | 'writableFinished' | 'once'>;

/**
 * A request of a connection. Its signal is created when it is first read: few requests need one, and creating it costs
 * time. The getter is not copied by a spread, so pass the signal on by name.
 */
class ReceivedRequest implements TransportRequest {
  readonly method: TransportRequest['method'];
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  declare body?: Uint8Array;
  readonly #ending: Ending;
  #abort: AbortController | undefined;

  constructor(
    method: TransportRequest['method'],
    { url = '/', headers }: IncomingMessage,
    ending: Ending,
  ) {
    this.method = method;
    this.path = url;
    this.headers = joinHeaders(headers);
    this.#ending = ending;
  }

  get signal(): AbortSignal {
    if (this.#abort !== undefined) return this.#abort.signal;
    const abort = new AbortController();
    this.#abort = abort;
    const ending = this.#ending;
    const onClose = (): void => {
      if (!ending.writableFinished) abort.abort();
    };
    if (ending.closed || ending.destroyed) onClose();
    else ending.once('close', onClose);
    return abort.signal;
  }
}

/** Reads the body. @returns undefined if the body exceeds the limit; its rest is read and discarded */
function readBody(incoming: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Event listeners take less time than the async iterator of the stream, and this function runs for every request.
  return new Promise((resolve, reject) => {
    incoming.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= bodyLimitBytes) chunks.push(chunk);
    });
    incoming.once('end', () => resolve(length > bodyLimitBytes ? undefined : joined(chunks)));
    incoming.once('error', reject);
  });
}

function joined(chunks: readonly Buffer[]): Buffer {
  const [only, ...more] = chunks;
  return only === undefined || more.length > 0 ? Buffer.concat(chunks) : only;
}

async function send(response: TransportResponse, outgoing: ServerResponse): Promise<void> {
  if (response.body instanceof WholeBody) {
    const { bytes } = response.body;
    outgoing.writeHead(response.status, { ...response.headers, 'content-length': bytes.length });
    outgoing.end(bytes);
    return;
  }
  const chunks = response.body[Symbol.asyncIterator]();
  const leave = (): void => void chunks.return?.();
  const isClosed = (): boolean => outgoing.destroyed || outgoing.closed;
  if (isClosed()) {
    leave();
    return;
  }
  // A watch waits for its next event: without this listener, it would outlive its client.
  outgoing.once('close', leave);
  outgoing.writeHead(response.status, response.headers);
  // The head is already encoded: by default, Node.js would encode its bytes in UTF-8 again.
  outgoing.socket?.setDefaultEncoding('latin1');
  outgoing.flushHeaders();
  for await (const chunk of { [Symbol.asyncIterator]: () => chunks }) {
    if (isClosed()) return;
    if (!outgoing.write(chunk)) await drained(outgoing);
  }
  outgoing.end();
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('drain', done);
      outgoing.off('close', done);
      resolve();
    };
    outgoing.once('drain', done);
    outgoing.once('close', done);
  });
}

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
      if (isAborted(request)) throw aborted(request.signal);
      request.beforeSend?.();
      const response = await handler(request);
      const { body } = response;
      if (!(body instanceof WatchStream)) return response;
      follow(request, body, open);
      return sharesObjects ? { ...response, events: body.events() } : response;
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
