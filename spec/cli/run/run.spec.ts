import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { refuseUnserved } from '../../../lib/cli/run/run-on-cluster.js';
import { runRemedy } from '../../../lib/cli/options.js';
import { ensureCrd, faulty, getIfExists } from '../../../lib/client/index.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { ConfigMap, CustomResourceDefinition } from '../../../lib/object/kinds.js';
import { eventually } from '../../../lib/testing/index.js';
import { cli, openSockets, scratchDirectory, startCli } from '../cli.js';
import type { CliResult, RunningCli } from '../cli.js';
import { convertedShop, shopProject } from '../project/shop-project.js';
import { Shop } from '../project/shop/src/shop.js';
import { copyShopProject, operatorWithWebhook } from './project.js';
import { feedSuite } from './suite/feed-suite.js';

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

  it('suggests --install-crds for a missing CRD', async () => {
    const { code, stderr } = await run('kubeconfig');
    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^error: the cluster does not serve Shop of shops\.example\/v1: --install-/,
    );
  });

  it('reports the missing permission to install a CRD', async () => {
    const { code, stderr } = await run('clerk', '--install-crds');
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      'error: the CRD shops.shops.example can\'t be installed: get CustomResourceDefinition shops.shops.example: 403 Forbidden: customresourcedefinitions.apiextensions.k8s.io "shops.shops.example" is forbidden: User "clerk" cannot get resource "customresourcedefinitions" in API group "apiextensions.k8s.io" at the cluster scope (have an administrator apply config/crd, and leave out --install-crds)\n',
    );
  });

  it('names the account whose permissions the operator has if the cluster refuses it, and says what to do', async () => {
    const text = cluster.kubeConfig('clerk').replace(/^ *token: .*\n/m, '');
    await writeFile(file('anonymous'), text);
    const { code, stderr } = await run('anonymous');
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      'error: discover /apis: 403 Forbidden: forbidden: User "system:anonymous" cannot get path "/apis" (the operator runs with the rights of your kubeconfig or of --as: choose an account that has the rights it needs, with --context or --as)\n',
    );
  });

  it('installs CRDs, and runs the operator until SIGTERM', async () => {
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
    expect(code, stderr).to.equal(0);
    expect(stdout).to.include('namespaces: all\n').and.include('shops.shops.example (installed)\n');
    expect(stdout).to.include('+ ConfigMap default/texts\n');
    await eventually(() => expect(cluster.server.openWatches).to.equal(0));
  });

  it('closes its connections to the cluster when it ends', async () => {
    const before = openSockets();
    await run('clerk', '--install-crds');
    await eventually(() => expect(openSockets()).to.be.at.most(before), { timeoutMs: 2_000 });
  });

  it('reports missing permissions of the operator', async () => {
    await ensureCrd(cluster.client(), Shop.crd);
    const { code, stderr } = await run('clerk');
    expect(code).to.equal(1);
    expect(stderr).to.include('error: permissions are missing; add these rules');
    expect(stderr).to.include('shops.example').and.not.include('    at ');
  });

  it('uses the permissions of another user with --as, as kubectl does', async () => {
    await ensureCrd(cluster.client(), Shop.crd);
    const account = 'system:serviceaccount:default:shop';
    const asAccount = await run('kubeconfig', '--as', account);
    expect(asAccount.code).to.equal(1);
    expect(asAccount.stderr).to.include('error: permissions are missing; add these rules');
    const group = ['--as', 'jane', '--as-group', 'system:masters', '--as-group', 'shops'];
    running = startCli(argsOf('kubeconfig', ...group));
    await eventually(() => expect(cluster.server.openWatches).to.equal(3));
    running.stop();
    expect((await running.ended).code).to.equal(0);
  });

  it('refuses --as-group without --as, and --as with --embedded', async () => {
    const alone = await run('kubeconfig', '--as-group', 'shops');
    expect(alone.code).to.equal(1);
    expect(alone.stderr).to.equal('error: --as-group needs --as <user>\n');
    const embedded = await cli(['run', '--project', shopProject, '--embedded', '--as', 'jane']);
    expect(embedded.code).to.equal(1);
    expect(embedded.stderr).to.include('--as: not possible with --embedded');
  });

  it('says what to do about an unreachable server and an unknown context', async () => {
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

  it('opens no watches for its feed in addition to those of the controllers', async () => {
    const since = cluster.requests.mark();
    running = startCli(argsOf('kubeconfig', '--install-crds', '-n', 'default'));
    await eventually(() => {
      const watched = cluster.requests.since(since).entries.filter(({ verb }) => verb === 'watch');
      expect(new Set(watched.map(({ resource }) => resource))).to.deep.equal(
        new Set(['shops', 'deployments', 'configmaps']),
      );
      expect(cluster.server.openWatches).to.equal(3);
    });
  });

  it('reports that webhooks are not served, and how to serve them', async () => {
    const project = file('with-webhook');
    await copyShopProject(project);
    await writeFile(file('with-webhook/src/operator.ts'), operatorWithWebhook);
    const where = ['--kubeconfig', file('kubeconfig'), '--install-crds'];
    running = startCli(['run', '--project', project, ...where]);
    const says = 'webhooks: 1 declared, not served; serve them with --webhook-certs <folder>';
    await eventually(() => expect(running?.written().stdout).to.include(says));
  });

  it('refuses to install a CRD with conversion functions, unless the cluster calls a conversion webhook', async () => {
    const project = file('converted');
    await copyShopProject(project);
    const path = join(project, 'src/shop.ts');
    const text = await readFile(path, 'utf8');
    const group = "group: 'converted.example'";
    await writeFile(path, convertedShop(text).replace("group: 'shops.example'", group));
    const args = ['run', '--project', project, '--kubeconfig', file('kubeconfig')];
    const { code, stderr } = await cli([...args, '--install-crds']);
    expect(code).to.equal(1);
    expect(stderr).to.include(
      '--install-crds: not possible for Shop, whose versions are converted by functions; deploy config/default',
    );
    const byClerk = await cli([
      'run',
      '--project',
      project,
      '--kubeconfig',
      file('clerk'),
      '--install-crds',
    ]);
    expect(byClerk.stderr)
      .to.match(/^error: the CRD shops\.converted\.example can't be installed: /)
      .and.include('have an administrator apply config/default');
    const client = cluster.client();
    const name = 'shops.converted.example';
    expect(await getIfExists(client, CustomResourceDefinition, { name })).to.equal(undefined);
    const { spec } = Shop.crd;
    const [version] = spec.versions;
    const webhook = {
      clientConfig: { url: 'https://127.0.0.1:1' },
      conversionReviewVersions: ['v1'],
    };
    await client.create({
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name },
      spec: {
        ...{ ...spec, group: 'converted.example', conversion: { strategy: 'Webhook', webhook } },
        versions: [version, { ...version, name: 'v1beta1', storage: false }],
      },
    });
    running = startCli([...args, '--install-crds']);
    await eventually(() => expect(running?.written().stdout).to.include(`${name} (updated)`));
    const { spec: live } = await client.get(CustomResourceDefinition, { name });
    expect(live.conversion?.strategy).to.equal('Webhook');
    running.stop();
    await running.ended;
    const body = { spec: { conversion: { strategy: 'None', webhook: null } } };
    await client.patch(CustomResourceDefinition, { name }, { type: 'merge', body });
    running = startCli(args);
    const warning = `${name} (served without its conversion: the API server drops the fields`;
    await eventually(() => expect(running?.written().stdout).to.include(warning));
  });

  it('prints a failed reconcile once, and logs it with --log-format json or --log-level debug', async () => {
    const missing = { kind: 'Shop', metadata: { name: 'loud', namespace: 'default' } };
    const shop = { ...missing, apiVersion: Shop.apiVersion, spec: { image: 'broken' } };
    await cluster.client().apply(shop, { fieldManager: 'spec', force: true });
    const failure = '! Shop default/loud: the image is broken (again in 5 ms)\n';
    const logged = async (args: readonly string[], columns?: number): Promise<string> => {
      running = startCli(argsOf('kubeconfig', '--install-crds', ...args), { columns });
      const cli = running;
      await eventually(() =>
        expect(stripVTControlCharacters(cli.written().stdout)).to.include(failure),
      );
      cli.stop();
      return (await cli.ended).stderr;
    };
    expect(await logged([])).to.not.include('broken');
    expect(await logged([], 100))
      .not.to.include('{')
      .and.not.include('broken');
    expect(await logged(['--log-format', 'json'], 100))
      .to.include('{"level":"error"')
      .and.include('"name":"loud"');
    const debug = await logged(['--log-level', 'debug', '--log-format', 'text']);
    expect(debug).to.include('! Shop default/loud: reconcile failed: error: the image is broken');
    expect(debug).to.match(/\n {4}at .*shop-controller/);
    await cluster
      .client()
      .patch(
        Shop,
        { name: 'loud', namespace: 'default' },
        { type: 'merge', body: { spec: { image: 'shop:1' } } },
      );
  });

  it('names the account whose permissions the operator has when the cluster refuses a write of a reconcile', async () => {
    const message =
      'configmaps "texts" is forbidden: User "dev" cannot patch resource "configmaps" in API group "" in the namespace "other"';
    const fault = cluster.server.faults.add({
      match: { verb: 'patch', resource: 'configmaps' },
      effect: { type: 'status', code: 403, reason: 'Forbidden', message },
    });
    const metadata = { name: 'refused', namespace: 'other' };
    const shop = { kind: 'Shop', apiVersion: Shop.apiVersion, metadata };
    const client = cluster.client();
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } });
    await client.apply({ ...shop, spec: { greeting: 'hi' } }, { fieldManager: 'spec' });
    running = startCli(argsOf('kubeconfig', '--install-crds', '--log-format', 'json'));
    const cli = running;
    await eventually(() => {
      expect(cli.written().stdout).to.include(`${message} (${runRemedy})`);
      expect(cli.written().stderr).to.include(runRemedy);
    });
    running.stop();
    const { stdout, stderr } = await running.ended;
    expect(stdout + stderr).not.to.include('RBAC rules of this operator');
    fault.remove();
    await client.delete(Shop, metadata);
  });

  it('works on a cluster that forbids discovery if the operator has no custom resources', async () => {
    const { signal } = new AbortController();
    const operator = { name: 'none', setup: () => undefined };
    await refuseUnserved(cluster.client({ user: 'clerk' }), operator, signal);
    const fault = { type: 'error', status: 500, message: 'broken' } as const;
    const client = faulty(cluster.client(), { rules: [{ fault, verbs: ['get'] }] });
    const error = await refuseUnserved(client, operator, signal).catch((reason: unknown) => reason);
    expect(error).to.have.property('status', 500);
  });

  it('exits with 0 on SIGTERM during its start', async () => {
    running = startCli(argsOf('kubeconfig', '--install-crds'));
    running.stop();
    expect(await running.ended).to.include({ code: 0 });
  });
});

describe('operator-builder run on a server over HTTP', () => {
  const file = scratchDirectory();
  let cluster: EmbeddedCluster;

  after(() => cluster.stop());

  feedSuite(async () => {
    cluster = await EmbeddedCluster.start({ port: 0 });
    await cluster.writeKubeConfig(file('kubeconfig'));
    return { kubeconfig: file('kubeconfig'), client: cluster.client(), namespace: 'default' };
  });
});
