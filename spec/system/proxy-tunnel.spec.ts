import { expect } from 'chai';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import { startConnectProxy } from './connect-proxy.js';
import { answerJson, startStubServer } from './stub-server.js';
import type { StubServer } from './stub-server.js';

const request = { method: 'GET', path: '/', headers: {} } as const;

/** Scripted SOCKS 5 proxy: the bytes it waits for and those it sends, in hex. */
async function startScripted(script: readonly (readonly [number, string])[]): Promise<{
  readonly port: number;
  readonly heard: string[];
  readonly server: Server;
}> {
  const heard: string[] = [];
  const server = createServer((socket: Socket) => {
    let at = 0;
    let pending = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      pending = Buffer.concat([pending, data]);
      const step = script[at];
      if (step === undefined || pending.length < step[0]) return;
      heard.push(pending.subarray(0, step[0]).toString('hex'));
      pending = pending.subarray(step[0]);
      at++;
      // Byte by byte, as a network may deliver.
      for (const byte of Buffer.from(step[1], 'hex')) socket.write(Uint8Array.of(byte));
      if (at < script.length) return;
      const body = '{"ok":1}';
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, heard, server };
}

async function outcomeOf(transport: UndiciTransport): Promise<string> {
  try {
    const { body } = await transport.request(request);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  } catch (error) {
    return (error as Error).message;
  } finally {
    await transport.close();
  }
}

describe('a transport through a proxy', () => {
  let server: StubServer;

  before(async () => {
    server = await startStubServer((_, response) => answerJson(response, { reached: true }));
  });

  after(() => server.close());

  it('connects by CONNECT, and authenticates with the user of its URL', async () => {
    const proxy = await startConnectProxy();
    const url = proxy.url.replace('//', '//me:p%40ss@');
    expect(await outcomeOf(new UndiciTransport({ server: server.url, proxy: url }))).to.equal(
      '{"reached":true}',
    );
    expect(proxy.targets).to.deep.equal([`127.0.0.1:${server.port}`]);
    const pair = Buffer.from('me:p@ss').toString('base64');
    expect(proxy.authorizations).to.deep.equal([`Basic ${pair}`]);
    await proxy.close();
  });

  it("reports the proxy's refusal without the password, and that nothing was sent", async () => {
    const proxy = await startConnectProxy(407);
    const url = proxy.url.replace('//', '//me:secret@');
    const transport = new UndiciTransport({ server: server.url, proxy: url });
    const error: unknown = await transport.request(request).catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'ConnectionFailed', requestSent: false });
    expect((error as Error).message)
      .to.contain('refused with status 407')
      .and.not.contain('secret');
    await transport.close();
    await proxy.close();
  });

  it('connects by SOCKS 5, by host name', async () => {
    const host = Buffer.from('api.test').toString('hex');
    // Greeting and request; a reply with an IPv4 address.
    const {
      port,
      heard,
      server: socks,
    } = await startScripted([
      [3, '0500'],
      [15, '05000001000000000000'],
      [4, ''],
    ]);
    const proxy = `socks5://127.0.0.1:${port}`;
    expect(await outcomeOf(new UndiciTransport({ server: 'http://api.test:80', proxy }))).to.equal(
      '{"ok":1}',
    );
    expect(heard.slice(0, 2)).to.deep.equal(['050100', `0501000308${host}0050`]);
    socks.close();
  });

  it('authenticates by SOCKS 5, and reports a refusal', async () => {
    const {
      port,
      heard,
      server: socks,
    } = await startScripted([
      [3, '0502'],
      [7, '0101'],
    ]);
    const proxy = `socks5://me:pw@127.0.0.1:${port}`;
    const message = await outcomeOf(new UndiciTransport({ server: 'http://api.test:80', proxy }));
    expect(message).to.contain('user name or password refused').and.not.contain('pw@');
    expect(heard[1]).to.equal(`01026d65027077`);
    socks.close();
  });

  it('times out on a proxy that never responds', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    for (const scheme of ['http', 'socks5']) {
      const proxy = `${scheme}://127.0.0.1:${port}`;
      const message = await outcomeOf(
        new UndiciTransport({ server: server.url, proxy, connectTimeoutMs: 30 }),
      );
      expect(message).to.contain('no answer in 30 ms');
    }
    silent.close();
  });

  it('rejects an invalid proxy URL', () => {
    const construct = (): unknown => new UndiciTransport({ server: server.url, proxy: 'ftp://a' });
    expect(construct).to.throw('proxy').with.property('code', 'InvalidOption');
  });
});
