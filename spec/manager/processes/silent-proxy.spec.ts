import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { expect } from 'chai';
import { startSilentProxy } from './silent-proxy.js';

describe('a proxy that can fall silent', () => {
  let server: Server;
  let port: number;

  beforeEach(async () => {
    server = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  });

  afterEach(() => new Promise((resolve) => server.close(resolve)));

  it('resets connections of before when it heals, and closes, though a side has ended', async () => {
    const proxy = await startSilentProxy(port);
    const socket = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.write('hello');
    expect(String((await once(socket, 'data'))[0])).to.equal('hello');
    proxy.silence();
    socket.end();
    await once(socket, 'finish');
    await new Promise(setImmediate);
    const closed = once(socket, 'close').catch((error: unknown) => error);
    proxy.heal();
    await closed;
    await proxy.close();
  });
});
