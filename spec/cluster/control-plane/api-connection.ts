import { Agent, request } from 'node:https';
import type { IncomingMessage } from 'node:http';

/** Address and credentials of an API server. */
export interface ApiCredentials {
  readonly url: string;
  /** Certificate authority as PEM; by default the system's authorities. */
  readonly ca?: string;
  readonly token?: string;
  /** Client certificate and key as PEM. */
  readonly cert?: string;
  readonly key?: string;
}

/**
 * How long a connection may be idle. kube-apiserver closes idle ones after 90 s, and a request that
 * is sent at that moment fails. The limit does not end an ongoing request, which may take longer.
 */
const idleMs = 30_000;

/** A request. */
export interface ApiRequest {
  /** @defaultValue 'GET' */
  readonly method?: string;
  /** Path and query. */
  readonly path: string;
  /** Body: sent as JSON, or unchanged if it is a string. */
  readonly body?: unknown;
  /** @defaultValue 'application/json' */
  readonly contentType?: string;
  /** @defaultValue 'application/json' */
  readonly accept?: string;
  /** Token to send instead of the connection's. */
  readonly token?: string;
}

/** Response to an {@link ApiRequest}, whatever its status. */
export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
  readonly bytes: Buffer;
}

/** Sends requests to an API server without the client under test. */
export class ApiConnection {
  readonly #credentials: ApiCredentials;
  readonly #agent: Agent;

  constructor(credentials: ApiCredentials) {
    this.#credentials = credentials;
    const { ca, cert, key } = credentials;
    const limits = { keepAlive: true, maxSockets: 32, timeout: idleMs };
    this.#agent = new Agent({ ...limits, ...defined({ ca, cert, key }) });
  }

  /** Sends a request; rejects only without a response. */
  async send(apiRequest: ApiRequest): Promise<ApiAnswer> {
    const { method = 'GET', path, body } = apiRequest;
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request(new URL(path, this.#credentials.url), {
        method,
        agent: this.#agent,
        headers: {
          ...this.#headers(apiRequest),
          // Node.js sends the body of a DELETE without its length, so the server would read it as the next request.
          ...(text !== undefined && { 'content-length': Buffer.byteLength(text) }),
        },
      });
      outgoing.once('response', resolve).once('error', reject);
      outgoing.end(text);
    });
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    return { status: response.statusCode ?? 0, text: bytes.toString(), bytes };
  }

  /**
   * Sends a request and returns the JSON response.
   * @throws Error: the status is not 2xx.
   */
  async json<T>(apiRequest: ApiRequest): Promise<T> {
    const { status, text } = await this.send(apiRequest);
    if (status >= 200 && status < 300) return JSON.parse(text) as T;
    throw new Error(`${apiRequest.method ?? 'GET'} ${apiRequest.path}: ${status} ${text}`);
  }

  /** Closes every connection. */
  close(): void {
    this.#agent.destroy();
  }

  #headers(apiRequest: ApiRequest): Record<string, string> {
    const { accept = 'application/json', contentType = 'application/json' } = apiRequest;
    const token = apiRequest.token ?? this.#credentials.token;
    return {
      accept,
      'user-agent': 'operator-builder-control-plane',
      ...(apiRequest.body === undefined ? {} : { 'content-type': contentType }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
  }
}

/**
 * Omits undefined members: Node's TLS options, under `exactOptionalPropertyTypes`, distinguish them
 * from absent ones.
 */
function defined(options: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(options).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
