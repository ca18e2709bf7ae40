import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { findFreePort } from '../cluster/control-plane/free-ports.js';

/** Opens an unencrypted connection to the API server. */
export type OpenUpstream = () => Socket;

/** The place where a watch is cut: within the JSON of the next event, or within its chunk header. */
export type CutPoint = 'line' | 'chunkHeader';

/** Returns a response in place of the server, or undefined to forward the request. */
export type Answerer = (requestLine: string) => string | undefined;

interface Link {
  readonly client: Socket;
  readonly upstream: Socket;
  /** True if the last request was a watch, so that the response is a stream of events. */
  watching: boolean;
  /** True once the response has begun: nothing can be injected before its headers. */
  answered: boolean;
  /** True if bytes are dropped in both directions. */
  silent: boolean;
  cut: CutPoint | undefined;
  /** Bytes that are still to be sent while the proxy trickles. */
  readonly backlog: Buffer[];
}

/**
 * A TCP proxy before an API server that simulates network faults: it resets connections at any
 * byte, accepts them without responding, sends a few bytes at a time, or refuses connections. It
 * parses just enough HTTP to find these places and to respond by itself.
 */
export class FaultProxy {
  /** Responds in place of the server. */
  answer: Answerer = () => undefined;
  readonly #openUpstream: OpenUpstream;
  readonly #links = new Set<Link>();
  #server: Server | undefined;
  readonly #port: number;
  #silent = false;
  #bytesAtOnce = Infinity;

  private constructor(openUpstream: OpenUpstream, port: number) {
    this.#openUpstream = openUpstream;
    this.#port = port;
  }

  /** Starts a proxy on a free port of 127.0.0.1. */
  static async start(openUpstream: OpenUpstream): Promise<FaultProxy> {
    // A port that no other process gets while the proxy refuses connections.
    const proxy = new FaultProxy(openUpstream, await findFreePort());
    await proxy.accept();
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The number of open watches. */
  get watches(): number {
    return [...this.#links].filter(({ watching }) => watching).length;
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#links.size;
  }

  /** Resets every connection (RST). */
  reset(): void {
    for (const link of [...this.#links]) this.#break(link);
  }

  /** Resets each open watch within its next event. */
  cutWatches(point: CutPoint): void {
    for (const link of this.#links) if (link.watching) link.cut = point;
  }

  /** Drops all bytes in both directions. Connections stay open and are still accepted. */
  fallSilent(): void {
    this.#silent = true;
    for (const link of this.#links) link.silent = true;
  }

  /** Forwards bytes again on new connections. The old ones stay silent. */
  speak(): void {
    this.#silent = false;
  }

  /** Sends only this many bytes of responses in each turn of the event loop. */
  trickle(bytesAtOnce: number): void {
    this.#bytesAtOnce = bytesAtOnce;
  }

  /** Sends a line on every open watch. */
  inject(line: object): void {
    const text = `${JSON.stringify(line)}\n`;
    const chunk = `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
    for (const { client, watching, answered } of this.#links) {
      if (watching && answered) client.write(chunk);
    }
  }

  /** Refuses new connections and resets the open ones. */
  async refuse(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.reset();
    await new Promise((resolve) => (server === undefined ? resolve(0) : server.close(resolve)));
  }

  /** Accepts connections on the same port as before. */
  async accept(): Promise<void> {
    const server = createServer((client) => this.#link(client));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#server = server;
  }

  close(): Promise<void> {
    return this.refuse();
  }

  #link(client: Socket): void {
    const upstream = this.#openUpstream();
    const link: Link = {
      ...{ client, upstream, watching: false, answered: false, silent: this.#silent },
      ...{ cut: undefined, backlog: [] },
    };
    this.#links.add(link);
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
    }
    client.on('close', () => this.#break(link));
    // A silent network does not report that the server has gone.
    upstream.on('close', () => {
      if (!link.silent) this.#break(link);
    });
    client.on('data', (data: Buffer) => {
      if (!link.silent) this.#request(link, data);
    });
    upstream.on('data', (data: Buffer) => {
      if (!link.silent) this.#answer(link, data);
    });
  }

  #request(link: Link, data: Buffer): void {
    const [line = ''] = data.subarray(0, 2_000).toString('latin1').split('\r\n');
    if (/ HTTP\/1\.1$/.test(line)) {
      const own = this.answer(line);
      link.watching = own === undefined && line.includes('watch=true');
      if (own !== undefined) {
        link.client.write(own);
        return;
      }
    }
    link.answered = false;
    link.upstream.write(data);
  }

  #answer(link: Link, data: Buffer): void {
    link.answered = true;
    const end = link.cut === undefined ? undefined : cutAt(data, link.cut);
    if (end !== undefined) {
      link.client.write(data.subarray(0, end), () => this.#break(link));
      return;
    }
    if (this.#bytesAtOnce === Infinity && link.backlog.length === 0) link.client.write(data);
    else if (link.backlog.push(data) === 1) this.#drip(link);
  }

  #drip(link: Link): void {
    const [next] = link.backlog;
    if (next === undefined || !this.#links.has(link)) return;
    link.client.write(next.subarray(0, this.#bytesAtOnce));
    const rest = next.subarray(this.#bytesAtOnce);
    if (rest.length > 0) link.backlog[0] = rest;
    else link.backlog.shift();
    setImmediate(() => this.#drip(link));
  }

  #break(link: Link): void {
    if (!this.#links.delete(link)) return;
    link.client.resetAndDestroy();
    link.upstream.destroy();
  }
}

/** Returns the number of bytes before the cut, or undefined if no event begins in `data`. */
function cutAt(data: Buffer, point: CutPoint): number | undefined {
  const event = data.indexOf('{"type":"');
  if (event < 0) return undefined;
  if (point === 'line') return event + 30;
  // `1f4\r\n{"type":…`: cut after the first digit.
  const header = data.lastIndexOf('\r\n', event - 3);
  return header < 0 ? 1 : header + 3;
}

/** Returns an HTTP error response. */
export function refusal(status: number, reason: string, headers: readonly string[] = []): string {
  const body = JSON.stringify({
    ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
    ...{ message: 'refused by the proxy', reason, code: status },
  });
  const head = ['content-type: application/json', `content-length: ${body.length}`, ...headers];
  return `HTTP/1.1 ${status} No\r\n${head.join('\r\n')}\r\n\r\n${body}`;
}

/** Returns a watch response with a 410 error: the version is too old. */
export function expiredStream(): string {
  const object = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: 'Expired',
    code: 410,
  };
  const body = `${JSON.stringify({ type: 'ERROR', object })}\n`;
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}
