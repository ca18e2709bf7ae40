import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { clientFromKubeConfig } from '../../../lib/client/index.js';
import { viewKubeConfig, writeViewKubeConfig } from '../../../lib/declarative/api-server/index.js';
import { ViewServer, serverKeys, version } from './view-server.js';

const healthViews = { apiVersion: version, kind: 'HealthView' };

describe('viewKubeConfig, which makes a kubeconfig for the API server of views', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'view-config-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('contains certificate, token and namespace for HTTPS', async () => {
    const keys = await serverKeys();
    const site = await ViewServer.start(keys);
    const path = join(folder, 'config');
    const { certificate } = keys.tls;
    const token = await site.token();
    const server = site.server.url;
    await writeViewKubeConfig(path, { server, certificate, token, user: 'alice', namespace: 'n' });
    const client = await clientFromKubeConfig({ path });
    const { items } = await client.list(healthViews, { namespace: 'n' });
    expect(items.map(({ metadata }) => metadata.name)).to.deep.equal(['a']);
    await client.close();
    await site.stop();
    const config = parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    expect(config['users']).to.deep.equal([{ name: 'alice', user: { token } }]);
    const context = { cluster: 'views', user: 'alice', namespace: 'n' };
    expect(config['contexts']).to.deep.equal([{ name: 'views', context }]);
  });

  it('needs only the URL for HTTP', async () => {
    const site = await ViewServer.start();
    const path = join(folder, 'config');
    await writeViewKubeConfig(path, { server: site.server.url });
    const client = await clientFromKubeConfig({ path });
    expect((await client.list(healthViews)).items).to.have.lengthOf(2);
    await client.close();
    await site.stop();
  });

  it('writes a file that only its owner can read, and overwrites a file only with force', async () => {
    const path = join(folder, 'config');
    await writeFile(path, 'mine');
    await chmod(path, 0o644);
    const server = 'https://views.example';
    const error: unknown = await writeViewKubeConfig(path, { server }).catch(
      (reason: unknown) => reason,
    );
    expect(error).to.have.property('code', 'InvalidOption');
    expect(await readFile(path, 'utf8')).to.equal('mine');
    await writeViewKubeConfig(path, { server, force: true });
    expect(await readFile(path, 'utf8')).to.contain(server);
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
  });

  const wrong: [string, Parameters<typeof viewKubeConfig>[0], RegExp][] = [
    ['a server that is not a URL', { server: '127.0.0.1:1' }, /want an https/],
    ['a server with another scheme', { server: 'ftp://views.example' }, /want an https/],
    ['a token over HTTP', { server: 'http://127.0.0.1:1', token: 't' }, /plain HTTP/],
    ['an invalid certificate', { server: 'https://a', certificate: 'x' }, /certificate/],
  ];
  for (const [what, options, message] of wrong) {
    it(`refuses ${what}`, () => {
      expect(() => viewKubeConfig(options))
        .to.throw(message)
        .with.property('code', 'InvalidOption');
    });
  }
});
