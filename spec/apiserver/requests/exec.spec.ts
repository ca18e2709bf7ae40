import { expect } from 'chai';
import { request } from 'node:http';
import { connect } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Exec, KubeConfig } from '@kubernetes/client-node';
import type { V1Status } from '@kubernetes/client-node';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { pod } from '../controllers/workload-objects.js';

interface Asked {
  readonly container?: string;
  readonly input?: string;
  readonly user?: string;
}

describe('commands in simulated pods', () => {
  let cluster: EmbeddedCluster;

  before(async () => {
    const users = { 'token-of-reader': 'reader' };
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
    const { container = 'main', input, user } = asked;
    const config = new KubeConfig();
    config.loadFromString(cluster.kubeConfig(user));
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const stdin = input === undefined ? null : Readable.from([input]);
    const status = await new Promise<V1Status>((resolve, reject) => {
      new Exec(config)
        .exec('default', 'db', container, [...command], stdout, stderr, stdin, false, resolve)
        .catch(reject);
    });
    const textOf = (stream: PassThrough): string => String(stream.read() ?? '');
    return { stdout: textOf(stdout), stderr: textOf(stderr), status };
  }

  it('get the answer of a pod rule: output, error output and exit code', async () => {
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

  it('read the standard input if the answer says so, and record it', async () => {
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

  it('are answered by container, and by the last rule first', async () => {
    cluster.pods.add({ exec: [{ command: [], stdout: 'first' }] });
    cluster.pods.add({ exec: [{ command: [], container: 'sidecar', stdout: 'second' }] });
    expect((await run(['id'], { container: 'sidecar' })).stdout).to.equal('second');
    expect((await run(['id'])).stdout).to.equal('first');
  });

  it('end like an unknown program if no answer fits', async () => {
    cluster.pods.add({ exec: [{ command: ['psql'] }] });
    const { stderr, status } = await run(['ls', '-l']);
    expect(stderr).to.equal('ls: command not found: no pod rule answers it\n');
    expect(status.details?.causes).to.deep.equal([{ reason: 'ExitCode', message: '127' }]);
  });

  it('need the verb create, not only get', async () => {
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

describe('requests for other protocols', () => {
  let cluster: EmbeddedCluster;

  before(async () => {
    cluster = await EmbeddedCluster.start({ port: 0 });
  });
  after(() => cluster.stop());

  it('are answered over HTTP/1.1, with their body, and the connection stays open', async () => {
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

  it('get the answer of the resource if it has no other protocol', async () => {
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
