import { expect } from 'chai';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import { TLSSocket } from 'node:tls';
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

  it("sends CONNECT to an HTTP proxy, and authenticates with the user in the proxy's URL", async () => {
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

  it('reports that the proxy refuses the request, without the password, and that nothing was sent', async () => {
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

  const socksReplies = {
    'an IPv4 address': '05000001000000000000',
    'an IPv6 address': `05000004${'ff'.repeat(16)}0000`,
    'a host name': '0500000304ffffffff0000',
  };
  for (const scheme of ['socks5', 'socks5h']) {
    for (const [kind, reply] of Object.entries(socksReplies)) {
      it(`connects by ${scheme} to the host name of the server when the SOCKS proxy responds with ${kind}`, async () => {
        const host = Buffer.from('api.test').toString('hex');
        const {
          port,
          heard,
          server: socks,
        } = await startScripted([
          [3, '0500'],
          [15, reply],
          [4, ''],
        ]);
        const proxy = `${scheme}://127.0.0.1:${port}`;
        const transport = new UndiciTransport({ server: 'http://api.test:80', proxy });
        expect(await outcomeOf(transport)).to.equal('{"ok":1}');
        const get = Buffer.from('GET ').toString('hex');
        expect(heard).to.deep.equal(['050100', `0501000308${host}0050`, get]);
        socks.close();
      });
    }
  }

  it('requests the port of the server from a SOCKS proxy, also a port above 255', async () => {
    const {
      port,
      heard,
      server: socks,
    } = await startScripted([
      [3, '0500'],
      [15, '05050001000000000000'],
    ]);
    const proxy = `socks5://127.0.0.1:${port}`;
    const message = await outcomeOf(new UndiciTransport({ server: 'http://api.test:6443', proxy }));
    expect(message).to.equal(`GET api.test:6443: proxy 127.0.0.1:${port}: refused with code 5`);
    expect(heard[1]?.slice(-4)).to.equal((6443).toString(16));
    socks.close();
  });

  it('requests port 443 if the URL of an HTTPS server has no port', async () => {
    const proxy = await startConnectProxy(407);
    const outcome = outcomeOf(
      new UndiciTransport({ server: 'https://api.test', proxy: proxy.url }),
    );
    expect(await outcome).to.contain('refused with status 407');
    const secure = new UndiciTransport({ server: 'https://[::1]:6443', proxy: proxy.url });
    expect(await outcomeOf(secure)).to.contain('refused with status 407');
    expect(proxy.targets).to.deep.equal(['api.test:443', '[::1]:6443']);
    expect(proxy.authorizations).to.deep.equal([undefined, undefined]);
    await proxy.close();
  });

  it('uses TLS between client and server through the tunnel', async () => {
    const pem = (name: string): string =>
      readFileSync(new URL(`certificates/${name}`, import.meta.url), 'utf8');
    const tls = { cert: pem('server.pem'), key: pem('server.key') };
    const secure = await startStubServer((_, response) => answerJson(response, {}), tls);
    const proxy = await startConnectProxy();
    const options = { server: secure.url, proxy: proxy.url, tls: { ca: pem('ca.pem') } };
    expect(await outcomeOf(new UndiciTransport(options))).to.equal('{}');
    expect(secure.requests[0]?.socket).to.be.instanceOf(TLSSocket);
    expect(proxy.targets).to.deep.equal([`127.0.0.1:${secure.port}`]);
    await proxy.close();
    await secure.close();
  });

  const socksProblems: readonly (readonly [
    string,
    string,
    readonly (readonly [number, string])[],
  ])[] = [
    ['', 'login method not supported', [[3, '05ff']]],
    ['me:pw@', 'login method not supported', [[3, '0500']]],
    [
      'me:pw@',
      'user name or password refused',
      [
        [3, '0502'],
        [7, '0101'],
      ],
    ],
    [`${'u'.repeat(256)}:pw@`, 'user name, password or host of more than 255 bytes', [[3, '0502']]],
  ];
  for (const [user, problem, script] of socksProblems) {
    it(`reports a problem with a SOCKS 5 proxy ${user === '' ? 'without' : 'with'} a user: ${problem}`, async () => {
      const { port, server: socks } = await startScripted([...script, [99, '']]);
      const proxy = `socks5://${user}127.0.0.1:${port}`;
      const transport = new UndiciTransport({ server: 'http://api.test:80', proxy });
      const error: unknown = await transport.request(request).catch((thrown: unknown) => thrown);
      expect(error).to.include({
        ...{ code: 'ConnectionFailed', requestSent: false },
        message: `GET api.test: proxy 127.0.0.1:${port}: ${problem}`,
      });
      await transport.close();
      socks.close();
    });
  }

  it('reports a SOCKS 5 proxy that closes the connection', async () => {
    const closing = createServer((socket) => socket.end(Uint8Array.of(5)));
    await new Promise<void>((resolve) => closing.listen(0, '127.0.0.1', resolve));
    const { port } = closing.address() as AddressInfo;
    const proxy = `socks5://127.0.0.1:${port}`;
    expect(await outcomeOf(new UndiciTransport({ server: server.url, proxy }))).to.contain(
      'connection closed',
    );
    closing.close();
  });

  it('authenticates to a SOCKS 5 proxy, and reports that the proxy refuses the password', async () => {
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

  for (const proxy of ['ftp://a', 'no URL']) {
    it(`rejects ${proxy} as a proxy`, () => {
      const construct = (): unknown => new UndiciTransport({ server: server.url, proxy });
      expect(construct)
        .to.throw('proxy: want an http, https or socks5 URL')
        .with.property('code', 'InvalidOption');
    });
  }
});
