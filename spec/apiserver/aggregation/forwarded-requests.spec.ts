import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../cluster/control-plane/eventually.js';
import { Api } from '../api.js';

const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const group = 'flunders.example.com';
const root = `/apis/${group}/v1`;

describe('a request that the server forwards to an extension server', () => {
  const arrived: IncomingMessage[] = [];
  let answer: (outgoing: ServerResponse) => void;
  let extension: Server;
  let api: Api;

  beforeEach(async () => {
    arrived.length = 0;
    answer = (outgoing) => outgoing.end('{}');
    extension = createServer((incoming, outgoing) => {
      if (incoming.headers['x-remote-user'] === 'system:kube-aggregator') {
        outgoing.end('{"resources":[]}');
        return;
      }
      arrived.push(incoming);
      answer(outgoing);
    });
    await new Promise<void>((resolve) => extension.listen(0, '127.0.0.1', resolve));
    const { port } = extension.address() as AddressInfo;
    const groups = ['system:masters'];
    const users = {
      unicode: { name: 'Łukasz', groups: [...groups, 'zespół'] },
      known: {
        name: 'jane',
        groups,
        uid: 'u-1',
        extra: { 'Example.com/Scopes': ['a', 'b'], '(x)': ['c'] },
      },
    };
    api = new Api({ users, services: { 'default/flunders': `http://127.0.0.1:${port}` } });
    await api.create(apiServices, {
      metadata: { name: `v1.${group}` },
      spec: {
        ...{ group, version: 'v1', groupPriorityMinimum: 2000, versionPriority: 10 },
        service: { namespace: 'default', name: 'flunders' },
      },
    });
    await eventually(async () => expect((await api.get(root)).code).to.equal(200));
    arrived.length = 0;
  });

  afterEach(async () => {
    await api.server.stop();
    extension.closeAllConnections();
    extension.close();
  });

  it('ends if a fault breaks the connection of its client', async () => {
    let isOpen = false;
    answer = (outgoing) => {
      isOpen = true;
      outgoing.once('close', () => (isOpen = false));
      outgoing.write('{}');
    };
    api.server.faults.add({
      match: { resource: 'things' },
      effect: { type: 'reset', when: 'after' },
    });
    const outcome = await api.get(`${root}/things`).catch((error: unknown) => error);
    expect(outcome).to.have.property('code', 'ConnectionFailed');
    await eventually(async () => expect([arrived.length, isOpen]).to.deep.equal([1, false]));
  });

  for (const [path, forwarded] of [
    ['/namespaces/a/things/x', '/namespaces/a/things/x'],
    ['/things/', '/things/'],
    ['/things/system:one', '/things/system:one'],
    ['/things/caf%C3%A9%20%3Fb', '/things/caf%C3%A9%20%3Fb'],
    ['/things/é', '/things/%C3%A9'],
    ['/things/%252e%252e', '/things/%252e%252e'],
    ['/things/x?b=1&a=2&a=1', '/things/x?a=2&a=1&b=1'],
    ['/things/x?a=1#b', '/things/x?a=1%23b'],
    ['/watch/things', '/watch/things'],
  ] as const) {
    it(`has the path that was authorized: ${path}`, async () => {
      const { code } = await api.get(root + path);
      expect(code).to.equal(200);
      expect(arrived.map(({ url }) => url)).to.deep.equal([root + forwarded]);
    });
  }

  for (const path of [
    `${root}/namespaces/a/things/x\\..\\..\\..\\b\\things\\y`,
    `${root}/things/x\\..\\..\\..\\..\\..\\\\127.0.0.1:1\\y`,
    `${root}/things/a%5C..%5Cb`,
    `${root}/things/y#/status`,
    `${root}/things/y%23`,
    `${root}/things/.\t./y`,
    `${root}/things/%0Ay`,
    `${root}/things/%7F`,
    `${root}/things/\uD800`,
    `${root}/things/../y`,
    `${root}/things/%2e%2e/y`,
    `/${root}/things/y`,
    `/openapi/v3${root}/x\\..\\..\\..\\..\\apis`,
    `/openapi/v3${root}/../../x`,
  ]) {
    it(`is answered 404 if the extension server could read its path as another path: ${JSON.stringify(path)}`, async () => {
      const { code } = await api.get(path);
      expect(code).to.equal(404);
      expect(arrived).to.deep.equal([]);
    });
  }

  it('names users and groups in UTF-8, as Go does', async () => {
    const headers = { authorization: 'Bearer unicode' };
    expect((await api.get(`${root}/things`, headers)).code).to.equal(200);
    const [user, groups] = ['x-remote-user', 'x-remote-group'].map((name) =>
      Buffer.from(String(arrived[0]?.headers[name]), 'latin1').toString('utf8'),
    );
    expect([user, groups]).to.deep.equal([
      'Łukasz',
      'system:masters, zespół, system:authenticated',
    ]);
  });

  it('has the uid of the user and each of the extra attributes', async () => {
    const headers = { authorization: 'Bearer known' };
    expect((await api.get(`${root}/things`, headers)).code).to.equal(200);
    expect(arrived[0]?.headersDistinct).to.deep.include({
      ...{ 'x-remote-user': ['jane'], 'x-remote-uid': ['u-1'] },
      'x-remote-extra-example.com%2fscopes': ['a', 'b'],
      'x-remote-extra-%28x%29': ['c'],
    });
  });

  it('is answered 503 when the extension server switches protocols', async () => {
    answer = (outgoing) => {
      outgoing.socket?.end(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
      );
    };
    const { code, text } = await api.get(`${root}/things`);
    expect(code).to.equal(503);
    expect(text).to.contain('switched protocols');
  });

  it('receives warnings with non-ASCII characters unchanged', async () => {
    const warning = Buffer.from('299 - "use größe"').toString('latin1');
    // The body is a Buffer, because Node.js would encode the header as UTF-8 if the body were a string.
    answer = (outgoing) => outgoing.writeHead(200, { warning }).end(Buffer.from('{}'));
    const url = await api.server.listen();
    const received = await fetch(`${url}${root}/things/x`);
    expect(received.headers.get('warning')).to.equal(warning);
    expect((await api.get(`${root}/things/x`)).headers['warning']).to.equal(warning);
  });
});
