import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { HttpEndpoint } from '../../../lib/manager/http-endpoint.js';
import type { HttpQuestion } from '../../../lib/manager/http-endpoint.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { onLoopback } from '../served.js';

/** An endpoint that records requests and holds its responses until they are released. */
class Asked {
  readonly clock = new VirtualClock();
  readonly paths: string[] = [];
  readonly #stop = new AbortController();
  readonly #answers: (() => void)[] = [];
  readonly #endpoint: HttpEndpoint;
  #running: Promise<void> = Promise.resolve();

  constructor() {
    const answer = async ({ url, signal }: HttpQuestion) => {
      this.paths.push(url.pathname);
      await new Promise<void>((resolve) => {
        this.#answers.push(resolve);
        signal.addEventListener('abort', () => resolve());
      });
      return { status: 200, body: `${url.pathname};` };
    };
    const { clock } = this;
    this.#endpoint = new HttpEndpoint({ name: 'spec', ...onLoopback, clock, answer });
  }

  async start(): Promise<void> {
    const { signal } = this.#stop;
    await new Promise<void>((ready) => {
      this.#running = this.#endpoint.run({ signal, logger: silentLogger, ready });
    });
  }

  async connect(): Promise<Socket> {
    const { port } = new URL(this.#endpoint.url ?? '');
    const socket = connect(Number(port), '127.0.0.1');
    // The server may close the connection by a reset, too.
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  }

  /** Resolves when `count` requests have arrived. */
  async until(count: number): Promise<void> {
    while (this.paths.length < count) await turn();
  }

  /** Releases the response to the oldest request. */
  letGo(): void {
    this.#answers.shift()?.();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe('HTTP requests that a client pipelines', () => {
  let asked: Asked;

  beforeEach(async () => {
    asked = new Asked();
    await asked.start();
  });
  // The clock stands still, so that a stop which waits for a timer would not end.
  afterEach(() => asked.stop());

  it('are answered one after the other', async () => {
    const socket = await asked.connect();
    let text = '';
    socket.on('data', (piece: Buffer) => (text += piece.toString()));
    socket.write(get('/a') + get('/b') + get('/c'));
    for (const count of [1, 2, 3]) {
      await asked.until(count);
      for (let n = 0; n < 5; n++) await turn();
      expect(asked.paths).to.deep.equal(['/a', '/b', '/c'].slice(0, count));
      asked.letGo();
    }
    while (!text.includes('/c;')) await turn();
    expect(text.match(/\/.;/g)).to.deep.equal(['/a;', '/b;', '/c;']);
    socket.destroy();
  });

  it('are dropped when their connection is closed', async () => {
    const socket = await asked.connect();
    socket.write(get('/a') + get('/b') + get('/c'));
    await asked.until(1);
    socket.destroy();
    const other = await asked.connect();
    other.write(get('/other'));
    await asked.until(2);
    for (let n = 0; n < 5; n++) await turn();
    expect(asked.paths).to.deep.equal(['/a', '/other']);
    other.destroy();
  });

  it('wait in a queue of 16 for each connection', async () => {
    const socket = await asked.connect();
    socket.write(get('/a').repeat(17));
    await asked.until(1);
    const other = await asked.connect();
    other.write(get('/other'));
    await asked.until(2);
    expect(socket.closed).to.equal(false);
    for (const one of [socket, other]) one.destroy();
  });

  it('close the connection when the queue is full', async () => {
    const socket = await asked.connect();
    const closed = once(socket, 'close');
    socket.write(get('/a').repeat(18));
    await closed;
    expect(asked.paths).to.have.length(1);
  });
});

describe('Many concurrent HTTP requests', () => {
  it('add no listener to the stop signal for each request', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    const asked = new Asked();
    await asked.start();
    const sockets = await Promise.all(Array.from({ length: 20 }, () => asked.connect()));
    for (const socket of sockets) socket.write(get('/'));
    await asked.until(20);
    await asked.stop();
    await turn();
    process.off('warning', note);
    // Other warnings do not concern this spec.
    const names = warnings.map(({ name }) => name);
    expect(names).not.to.include('MaxListenersExceededWarning');
  });
});
