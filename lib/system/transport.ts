/** One HTTP request to an API server. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, for example `/api/v1/pods?limit=500`. */
  readonly path: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers with several values, one line for each. Names in lower case. */
  readonly repeatedHeaders?: Readonly<Record<string, readonly string[]>>;
  /** The request body. */
  readonly body?: string | Uint8Array;
  /**
   * True for a response without an end, such as a watch or a followed log. The request then has its own
   * connection and no body time-out. @defaultValue false
   */
  readonly streaming?: boolean;
  /**
   * Sends the request over connections that only urgent requests share, so that it does not wait for others.
   * @defaultValue false
   */
  readonly urgent?: boolean;
  /** Ends the request, and the response while it is read. */
  readonly signal?: AbortSignal;
  /**
   * Called right before the first byte is written to an open connection, in the same turn of the event loop,
   * for each attempt. If it throws, the request ends unsent.
   */
  readonly beforeSend?: () => void;
}

/** A response: the head, and a body to read. */
export interface TransportResponse {
  readonly status: number;
  /** Header names in lower case; several values of one name are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body's bytes, once, as they arrive. Leaving the loop early frees the connection. */
  readonly body: AsyncIterable<Uint8Array>;
  /**
   * The values of the body's lines, frozen and shared. A caller that reads them must not read the body.
   * Absent if the server runs outside this process.
   */
  readonly events?: AsyncIterable<readonly unknown[]> | undefined;
}

const encoder = new TextEncoder();

/**
 * A body that is complete: its length is known, it can be sent with the headers, and a reader in the same process need
 * not decode its text.
 */
export class WholeBody implements AsyncIterable<Uint8Array> {
  readonly #content: string | Uint8Array;

  constructor(content: string | Uint8Array) {
    this.#content = content;
  }

  /** The body as text; undefined for protobuf. */
  get text(): string | undefined {
    return typeof this.#content === 'string' ? this.#content : undefined;
  }

  get bytes(): Uint8Array {
    return typeof this.#content === 'string' ? encoder.encode(this.#content) : this.#content;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    yield this.bytes;
  }
}

/**
 * Sends requests to an API server: over pooled connections, or directly to an embedded server without a socket. A
 * transport only carries HTTP: the client handles credentials, retries and `Status`.
 */
export interface Transport {
  /** Host and port of the server, for metrics and messages; absent without a network. */
  readonly host?: string | undefined;
  /**
   * @throws OperatorError `ConnectionFailed`: no response arrived; `cause` is the reason.
   * @throws OperatorError `Aborted`: `signal` ended the request.
   */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Closes every connection. Later requests fail with `Stopped`. */
  close(): Promise<void>;
}

/** Whether a request has ended, and its signal, which is created only when it is read. */
export interface RequestEnding {
  /** Whether the request was aborted, even if its signal was never created. */
  readonly isOver: boolean;
  readonly signal: AbortSignal;
}

const ending = Symbol('ending');

function lazySignal(this: { readonly [ending]: RequestEnding }): AbortSignal {
  return this[ending].signal;
}

const signalProperty = { enumerable: true, get: lazySignal };

/**
 * Gives `request` a signal that is taken from `end` only when it is read. Node.js 20 takes 3 µs to create a signal, a
 * twentieth of a write to a server in the process, and such a server rarely needs one.
 */
export function withLazySignal(
  request: Omit<TransportRequest, 'signal'>,
  end: RequestEnding,
): TransportRequest {
  // An own property with one getter for all requests: copies of the request have the signal too.
  return Object.defineProperty(Object.assign(request, { [ending]: end }), 'signal', signalProperty);
}

/** Returns whether the signal of a request is aborted, without creating the signal. */
export function isAborted(request: TransportRequest): boolean {
  const isLazy = Object.getOwnPropertyDescriptor(request, 'signal')?.get === lazySignal;
  if (!isLazy) return request.signal?.aborted === true;
  return (request as { readonly [ending]?: RequestEnding })[ending]?.isOver === true;
}

/** Joins the values of repeated headers, as a {@link Transport} gives them. */
export function joinHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const joined: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) joined[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return joined;
}
