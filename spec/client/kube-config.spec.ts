import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
import { startConnectProxy } from '../system/connect-proxy.js';
import { answerJson, startStubServer } from '../system/stub-server.js';
import type { StubServer } from '../system/stub-server.js';
import { failureOf } from './scripted-transport.js';
import { withFolder } from './temporary-folder.js';

const certificate = (name: string): string =>
  readFileSync(new URL(`../system/certificates/${name}`, import.meta.url), 'utf8');

const data = (name: string): string => Buffer.from(certificate(name)).toString('base64');

/** Returns a kubeconfig of one cluster and user, as JSON, which is YAML. */
const kubeConfig = (cluster: object, user: object, context: object = {}): string =>
  JSON.stringify({
    'current-context': 'one',
    contexts: [{ name: 'one', context: { cluster: 'one', user: 'one', ...context } }],
    clusters: [{ name: 'one', cluster }],
    users: [{ name: 'one', user }],
  });

const key = { namespace: 'shop', name: 'web' };

interface Answer {
  readonly subject: { readonly CN: string };
}

describe('clientFromKubeConfig', () => {
  let server: StubServer;

  before(async () => {
    const identity = { cert: certificate('server.pem'), key: certificate('server.key') };
    const tls = { ...identity, ca: certificate('ca.pem'), requestCert: true };
    server = await startStubServer(
      ({ socket }, response) => {
        const peer = socket instanceof TLSSocket ? socket.getPeerCertificate() : {};
        answerJson(response, { subject: (peer as { subject?: unknown }).subject ?? 'nobody' });
      },
      { ...tls, rejectUnauthorized: false },
    );
  });

  after(() => server.close());

  const cluster = () => ({ server: server.url, 'certificate-authority-data': data('ca.pem') });

  /** The request that the server received. */
  const ask = async (text: string) => {
    const client = await clientFromKubeConfig({ text });
    const answer: unknown = await client.get(ConfigMap, key).finally(() => client.close());
    return { answer, headers: server.requests.at(-1)?.headers ?? {} };
  };

  const users: readonly (readonly [string, object, object])[] = [
    ['a token', { token: 'abc' }, { authorization: 'Bearer abc' }],
    [
      'a password',
      { username: 'me', password: 'pass' },
      { authorization: `Basic ${Buffer.from('me:pass').toString('base64')}` },
    ],
    [
      'impersonation',
      {
        ...{ token: 'abc', as: 'you', 'as-uid': 'u-1', 'as-groups': ['g'] },
        'as-user-extra': { 'a.b/c': ['d'] },
      },
      {
        authorization: 'Bearer abc',
        'impersonate-user': 'you',
        'impersonate-uid': 'u-1',
        'impersonate-group': 'g',
        'impersonate-extra-a.b%2fc': 'd',
      },
    ],
    [
      'an exec plugin',
      {
        exec: {
          command: process.execPath,
          args: ['-p', `JSON.stringify({ kind: 'ExecCredential', status: { token: 'xyz' } })`],
        },
      },
      { authorization: 'Bearer xyz' },
    ],
  ];
  for (const [title, user, headers] of users) {
    it(`authenticates with ${title}`, async () => {
      expect((await ask(kubeConfig(cluster(), user))).headers).to.include(headers);
    });
  }

  it('runs no exec plugin for a user with other credentials, as kubectl does', async () => {
    const exec = { command: '/no/such/program' };
    const token = await ask(kubeConfig(cluster(), { token: 'abc', exec }));
    expect(token.headers).to.include({ authorization: 'Bearer abc' });
    const pair = {
      'client-certificate-data': data('client.pem'),
      'client-key-data': data('client.key'),
    };
    const { answer, headers } = await ask(kubeConfig(cluster(), { ...pair, exec }));
    expect(answer).to.have.nested.property('subject.CN', 'spec client');
    expect(headers).not.to.have.property('authorization');
    const [cert, certKey] = [certificate('client.pem'), certificate('client.key')];
    await withFolder({ token: 'of a file', cert, key: certKey }, async (folder) => {
      const file = await ask(kubeConfig(cluster(), { tokenFile: join(folder, 'token'), exec }));
      expect(file.headers).to.include({ authorization: 'Bearer of a file' });
      const files = {
        'client-certificate': join(folder, 'cert'),
        'client-key': join(folder, 'key'),
      };
      const byFiles = await ask(kubeConfig(cluster(), { ...files, exec }));
      expect(byFiles.answer).to.have.nested.property('subject.CN', 'spec client');
    });
    const incomplete = { token: '', 'client-certificate-data': data('client.pem'), exec };
    expect((await failureOf(ask(kubeConfig(cluster(), incomplete)))).message).to.contain('ENOENT');
  });

  it('passes the certificates of the cluster to an exec plugin, even if they are in a file', () =>
    withFolder({ 'ca.pem': certificate('ca.pem') }, async (folder) => {
      const path = join(folder, 'ca.pem');
      const script = `
        const { cluster } = JSON.parse(process.env.KUBERNETES_EXEC_INFO).spec;
        const token = Buffer.from(JSON.stringify(cluster)).toString('base64');
        console.log(JSON.stringify({ kind: 'ExecCredential', status: { token } }))`;
      const exec = { command: process.execPath, args: ['-e', script], provideClusterInfo: true };
      for (const authority of [cluster(), { server: server.url, 'certificate-authority': path }]) {
        const { headers } = await ask(kubeConfig(authority, { exec }));
        const [, token = ''] = headers.authorization?.split(' ') ?? [];
        expect(JSON.parse(Buffer.from(token, 'base64').toString())).to.deep.equal(cluster());
      }
    }));

  it('impersonates several groups, each in its own header', async () => {
    const user = { as: 'you', 'as-groups': ['a', 'b,c'], 'as-user-extra': { scopes: ['x', 'y'] } };
    await ask(kubeConfig(cluster(), user));
    const { rawHeaders = [] } = server.requests.at(-1) ?? {};
    const values = (name: string): string[] =>
      rawHeaders.filter((_, n) => n % 2 === 1 && rawHeaders[n - 1]?.toLowerCase() === name);
    expect(values('impersonate-group')).to.deep.equal(['a', 'b,c']);
    expect(values('impersonate-extra-scopes')).to.deep.equal(['x', 'y']);
  });

  for (const [user, problem] of [
    [{ 'as-groups': ['devs'] }, 'as: want text without control characters and surrounding spaces'],
    [
      { as: 'you\n' },
      'as: want text without control characters and surrounding spaces, got "you\\n"',
    ],
    [{ as: 'you', 'as-groups': 'devs' }, 'as-groups: want a list, got "devs"'],
    [{ as: 'you', 'as-user-extra': { a: 'b' } }, 'as-user-extra: want an object of lists'],
    [{ as: 5 }, 'as: want text without control characters and surrounding spaces, got 5'],
  ] as const) {
    it(`refuses a kubeconfig with ${JSON.stringify(user)}`, async () => {
      const error = await failureOf(clientFromKubeConfig({ text: kubeConfig(cluster(), user) }));
      expect(error).to.have.property('code', 'InvalidKubeConfig');
      expect(error.message).to.include(`kubeconfig: ${problem}`);
    });
  }

  it('impersonates no user if the fields are empty', async () => {
    const user = { as: '', 'as-uid': '', 'as-groups': [], 'as-user-extra': {} };
    const { headers } = await ask(kubeConfig(cluster(), user));
    expect(Object.keys(headers).join()).not.to.include('impersonate-');
  });

  it('connects through a proxy', async () => {
    const proxy = await startConnectProxy();
    const proxied = { ...cluster(), 'proxy-url': proxy.url };
    await ask(kubeConfig(proxied, { token: 'abc' })).finally(() => proxy.close());
    expect(proxy.targets).to.deep.equal([`127.0.0.1:${server.port}`]);
  });

  it('connects through the proxy of the environment, unless the cluster sets its own', async () => {
    const [proxy, own] = [await startConnectProxy(403), await startConnectProxy(403)];
    const env = { HTTPS_PROXY: proxy.url };
    const there = { server: 'https://api.example:6443' };
    for (const described of [there, { ...there, 'proxy-url': own.url }]) {
      const text = kubeConfig(described, { token: 'abc' });
      const client = await clientFromKubeConfig({ text, env, retries: { maxResets: 0 } });
      const error = await failureOf(client.get(ConfigMap, key));
      expect(error.message).to.contain('403');
      await client.close();
    }
    await Promise.all([proxy.close(), own.close()]);
    expect(proxy.targets).to.deep.equal(['api.example:6443']);
    expect(own.targets).to.deep.equal(['api.example:6443']);
  });

  it('presents the new client certificate on new connections after its files are replaced', async () => {
    await withFolder({}, async (folder) => {
      const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
      const put = async (name: string): Promise<void> => {
        await writeFile(certFile, certificate(`${name}.pem`));
        await writeFile(keyFile, certificate(`${name}.key`));
      };
      await put('server');
      const clock = new VirtualClock();
      const user = { 'client-certificate': certFile, 'client-key': keyFile };
      const client = await clientFromKubeConfig({ text: kubeConfig(cluster(), user), clock });
      const seen = async (): Promise<unknown> => {
        const answer: unknown = await client.get(ConfigMap, key);
        return (answer as { subject: { CN?: string } }).subject.CN;
      };
      const first = await seen();
      await put('client');
      expect(await seen()).to.equal(first);
      await clock.advance(60_000);
      expect(await seen()).to.equal('spec client');
      await client.close();
    });
  });

  it('keeps the previous client certificate while its files are absent or do not match', async () => {
    const pair = {
      'client.pem': certificate('client.pem'),
      'client.key': certificate('client.key'),
    };
    await withFolder({ ...pair, 'ca.pem': certificate('ca.pem') }, async (folder) => {
      const [certFile, keyFile] = [join(folder, 'client.pem'), join(folder, 'client.key')];
      const authority = { 'certificate-authority': join(folder, 'ca.pem') };
      const user = { 'client-certificate': certFile, 'client-key': keyFile };
      const [clock, lines] = [new VirtualClock(), [] as LogLine[]];
      const text = kubeConfig({ server: server.url, ...authority }, user);
      const client = await clientFromKubeConfig({ text, clock, logger: rememberingLogger(lines) });
      const seen = async (): Promise<string> => {
        await client.get(ConfigMap, key);
        // Each stream has a connection of its own.
        const chunks: Uint8Array[] = [];
        const subresource = 'answer';
        for await (const chunk of client.stream(ConfigMap, key, { subresource }))
          chunks.push(chunk);
        return (JSON.parse(Buffer.concat(chunks).toString()) as Answer).subject.CN;
      };
      expect(await seen()).to.equal('spec client');
      await rm(keyFile);
      await clock.advance(60_000);
      expect(await seen(), 'without a key').to.equal('spec client');
      await writeFile(certFile, certificate('server.pem'));
      await writeFile(keyFile, certificate('client.key'));
      await clock.advance(60_000);
      expect(await seen(), 'with the former key').to.equal('spec client');
      await writeFile(keyFile, certificate('server.key'));
      await rm(join(folder, 'ca.pem'));
      expect(await seen(), 'without the authority').to.equal('spec client');
      await writeFile(join(folder, 'ca.pem'), certificate('ca.pem'));
      expect(await seen(), 'with all files').to.not.equal('spec client');
      expect(lines.map(({ level }) => level)).to.deep.equal(['warn', 'warn', 'warn', 'info']);
      await client.close();
    });
  });

  it('refuses a client certificate with the private key of another certificate', async () => {
    const user = {
      'client-certificate-data': data('client.pem'),
      'client-key-data': data('server.key'),
    };
    const error = await failureOf(clientFromKubeConfig({ text: kubeConfig(cluster(), user) }));
    expect(error).to.have.property('code', 'InvalidKubeConfig');
    expect(error.message).to.contain('client-certificate and client-key: ');
  });

  it('authenticates with a client certificate', async () => {
    const pair = {
      'client-certificate-data': data('client.pem'),
      'client-key-data': data('client.key'),
    };
    const { answer } = await ask(kubeConfig(cluster(), pair));
    expect(answer).to.have.nested.property('subject.CN', 'spec client');
  });

  it('authenticates with an auth-provider through client-node', async function () {
    // Loading client-node takes about a second.
    this.timeout(20_000);
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const token = [part({}), part({ exp: 4_000_000_000 }), 'signature'].join('.');
    const user = { 'auth-provider': { name: 'oidc', config: { 'id-token': token } } };
    const { headers } = await ask(kubeConfig(cluster(), user));
    expect(headers).to.include({ authorization: `Bearer ${token}` });
  });

  it('reads the export of a KubeConfig of client-node', async function () {
    this.timeout(20_000);
    const { KubeConfig } = await import('@kubernetes/client-node');
    const askAs = (user: object) => {
      const config = new KubeConfig();
      const caData = data('ca.pem');
      const one = { name: 'one', server: server.url, caData, skipTLSVerify: false };
      config.loadFromClusterAndUser(one, { name: 'one', ...user });
      return ask(config.exportConfig());
    };
    expect((await askAs({ token: 'abc' })).headers).to.include({ authorization: 'Bearer abc' });
    const pair = { certData: data('client.pem'), keyData: data('client.key') };
    expect((await askAs(pair)).answer).to.have.nested.property('subject.CN', 'spec client');
    await withFolder({ token: 'of the pod' }, async (folder) => {
      const config = { tokenFile: join(folder, 'token') };
      const { headers } = await askAs({ authProvider: { name: 'tokenFile', config } });
      expect(headers).to.include({ authorization: 'Bearer of the pod' });
    });
    // client-node exports this kubeconfig with null for each kind of credentials.
    const config = new KubeConfig();
    config.loadFromString(kubeConfig(cluster(), {}).replace('"user":{}', '"user":null'));
    expect((await ask(config.exportConfig())).headers).not.to.have.property('authorization');
  });

  it('checks the server certificate against tls-server-name, or does not check it if the kubeconfig says so', async () => {
    const wrong = { ...cluster(), 'tls-server-name': 'wrong.example.com' };
    expect((await failureOf(ask(kubeConfig(wrong, {})))).message).to.contain('wrong.example.com');
    const right = { ...cluster(), 'tls-server-name': 'apiserver.example.com' };
    await ask(kubeConfig(right, {}));
    await ask(kubeConfig({ server: server.url, 'insecure-skip-tls-verify': true }, {}));
  });

  it('requests no compression when the cluster disables it', async () => {
    const { headers } = await ask(kubeConfig({ ...cluster(), 'disable-compression': true }, {}));
    expect(headers).not.to.have.property('accept-encoding');
  });

  it('uses the namespace of the context', async () => {
    const named = await clientFromKubeConfig({
      text: kubeConfig(cluster(), {}, { namespace: 'shop' }),
    });
    expect(named.defaultNamespace).to.equal('shop');
    for (const context of [{}, { namespace: '' }, { namespace: null }]) {
      const unnamed = await clientFromKubeConfig({ text: kubeConfig(cluster(), {}, context) });
      expect(unnamed.defaultNamespace).to.equal('default');
    }
  });

  const broken: readonly (readonly [string, object, object, string])[] = [
    [
      'a proxy with another scheme than http and https',
      { server: 'https://a', 'proxy-url': 'ftp://p' },
      {},
      'proxy-url is not an http',
    ],
    ['a server that is not a URL', { server: 'a:6443' }, {}, 'server is not an http or https URL'],
    [
      'a missing CA',
      { server: 'https://a', 'certificate-authority': '/no/ca.pem' },
      {},
      'certificate-authority: ENOENT',
    ],
    ['a missing key', { server: 'https://a' }, { 'client-key': '/no/key' }, 'client-key: ENOENT'],
  ];
  for (const [title, brokenCluster, user, expected] of broken) {
    it(`rejects ${title}`, async () => {
      const error = await failureOf(
        clientFromKubeConfig({ text: kubeConfig(brokenCluster, user) }),
      );
      expect(error).to.have.property('code', 'InvalidKubeConfig');
      expect(error.message).to.contain(expected);
    });
  }
});
