import { expect } from 'chai';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Exec, KubeConfig } from '@kubernetes/client-node';
import type { V1Status } from '@kubernetes/client-node';
import { WebSocket } from 'ws';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { eventually } from '../../../lib/testing/index.js';
import { pod } from '../controllers/workload-objects.js';

interface Asked {
  readonly container?: string;
  readonly input?: string;
  readonly user?: string;
  readonly tty?: boolean;
}

describe('commands in simulated pods', () => {
  let cluster: EmbeddedCluster;

  before(async () => {
    const admin = { name: 'admin', groups: ['system:masters'] };
    const users = { 'token-of-reader': 'reader', 'token-of-admin': admin };
    cluster = await EmbeddedCluster.start({ port: 0, rbac: true, users, simulateWorkloads: true });
    const client = cluster.client();
    const containers = ['main', 'sidecar'].map((name) => ({ name, image: 'db:1' }));
    await client.create(pod('db', { containers }));
    await client.create(pod('web'));
    const apiGroup = 'rbac.authorization.k8s.io';
    const head = { apiVersion: `${apiGroup}/v1`, metadata: { name: 'reader' } };
    const rules = [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['get'] }];
    await client.create({ ...head, kind: 'ClusterRole', rules });
    await client.create({
      ...{ ...head, kind: 'ClusterRoleBinding' },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'reader' },
      subjects: [{ apiGroup, kind: 'User', name: 'reader' }],
    });
    await cluster.settled();
  });

  after(() => cluster.stop());
  afterEach(() => cluster.pods.clear());

  /** Runs a command with client-node. @returns the output and the status that ended it */
  async function run(command: readonly string[], asked: Asked = {}) {
    const { container = 'main', input, user, tty = false } = asked;
    const config = new KubeConfig();
    config.loadFromString(cluster.kubeConfig(user));
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const stdin = input === undefined ? null : Readable.from([input]);
    const status = await new Promise<V1Status>((resolve, reject) => {
      new Exec(config)
        .exec('default', 'db', container, [...command], stdout, stderr, stdin, tty, resolve)
        .catch(reject);
    });
    for (const stream of [stdout, stderr]) stream.end();
    return { stdout: await text(stdout), stderr: await text(stderr), status };
  }

  it('return the standard output, the error output and the exit code of a pod rule', async () => {
    cluster.pods.add({
      match: { name: 'db' },
      exec: [
        { command: ['pg_dump', '--clean'], stderr: 'no table\n', exitCode: 3 },
        { command: ['pg_dump'], stdout: 'SELECT 1;\n' },
      ],
    });
    const good = await run(['pg_dump', 'shop']);
    expect(good).to.deep.include({ stdout: 'SELECT 1;\n', stderr: '' });
    expect(good.status.status).to.equal('Success');
    const bad = await run(['pg_dump', '--clean']);
    expect(bad).to.deep.include({ stdout: '', stderr: 'no table\n' });
    expect(bad.status).to.deep.include({ status: 'Failure', reason: 'NonZeroExitCode' });
    expect(bad.status.details?.causes).to.deep.equal([{ reason: 'ExitCode', message: '3' }]);
    expect(cluster.pods.commands.map(({ command }) => command.join(' '))).to.deep.equal([
      'pg_dump shop',
      'pg_dump --clean',
    ]);
  });

  it('read the standard input if the rule has readsInput, and record it', async () => {
    cluster.pods.add({ exec: [{ command: ['psql'], stdout: 'DROP\n', readsInput: true }] });
    const { stdout } = await run(['psql', '-q'], { input: 'drop table shops;' });
    expect(stdout).to.equal('DROP\n');
    expect(cluster.pods.commands).to.deep.equal([
      {
        ...{ namespace: 'default', name: 'db', container: 'main' },
        ...{ command: ['psql', '-q'], input: 'drop table shops;' },
      },
    ]);
  });

  it('write their error output to stdout on a terminal', async () => {
    cluster.pods.add({ exec: [{ command: [], stdout: 'out ', stderr: 'err', exitCode: 1 }] });
    expect(await run(['ls'], { tty: true })).to.deep.include({ stdout: 'out err', stderr: '' });
  });

  /** Opens a session as a client that sends `messages`. @returns how the server closed it */
  async function session(protocol: string, messages: readonly Buffer[], leaves = false) {
    const url = `${cluster.url.replace('https', 'wss')}/api/v1/namespaces/default/pods/db/exec`;
    const query = 'command=cat&container=main&stdin=true&stdout=true';
    const headers = { authorization: 'Bearer token-of-admin' };
    const options = { headers, rejectUnauthorized: false };
    const socket = new WebSocket(`${url}?${query}`, protocol, options);
    const closed = new Promise<number>((resolve, reject) => {
      socket.on('close', resolve);
      socket.on('error', reject);
    });
    await once(socket, 'open');
    for (const message of messages) socket.send(message);
    if (leaves) socket.close();
    return closed;
  }
  const input = (text: string): Buffer => Buffer.from(`\0${text}`);
  const endOfInput = Buffer.from([255, 0]);

  it('are recorded once, even if the client closes the input twice', async () => {
    cluster.pods.add({ exec: [{ command: [], readsInput: true }] });
    const messages = [input('a'), input('b'), endOfInput, endOfInput];
    expect(await session('v5.channel.k8s.io', messages)).to.equal(1000);
    expect(cluster.pods.commands.map((each) => each.input)).to.deep.equal(['ab']);
  });

  it('are refused and not recorded if their input exceeds the size limit', async () => {
    cluster.pods.add({ exec: [{ command: [], readsInput: true }] });
    const half = input('x'.repeat(600_000));
    expect(await session('v5.channel.k8s.io', [half, half, endOfInput])).to.equal(1009);
    expect(cluster.pods.commands).to.deep.equal([]);
  });

  it('end when the client disconnects, if its protocol cannot close the input', async () => {
    cluster.pods.add({ exec: [{ command: [], readsInput: true }] });
    await session('v4.channel.k8s.io', [input('a')], true);
    await eventually(() => {
      expect(cluster.pods.commands.map((each) => each.input)).to.deep.equal(['a']);
    });
  });

  it('are refused if the client offers only an unknown protocol', async () => {
    cluster.pods.add({ exec: [{ command: [] }] });
    const error: unknown = await session('v9', []).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message').that.includes('400');
  });

  it('are answered by the last rule that matches the container', async () => {
    cluster.pods.add({ exec: [{ command: [], stdout: 'first' }] });
    cluster.pods.add({ exec: [{ command: [], container: 'sidecar', stdout: 'second' }] });
    expect((await run(['id'], { container: 'sidecar' })).stdout).to.equal('second');
    expect((await run(['id'])).stdout).to.equal('first');
  });

  it('return exit code 127, as for an unknown program, if no rule matches', async () => {
    cluster.pods.add({ exec: [{ command: ['psql'] }] });
    const { stderr, status } = await run(['ls', '-l']);
    expect(stderr).to.equal('ls: command not found: no pod rule answers it\n');
    expect(status.details?.causes).to.deep.equal([{ reason: 'ExitCode', message: '127' }]);
  });

  it('require the verb create on pods/exec, not only get', async () => {
    cluster.pods.add({ exec: [{ command: [] }] });
    const error = await run(['ls'], { user: 'reader' }).catch((thrown: unknown) => thrown);
    expect(String((error as { readonly message?: unknown }).message)).to.include('403');
    expect(cluster.pods.commands).to.deep.equal([]);
  });

  for (const [problem, path, code, message] of [
    ['without a rule', 'web/exec?command=ls', 405, 'a pod rule with exec answers commands'],
    ['in a pod that does not exist', 'none/exec?command=ls', 404, 'not found'],
    ['without a container', 'db/exec?command=ls', 400, 'choose one of: [main sidecar]'],
    ['without a WebSocket', 'db/exec?command=ls&container=main', 400, 'Upgrade request required'],
    ['without a command', 'db/exec?container=main', 400, 'at least 1 command'],
  ] as const) {
    it(`are refused ${problem}`, async () => {
      cluster.pods.add({ match: { name: 'db' }, exec: [{ command: [] }] });
      const transport = cluster.server.transport({ name: 'jane', groups: ['system:masters'] });
      const answer = await transport.request({
        ...{ method: 'GET', path: `/api/v1/namespaces/default/pods/${path}`, headers: {} },
      });
      expect(answer.status).to.equal(code);
      expect(await text(answer.body)).to.include(message);
    });
  }
});

describe('requests to switch to another protocol', () => {
  // Versions of Node.js differ in how much they read of a connection before they emit `upgrade`.
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start({ port: 0 });
  });
  after(() => cluster.stop());

  it('are answered over HTTP/1.1, also if they have a body, and the connection stays open', async () => {
    const { port } = new URL(cluster.url);
    const body = JSON.stringify({ metadata: { name: 'a' } });
    const path = '/api/v1/namespaces/default/configmaps';
    const received = await new Promise<string>((resolve, reject) => {
      let so = '';
      const socket = connect(Number(port), '127.0.0.1', () => {
        const head = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
        const upgrade =
          'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk';
        socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n${upgrade}\r\n\r\n`);
        socket.write(body);
      });
      socket.on('data', (data: Buffer) => {
        so += data.toString();
        if (so.includes('201 Created') && !so.includes('200 OK')) {
          socket.write(`GET ${path}/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
        }
      });
      socket.on('close', () => resolve(so));
      socket.on('error', reject);
    });
    expect(received).to.include('201 Created').and.to.include('200 OK');
  });

  it('are answered when they follow another request on the same connection', async () => {
    const { port } = new URL(cluster.url);
    const path = '/api/v1/namespaces/default';
    const socket = connect(Number(port), '127.0.0.1');
    const plain = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const upgrade = 'Connection: Upgrade, close\r\nUpgrade: h2c';
    socket.write(`${plain}GET ${path} HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n\r\n`);
    const received = await text(socket);
    expect(received.match(/200 OK/g)).to.have.length(2);
  });

  it('end their connection when they are refused, even if the client keeps its side open', async () => {
    const { port } = new URL(cluster.url);
    const path = '/api/v1/namespaces/default/pods/none/exec?command=ls';
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13';
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n${key}\r\n\r\n`);
    expect(await text(socket)).to.include('404 Not Found');
    // The server has closed both sides: the next write fails.
    const failed = once(socket, 'error');
    const writing = setInterval(() => socket.write('x'), 5);
    await failed.finally(() => clearInterval(writing));
  });

  it('receive an ordinary response if the resource supports no other protocol', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket' };
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request(`${cluster.url}/api/v1/namespaces/default`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).to.equal(200);
  });
});
