/** One HTTP request to an API server. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, for example `/api/v1/pods?limit=500`. */
  readonly path: string;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers that come several times: one line for each value. Names in lower case. */
  readonly repeatedHeaders?: Readonly<Record<string, readonly string[]>>;
  /** The body as it goes over the wire. */
  readonly body?: string | Uint8Array;
  /**
   * The answer goes on for as long as both sides like (a watch, a log): it gets a connection of its
   * own and no body time-out. @defaultValue false
   */
  readonly streaming?: boolean;
  /** Ends the request and, while it is read, the answer. */
  readonly signal?: AbortSignal;
  /**
   * Called right before the first byte goes into a connection that is there, each time that one does,
   * with nothing awaited in between. What it throws ends the request, and nothing is sent.
   */
  readonly beforeSend?: () => void;
}

/** The answer: its head is here, its body still to be read. */
export interface TransportResponse {
  readonly status: number;
  /** Header names in lower case; several of one name are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body's bytes, once, as they arrive. Leaving the loop early frees the connection. */
  readonly body: AsyncIterable<Uint8Array>;
  /**
   * The values of the body's lines, frozen and shared: who reads them must not read the body. Absent:
   * there are bytes only, as of each server that is not in this process.
   */
  readonly events?: AsyncIterable<readonly unknown[]> | undefined;
}

/**
 * How requests reach an API server: over pooled connections, or straight into an embedded server
 * without a socket. It knows no Kubernetes: credentials, retries and `Status` are the client's.
 */
export interface Transport {
  /** Host and port of the server, for metrics and messages; absent where there is no network. */
  readonly host?: string | undefined;
  /**
   * @throws OperatorError `ConnectionFailed`: no answer came; `cause` says why.
   * @throws OperatorError `Aborted`: `signal` ended the request.
   */
  request(request: TransportRequest): Promise<TransportResponse>;
  /** Ends every connection. Requests after it fail with `Stopped`. */
  close(): Promise<void>;
}
