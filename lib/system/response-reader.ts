import type { Dispatcher } from 'undici';
import { joinHeaders } from './transport.js';
import type { TransportRequest, TransportResponse } from './transport.js';

/** Callbacks of a {@link ResponseReader}. */
interface Reading {
  /** Returns the error to throw in place of `error`. */
  readonly explain: (error: unknown) => unknown;
  /** Called once, when the response has ended or failed, or the caller stops reading its body. */
  readonly end: () => Promise<void> | undefined;
}

interface Waiting<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

type Chunk = IteratorResult<Uint8Array, undefined>;

/** If a response has so many unread bytes or chunks, the connection pauses until the reader has read them. */
const most = { unreadBytes: 64 * 1024, unreadChunks: 1_000 };

/**
 * Sends one request and reads its response; iterate over the reader once to get the body. It replaces undici's own
 * `request`, whose stream for the body costs as much as the rest of a small request.
 */
export class ResponseReader
  implements Dispatcher.DispatchHandler, AsyncIterableIterator<Uint8Array>
{
  readonly #request: TransportRequest;
  readonly #reading: Reading;
  readonly #onAbort: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  /** Settles the promise of the response's head; undefined once that promise is settled. */
  #sender: Waiting<TransportResponse> | undefined;
  #reader: Waiting<Chunk> | undefined;
  #chunks: Uint8Array[] = [];
  #unreadBytes = 0;
  /** Set when the body has ended or failed; there may still be unread chunks. */
  #over: { readonly error?: unknown } | undefined;
  #ended: Promise<void> | undefined;

  constructor(request: TransportRequest, reading: Reading) {
    this.#request = request;
    this.#reading = reading;
    const { signal } = request;
    this.#onAbort = () => this.#fail(signal?.reason);
  }

  /**
   * Sends the request over `dispatcher`. An abort rejects at once: undici would first wait for a free connection.
   * @throws the error that `explain` returns.
   */
  send(
    dispatcher: Pick<Dispatcher, 'dispatch'>,
    options: Dispatcher.DispatchOptions,
  ): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      this.#sender = { resolve, reject };
      this.#request.signal?.addEventListener('abort', this.#onAbort);
      dispatcher.dispatch(options, this);
    });
  }

  /**
   * The connection is open, its handshake is done and the request is next. Right after this, in the same turn of the
   * event loop, undici writes the request to the socket. If `beforeSend` throws, undici drops the unsent request and
   * keeps the connection.
   */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#over !== undefined) {
      controller.abort(abortReason(this.#over.error));
      return;
    }
    // `beforeSend` may abort the request, and an abort needs the controller.
    this.#controller = controller;
    this.#request.beforeSend?.();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Parameters<typeof joinHeaders>[0],
  ): void {
    // Informational responses, such as 103, may precede the response.
    if (status < 200) return;
    this.#sender?.resolve({ status, headers: joinHeaders(headers), body: this });
    this.#sender = undefined;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader !== undefined) {
      reader.resolve({ done: false, value: chunk });
      return;
    }
    this.#chunks.push(chunk);
    this.#unreadBytes += chunk.length;
    const isBehind =
      this.#unreadBytes >= most.unreadBytes || this.#chunks.length >= most.unreadChunks;
    if (isBehind) controller.pause();
  }

  onResponseEnd(): void {
    this.#finish({});
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    this.#finish({ error });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Chunk> {
    const { signal } = this.#request;
    // The body may have arrived whole before the abort.
    if (this.#chunks.length > 0 && signal?.aborted === true) {
      this.#chunks = [];
      this.#over = { error: signal.reason as unknown };
    }
    const value = this.#chunks.shift();
    if (value !== undefined) {
      this.#unreadBytes -= value.length;
      return Promise.resolve({ done: false, value });
    }
    if (this.#over !== undefined) return this.#end();
    const next = new Promise<Chunk>((resolve, reject) => (this.#reader = { resolve, reject }));
    // `resume` may deliver the next chunk before it returns.
    if (this.#controller?.paused === true) this.#controller.resume();
    return next;
  }

  return(): Promise<Chunk> {
    this.#chunks = [];
    if (this.#over === undefined) {
      this.#finish({});
      this.#controller?.abort(new Error('the caller stopped reading the response'));
    }
    this.#over = {};
    return this.#end();
  }

  #fail(error: unknown): void {
    this.#finish({ error });
    this.#controller?.abort(abortReason(error));
  }

  #finish(over: { readonly error?: unknown }): void {
    if (this.#over !== undefined) return;
    this.#over = over;
    this.#request.signal?.removeEventListener('abort', this.#onAbort);
    const [sender, reader] = [this.#sender, this.#reader];
    this.#sender = undefined;
    this.#reader = undefined;
    if (sender !== undefined) {
      this.#end().then(() => sender.reject(new Error('no response')), sender.reject);
    } else if (reader !== undefined) this.#end().then(reader.resolve, reader.reject);
  }

  async #end(): Promise<Chunk> {
    this.#ended ??= this.#reading.end();
    if (this.#ended !== undefined) await this.#ended;
    const over = this.#over ?? {};
    this.#over = {};
    if ('error' in over) throw this.#reading.explain(over.error);
    return { done: true, value: undefined };
  }
}

function abortReason(error: unknown): Error {
  return error instanceof Error ? error : new Error('the request was aborted', { cause: error });
}
