import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { clientInCluster, defaultClient } from '../../lib/client/index.js';
import { defaultCluster } from '../../lib/client/default-client.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { startConnectProxy } from '../system/connect-proxy.js';
import { answerJson, startStubServer } from '../system/stub-server.js';
import type { StubServer } from '../system/stub-server.js';
import { failureOf } from './scripted-transport.js';
import { withFolder } from './temporary-folder.js';

const certificate = (name: string): string =>
  readFileSync(new URL(`../system/certificates/${name}`, import.meta.url), 'utf8');

describe('clientInCluster', () => {
  let server: StubServer;

  before(async () => {
    const tls = { cert: certificate('server.pem'), key: certificate('server.key') };
    server = await startStubServer((_, response) => answerJson(response, { metadata: {} }), tls);
  });

  after(() => server.close());

  const env = () => ({
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(server.port),
  });
  const account = { 'ca.crt': certificate('ca.pem'), token: 'abc\n', namespace: 'shop\n' };

  it("uses the Pod's service account", () =>
    withFolder(account, async (directory) => {
      const client = await clientInCluster({ directory, env: env() });
      await client.get(ConfigMap, { namespace: 'shop', name: 'web' });
      await client.close();
      expect(server.requests.at(-1)?.headers.authorization).to.equal('Bearer abc');
      expect(client.defaultNamespace).to.equal('shop');
    }));

  it('accepts options that are undefined, and refuses unknown options', () =>
    withFolder(account, async (directory) => {
      const given = { directory, env: env(), maxConnections: 2, path: undefined };
      const client = await clientInCluster({ ...given, requestTimeoutMs: 5000 });
      expect((await client.get(ConfigMap, { namespace: 'shop', name: 'web' })).kind).to.equal(
        'ConfigMap',
      );
      await client.close();
      const unknown = { ...given, path: 'kubeconfig' };
      const { message } = await failureOf(clientInCluster(unknown));
      expect(message).to.match(/^clientInCluster: unknown option "path"; /);
    }));

  it('uses the namespace default when the file of the namespace is missing or empty', async () => {
    const { token, 'ca.crt': ca } = account;
    for (const files of [{}, { namespace: '\n' }]) {
      await withFolder({ token, 'ca.crt': ca, ...files }, async (directory) => {
        const client = await clientInCluster({ directory, env: env() });
        expect(client.defaultNamespace).to.equal('default');
      });
    }
  });

  it('uses the namespace in POD_NAMESPACE if set', () =>
    withFolder(account, async (directory) => {
      const podEnv = { ...env(), POD_NAMESPACE: 'other' };
      expect((await clientInCluster({ directory, env: podEnv })).defaultNamespace).to.equal(
        'other',
      );
    }));

  it('connects through the proxy of the environment, unless NO_PROXY lists the server', () =>
    withFolder(account, async (directory) => {
      const proxy = await startConnectProxy(403);
      const far = { KUBERNETES_SERVICE_HOST: '192.0.2.1', KUBERNETES_SERVICE_PORT: '443' };
      const proxied = { ...far, https_proxy: proxy.url };
      const retries = { maxResets: 0 };
      const client = await clientInCluster({ directory, retries, env: proxied });
      const error = await failureOf(client.get(ConfigMap, { namespace: 'shop', name: 'web' }));
      expect(error.message).to.contain('403');
      const near = { ...env(), HTTPS_PROXY: proxy.url, NO_PROXY: '127.0.0.0/8' };
      const direct = await clientInCluster({ directory, env: near });
      await direct.get(ConfigMap, { namespace: 'shop', name: 'web' });
      await Promise.all([client.close(), direct.close(), proxy.close()]);
      expect(proxy.targets).to.deep.equal(['192.0.2.1:443']);
    }));

  it('accepts an IPv6 address of the API server', () =>
    withFolder(account, async (directory) => {
      const proxy = await startConnectProxy(403);
      const far = { KUBERNETES_SERVICE_HOST: 'fd00:10:96::1', KUBERNETES_SERVICE_PORT: '443' };
      const ipv6 = { ...far, https_proxy: proxy.url };
      const client = await clientInCluster({ directory, retries: { maxResets: 0 }, env: ipv6 });
      await failureOf(client.get(ConfigMap, { namespace: 'shop', name: 'web' }));
      await Promise.all([client.close(), proxy.close()]);
      expect(proxy.targets).to.deep.equal(['[fd00:10:96::1]:443']);
    }));

  it('reports that the process is not in a Pod', () =>
    withFolder(account, async (directory) => {
      const error = await failureOf(clientInCluster({ directory, env: {} }));
      expect(error).to.have.property('code', 'InvalidKubeConfig');
      const both = 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set';
      expect(error.message).to.contain(both);
    }));

  for (const missing of ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT'] as const) {
    for (const value of [undefined, '']) {
      it(`names ${missing} when only that is ${value === '' ? 'empty' : 'not set'}`, () =>
        withFolder(account, async (directory) => {
          const error = await failureOf(
            clientInCluster({ directory, env: { ...env(), [missing]: value } }),
          );
          expect(error).to.have.property('code', 'InvalidKubeConfig');
          expect(error.message).to.contain(`in-cluster credentials: ${missing} is not set`);
        }));
    }
  }

  for (const missing of ['token', 'ca.crt'] as const) {
    it(`names the missing file ${missing}`, () => {
      const rest = Object.entries(account).filter(([name]) => name !== missing);
      return withFolder(Object.fromEntries(rest), async (directory) => {
        const error = await failureOf(clientInCluster({ directory, env: env() }));
        expect(error).to.have.property('code', 'InvalidKubeConfig');
        expect(error.message).to.contain(missing);
      });
    });
  }
});

describe('defaultClient', () => {
  it('reads the file that KUBECONFIG names, also in a Pod', async () => {
    const env = { KUBECONFIG: '/no/such/file', KUBERNETES_SERVICE_HOST: '127.0.0.1' };
    expect((await failureOf(defaultClient({ env }))).message).to.contain('/no/such/file');
  });

  it('uses the kubeconfig in its options instead of the file that KUBECONFIG names', async () => {
    const env = { KUBECONFIG: '/no/such/file' };
    const error = await failureOf(defaultClient({ env, text: 'hello' }));
    expect(error.message).to.contain('it is not a kubeconfig');
  });
});

describe('defaultCluster', () => {
  it('returns the context and the server, without credentials in its URL', async () => {
    const text = JSON.stringify({
      clusters: [
        { name: 'c', cluster: { server: 'https://me:secret@k8s.example:6443/clusters/a' } },
      ],
      contexts: [{ name: 'dev', context: { cluster: 'c' } }],
      'current-context': 'dev',
    });
    expect(await defaultCluster({ text })).to.deep.equal({
      ...{ context: 'dev', server: 'https://k8s.example:6443/clusters/a' },
    });
  });

  it('reports a server that is not a URL', async () => {
    for (const server of ['10.0.0.1:6443', 'localhost:6443']) {
      const text = JSON.stringify({
        clusters: [{ name: 'c', cluster: { server } }],
        contexts: [{ name: 'dev', context: { cluster: 'c' } }],
        'current-context': 'dev',
      });
      const error = await failureOf(defaultCluster({ text }));
      expect(error).to.have.property('code', 'InvalidKubeConfig');
      expect(error.message).to.contain('cluster "c": server is not an http or https URL');
    }
  });
});
