import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { Agent, request } from 'undici';
import { HttpEndpoint } from '../../../lib/manager/http-endpoint.js';
import type { HttpAnswer, HttpQuestion } from '../../../lib/manager/http-endpoint.js';
import type { CertificateSource } from '../../../lib/manager/webhooks/index.js';
import { nextTurn, systemClock } from '../../../lib/system/clock.js';
import { eventually } from '../../../lib/testing/index.js';
import { rememberingLogger } from '../manager-setup.js';
import type { LogLine } from '../manager-setup.js';
import { ownCertificate } from '../webhooks/suite/serving.js';

interface Running {
  readonly url: string;
  stop(): Promise<void>;
}

interface RunningOptions {
  readonly certificate?: CertificateSource | undefined;
  readonly answer?: (question: HttpQuestion) => Promise<HttpAnswer>;
  readonly lines?: LogLine[];
}

const fine = () => Promise.resolve({ status: 200, body: 'fine' });

async function running({
  certificate,
  answer = fine,
  lines = [],
}: RunningOptions = {}): Promise<Running> {
  const endpoint = new HttpEndpoint({
    ...{ name: 'spec', host: '127.0.0.1', port: 0, certificate, clock: systemClock },
    posts: new Set(['/texts']),
    answer,
  });
  const logger = rememberingLogger(lines);
  const ending = new AbortController();
  let run = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    run = endpoint.run({ signal: ending.signal, logger, ready: resolve });
    run.catch(reject);
  });
  return {
    url: endpoint.url ?? '',
    stop: () => {
      ending.abort();
      return run;
    },
  };
}

async function statusOf(url: string, ca?: string): Promise<number> {
  const dispatcher = new Agent({ connect: { ca } });
  try {
    const { statusCode, body } = await request(url, { dispatcher });
    await body.dump();
    return statusCode;
  } finally {
    await dispatcher.destroy();
  }
}

describe('HttpEndpoint', () => {
  it('answers 400 to an invalid request target, and continues to serve', async () => {
    const endpoint = await running();
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(endpoint.url).port) });
    socket.write('GET //[bad HTTP/1.1\r\nHost: a\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1.1 400 /);
    socket.destroy();
    expect(await statusOf(endpoint.url)).to.equal(200);
    await endpoint.stop();
  });

  /** Returns the whole response to `head` without its date. The server closes the connection after it. */
  async function answerTo(url: string, head: string): Promise<string> {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) });
    socket.on('error', () => undefined);
    socket.write(`${head}\r\nHost: a\r\nConnection: close\r\n\r\n`);
    const received: Buffer[] = [];
    socket.on('data', (piece: Buffer) => received.push(piece));
    await once(socket, 'close');
    return Buffer.concat(received)
      .toString()
      .replace(/Date: .*\r\n/, '')
      .replaceAll('\r', '');
  }

  const head = (length: number): string =>
    `content-type: text/plain; charset=utf-8\nx-content-type-options: nosniff\ncontent-length: ${length}\n`;
  const close = 'Connection: close\n\n';
  for (const [asked, answered] of [
    ['GET /', `HTTP/1.1 200 OK\n${head(4)}${close}fine`],
    ['HEAD /', `HTTP/1.1 200 OK\n${head(4)}${close}`],
    [
      'DELETE /',
      `HTTP/1.1 405 Method Not Allowed\n${head(19)}allow: GET, HEAD\n${close}Method Not Allowed\n`,
    ],
    [
      'GET /texts',
      `HTTP/1.1 405 Method Not Allowed\n${head(19)}allow: POST\n${close}Method Not Allowed\n`,
    ],
    [
      'GET /error',
      `HTTP/1.1 500 Internal Server Error\n${head(22)}${close}Internal Server Error\n`,
    ],
    [
      'GET /own',
      'HTTP/1.1 201 Created\ncontent-type: text/x\nx-content-type-options: nosniff\ncontent-length: 4\nx-own: 1\n' +
        `${close}grü`,
    ],
    [
      'GET /stream',
      'HTTP/1.1 200 OK\nx-content-type-options: nosniff\nx-own: 1\nConnection: close\n' +
        'Transfer-Encoding: chunked\n\n3\none\n3\ntwo\n0\n\n',
    ],
    [
      'HEAD /stream',
      'HTTP/1.1 200 OK\nx-content-type-options: nosniff\nx-own: 1\nConnection: close\n\n',
    ],
  ] as const) {
    it(`sends exactly the expected response to ${asked}`, async () => {
      const lines: LogLine[] = [];
      const answer = async ({ url }: HttpQuestion): Promise<HttpAnswer> => {
        const own = { 'content-type': 'text/x', 'x-own': '1' };
        switch (url.pathname) {
          case '/error':
            throw new Error('no beans');
          case '/own':
            return { status: 201, headers: own, body: 'grü' };
          case '/stream':
            return {
              ...{ status: 200, headers: { 'x-own': '1' } },
              body: async (stream) => {
                for (const text of ['one', 'two']) {
                  stream.write(text);
                  // Newer versions of Node.js join two writes, and an answer that ends with unsent bytes is broken off.
                  while (stream.pendingBytes > 0) await nextTurn();
                }
              },
            };
          default:
            return fine();
        }
      };
      const endpoint = await running({ answer, lines });
      expect(await answerTo(endpoint.url, `${asked} HTTP/1.1`)).to.equal(answered);
      await endpoint.stop();
      const errors = lines.filter(({ level }) => level === 'error');
      expect(errors.map(({ message }) => message)).to.deep.equal(
        asked === 'GET /error' ? ['spec: GET /error failed'] : [],
      );
    });
  }

  it('closes the connection when the stream of an answer fails, and logs the error', async () => {
    const lines: LogLine[] = [];
    const body = async (stream: { write(piece: string): void }): Promise<void> => {
      stream.write('begun');
      throw new Error('no beans');
    };
    const answer = async (): Promise<HttpAnswer> => ({ status: 200, body });
    const endpoint = await running({ answer, lines });
    await answerTo(endpoint.url, 'GET / HTTP/1.1');
    await endpoint.stop();
    const errors = lines.filter(({ level }) => level === 'error');
    expect(errors.map(({ message }) => message)).to.deep.equal(['spec: an answer broke off']);
  });

  it('ends immediately if it is started after it was stopped', async () => {
    const endpoint = new HttpEndpoint({
      ...{ name: 'spec', host: '127.0.0.1', port: 0, clock: systemClock, answer: fine },
    });
    const logger = rememberingLogger([]);
    await endpoint.run({ signal: AbortSignal.abort(), logger, ready: () => undefined });
    expect(endpoint.url).to.equal(undefined);
  });

  async function measured({ body }: HttpQuestion): Promise<HttpAnswer> {
    const text = await body(1_000);
    return text === undefined ? { status: 413, body: 'too long' } : { status: 200, body: text };
  }

  for (const [name, length] of Object.entries({
    'of an announced length': 'Content-Length: 10000000',
    'of an unknown length': 'Transfer-Encoding: chunked',
  })) {
    it(`answers 413 to a body ${name} that is too long, then closes the connection`, async () => {
      const endpoint = await running({ answer: measured });
      const socket = connect({ host: '127.0.0.1', port: Number(new URL(endpoint.url).port) });
      socket.write(`POST /texts HTTP/1.1\r\nHost: a\r\n${length}\r\n\r\n`);
      const closed = once(socket, 'close');
      const received: Buffer[] = [];
      socket.on('data', (piece: Buffer) => received.push(piece));
      socket.write(`7d0\r\n${'x'.repeat(2_000)}\r\n`);
      await closed;
      const answer = Buffer.concat(received).toString();
      expect(answer).to.match(/^HTTP\/1.1 413 [^]*\r\nConnection: close\r\n[^]*too long$/);
      await endpoint.stop();
    });
  }

  for (const [bytes, status] of [
    [1_000, 200],
    [1_001, 413],
  ] as const) {
    it(`answers ${status} to a body of ${bytes} bytes if it reads at most 1,000 bytes`, async () => {
      const endpoint = await running({ answer: measured });
      const body = 'x'.repeat(bytes);
      for (const headers of [
        { 'content-length': `${bytes}` },
        { 'transfer-encoding': 'chunked' },
      ]) {
        const socket = connect({ host: '127.0.0.1', port: Number(new URL(endpoint.url).port) });
        const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        const isChunked = 'transfer-encoding' in headers;
        const sent = isChunked ? `${bytes.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body;
        socket.write(`POST /texts HTTP/1.1\r\nHost: a\r\n${head.join('')}\r\n${sent}`);
        const [answer] = (await once(socket, 'data')) as [Buffer];
        expect(answer.toString()).to.include(`HTTP/1.1 ${status} `);
        socket.destroy();
      }
      await endpoint.stop();
    });
  }

  it('keeps a connection open after it has read the whole body', async () => {
    const endpoint = await running({ answer: measured });
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(endpoint.url).port) });
    for (const text of ['one', 'two']) {
      socket.write(`POST /texts HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n${text}`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).to.match(/^HTTP\/1.1 200 /);
    }
    socket.destroy();
    await endpoint.stop();
  });

  it('logs at level debug that a client has disconnected while it sent a body', async () => {
    const lines: LogLine[] = [];
    const endpoint = await running({ answer: measured, lines });
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(endpoint.url).port) });
    const head = 'POST /texts HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n';
    socket.write(`${head}Expect: 100-continue\r\n\r\n`);
    await once(socket, 'data');
    socket.destroy();
    await eventually(() => {
      const aborted = lines.filter(({ message }) => message === 'spec: POST /texts was aborted');
      expect(aborted.map(({ level }) => level)).to.deep.equal(['debug']);
    });
    await endpoint.stop();
    expect(lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  for (const scheme of ['http', 'https']) {
    it(`stops despite a connection that has sent nothing: ${scheme}`, async () => {
      const { source, authority } = await ownCertificate();
      const endpoint = await running({ certificate: scheme === 'https' ? source : undefined });
      const { port, hostname } = new URL(endpoint.url);
      const socket = connect({ port: Number(port), host: hostname });
      await once(socket, 'connect');
      socket.on('error', () => undefined); // The server may close it by a reset or an end.
      // A response to a later connection shows that the server has accepted this one.
      expect(await statusOf(endpoint.url, authority)).to.equal(200);
      const closed = once(socket, 'close');
      await endpoint.stop();
      await closed;
    });
  }
});
