import { request } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import { asError } from './as-error.js';

/** Sends one request over a connection of its own, and closes it. */
export type OneRequest = Pick<Dispatcher, 'dispatch'> & { destroy(): Promise<void> };

/**
 * The connection of a stream, such as a watch. Node.js itself reads it, which costs half the CPU time per chunk: undici
 * copies each chunk into the memory of its parser. A watch event is usually a chunk.
 */
export class StreamConnection implements OneRequest, Dispatcher.DispatchController {
  reason: Error | null = null;
  readonly #server: URL;
  readonly #connect: buildConnector.connector;
  #handler: Dispatcher.DispatchHandler | undefined;
  #socket: Socket | undefined;
  #request: ClientRequest | undefined;
  #response: IncomingMessage | undefined;

  /** @param connect - opens the connection to `server` */
  constructor(server: URL, connect: buildConnector.connector) {
    this.#server = server;
    this.#connect = connect;
  }

  get aborted(): boolean {
    return this.reason !== null;
  }

  get paused(): boolean {
    return this.#response?.isPaused() === true;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.#handler = handler;
    const { hostname, host, protocol, port } = this.#server;
    this.#connect({ hostname, host, protocol, port }, (error, socket) => {
      if (error !== null) this.#fail(error);
      else this.#send(options, socket);
    });
    return false;
  }

  pause(): void {
    this.#response?.pause();
  }

  resume(): void {
    this.#response?.resume();
  }

  abort(reason: Error): void {
    this.reason ??= reason;
    this.#fail(reason);
    this.#request?.destroy();
    this.#socket?.destroy();
  }

  /** Ends the request, if it has not ended, and resolves once the connection is closed. */
  async destroy(): Promise<void> {
    this.abort(new Error('the connection was closed'));
    const socket = this.#socket;
    if (socket?.closed === false) await new Promise((resolve) => socket.once('close', resolve));
  }

  #send({ method, path, headers, body }: Dispatcher.DispatchOptions, socket: Socket): void {
    this.#socket = socket;
    if (this.aborted) {
      socket.destroy();
      return;
    }
    try {
      // `onRequestStart` may abort the request.
      this.#handler?.onRequestStart?.(this, undefined);
      if (socket.destroyed) return;
      this.#request = request({
        createConnection: () => socket,
        method,
        path,
        headers: { host: this.#server.host, connection: 'keep-alive', ...(headers as object) },
      });
      this.#request.once('response', (response) => this.#read(response));
      this.#request.on('error', (error) => this.#fail(error));
      this.#request.end(body);
    } catch (error) {
      this.abort(asError(error));
    }
  }

  #read(response: IncomingMessage): void {
    this.#response = response;
    response.on('data', (chunk: Buffer) => this.#handler?.onResponseData?.(this, chunk));
    response.once('end', () => {
      const handler = this.#handler;
      this.#handler = undefined;
      handler?.onResponseEnd?.(this, response.trailers);
    });
    response.on('error', (error) => this.#fail(error));
    this.#handler?.onResponseStart?.(this, response.statusCode ?? 0, response.headersDistinct);
  }

  #fail(error: Error): void {
    const handler = this.#handler;
    this.#handler = undefined;
    handler?.onResponseError?.(this, error);
  }
}
