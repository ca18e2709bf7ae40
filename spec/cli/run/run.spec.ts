import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { ensureCrd } from '../../../lib/client/index.js';
import { EmbeddedCluster } from '../../../lib/embedded/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { eventually } from '../../../lib/testing/index.js';
import { cli, scratchDirectory, startCli } from '../cli.js';
import type { CliResult, RunningCli } from '../cli.js';
import { shopProject } from '../project/shop-project.js';
import { Shop } from '../project/shop/src/shop.js';

const users = { 'a-clerk': 'clerk' };

describe('operator-builder run', () => {
  const file = scratchDirectory();
  let cluster: EmbeddedCluster;
  let running: RunningCli | undefined;

  before(async () => {
    cluster = await EmbeddedCluster.start({ port: 0, rbac: true, users });
    await cluster.writeKubeConfig(file('kubeconfig'));
    await cluster.writeKubeConfig(file('clerk'), 'clerk');
  });

  afterEach(async () => {
    running?.stop();
    await running?.ended;
    running = undefined;
  });

  after(() => cluster.stop());

  const argsOf = (kubeconfig: string, ...more: readonly string[]): readonly string[] => [
    ...['run', '--project', shopProject, '--kubeconfig', file(kubeconfig), ...more],
  ];

  function run(kubeconfig: string, ...more: readonly string[]): Promise<CliResult> {
    return cli(argsOf(kubeconfig, ...more));
  }

  it('says how a custom resource comes to a cluster that lacks it', async () => {
    const { code, stderr } = await run('kubeconfig');
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^error: the cluster does not serve Shop of shops\.example\/v1: --install-/,
    );
  });

  it('says what somebody lacks who may not install it', async () => {
    const { code, stderr } = await run('clerk', '--install-crds');
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^error: the custom resource shops\.shops\.example can't be installed: /,
    );
    expect(stderr).to.include('User "clerk" cannot').and.include('have somebody');
    expect(stderr.trimEnd().split('\n')).to.have.length(1);
  });

  it('installs it, and runs the operator until it is told to stop', async () => {
    running = startCli(argsOf('kubeconfig', '--install-crds'));
    const client = cluster.client();
    await eventually(async () => {
      await client.apply(
        Shop.object({ metadata: { name: 'a', namespace: 'default' }, spec: { greeting: 'hi' } }),
        { fieldManager: 'spec' },
      );
      await client.get(ConfigMap, { name: 'texts', namespace: 'default' });
    });
    running.stop();
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stdout }, stderr).to.deep.equal({ code: 0, stdout: '' });
    expect(cluster.server.openWatches).to.equal(0);
  });

  it('says which rights the operator would need', async () => {
    await ensureCrd(cluster.client(), Shop.crd);
    const { code, stderr } = await run('clerk');
    expect(code).to.equal(1);
    expect(stderr).to.include('error: permissions are missing; add these rules');
    expect(stderr).to.include('shops.example').and.not.include('    at ');
  });

  it('says what to do about a server that does not answer, and a context that is not there', async () => {
    const server = 'server: http://127.0.0.1:1';
    const text = cluster.kubeConfig().replace(/server: .*/, server);
    await writeFile(file('gone'), text);
    const gone = await run('gone');
    expect(gone.code).to.equal(1);
    expect(gone.stderr).to.match(/^error: .*127\.0\.0\.1:1.*is the API server running/);
    const elsewhere = await run('gone', '--context', 'prod');
    expect(elsewhere.code).to.equal(1);
    expect(elsewhere.stderr).to.include('contexts has no "prod" (there are: embedded)');
  });

  it('is told to stop before it has begun', async () => {
    running = startCli(argsOf('kubeconfig', '--install-crds'));
    running.stop();
    expect(await running.ended).to.include({ code: 0 });
  });
});
