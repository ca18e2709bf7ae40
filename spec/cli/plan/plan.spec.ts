import { expect } from 'chai';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { PlannedManifest } from '../../../lib/plan/plan-of.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { Manager } from '../../../lib/manager/index.js';
import { ConfigMap, Deployment } from '../../../lib/object/kinds.js';
import { eventually } from '../../../lib/testing/index.js';
import { grant } from '../../manager/grant.js';
import { cli, openSockets, scratchDirectory } from '../cli.js';
import type { CliResult } from '../cli.js';
import { projectCopy } from '../project/project-copy.js';
import { convertedShop, shopProject } from '../project/shop-project.js';
import { operator } from '../project/shop/src/operator.js';
import { Shop } from '../project/shop/src/shop.js';
import { unknownFieldSuite } from './suite/unknown-field-suite.js';

interface Planned {
  readonly action: string;
  readonly ref: { readonly kind: string; readonly name: string };
  readonly changes: readonly { path: string; from?: unknown; to?: unknown }[];
}

interface PlannedObject {
  readonly kind: string;
  readonly data?: unknown;
}

interface Plans {
  readonly plans: readonly {
    readonly changed: boolean;
    readonly settled: boolean;
    readonly error?: string;
    readonly objects: readonly Planned[];
    readonly rollouts: readonly { ref: { name: string }; causes: readonly { name: string }[] }[];
  }[];
}

const readVerbs: readonly string[] = ['get', 'list', 'watch'];

describe('operator-builder plan', () => {
  const file = scratchDirectory();
  let cluster: EmbeddedCluster;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Shop], port: 0 });
    await cluster.writeKubeConfig(file('kubeconfig'));
  });

  afterEach(() => cluster.stop());

  const shop = (spec: object): object => ({
    ...{ apiVersion: 'shops.example/v1', kind: 'Shop', metadata: { name: 'a' } },
    spec,
  });

  /** Plans the shop with this spec, and expects nothing to be stored. */
  async function plan(spec: object, ...args: readonly string[]): Promise<CliResult> {
    await writeFile(file('shop.yaml'), JSON.stringify(shop(spec)));
    const since = cluster.requests.mark();
    const before = JSON.stringify(await everything());
    const result = await cli([
      ...['plan', '-f', file('shop.yaml'), '--project', shopProject],
      ...['--kubeconfig', file('kubeconfig'), ...args],
    ]);
    const stored = cluster.requests
      .since(since)
      .count(({ verb, dryRun }) => !readVerbs.includes(verb) && dryRun !== true);
    expect(stored, 'writes that were not dry runs').to.equal(0);
    expect(JSON.stringify(await everything())).to.equal(before);
    return result;
  }

  async function planned(spec: object): Promise<Plans['plans'][0]> {
    const { stdout, stderr } = await plan(spec, '--output', 'json');
    const { plans } = JSON.parse(stdout) as Plans;
    const [only] = plans;
    if (only === undefined || plans.length > 1) throw new Error(stderr);
    return only;
  }

  async function everything(): Promise<readonly unknown[]> {
    const client = cluster.client();
    const lists = [client.list(Shop), client.list(Deployment), client.list(ConfigMap)] as const;
    const all = await Promise.all(lists);
    return all.map(({ items }) => items);
  }

  /** Applies a shop, and runs the operator until it has reconciled it. */
  async function reconcile(spec: object): Promise<void> {
    const client = cluster.client();
    await client.apply(namespaced(shop(spec)), { fieldManager: 'user' });
    const manager = new Manager({ client, rbacPreflight: 'off' });
    await operator.setup(manager);
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await eventually(async () => {
      const { status, spec: is } = await client.get(Shop, { namespace: 'default', name: 'a' });
      expect(status?.image).to.equal(is.image);
    });
    stop.abort();
    await running;
  }

  const did = ({ objects }: Plans['plans'][0]): readonly string[] =>
    objects.map(({ action, ref: { kind, name } }) => `${action} ${kind} ${name}`);

  it('shows the objects for a new resource', async () => {
    const { code, stdout, stderr } = await plan({ greeting: 'hello', image: 'shop:2' });
    expect({ code, stderr }).to.deep.equal({ code: 2, stderr: '' });
    expect(stdout).to.include('Plan for Shop default/a');
    expect(stdout).to.include('+ Deployment default/web create');
    expect(stdout).to.include('+ data.greeting: "hello"');
    expect(stdout).to.include('spec.template.spec.containers[name=web].image: "shop:2"');
    expect(stdout).to.include('3 to create');
  });

  it('shows defaults of a new resource, and all its fields in full', async () => {
    const greeting = `${'x'.repeat(250)}\nand a second line`;
    const { stdout } = await plan({ greeting });
    expect(stdout)
      .to.include('    + spec.replicas: 1\n')
      .and.include('    + spec.image: "shop:1"\n');
    const block = `    + data.greeting: |\n        ${greeting.replace('\n', '\n        ')}\n`;
    expect(stdout).to.include(block).and.not.include('…');
  });

  it('shortens long values, but shows where they differ', async () => {
    const start = 'x'.repeat(300);
    await reconcile({ greeting: `${start} old` });
    const { stdout } = await plan({ greeting: `${start} new` });
    expect(stdout).to.match(/~ data\.greeting: …x+ old" → …x+ new"\n/);
  });

  it('prints whole objects as YAML, with defaults and without server-side fields', async () => {
    const { code, stdout, stderr } = await plan({ greeting: 'hello' }, '--output', 'yaml');
    expect({ code, stderr }).to.deep.equal({ code: 2, stderr: '' });
    const documents = parseAllDocuments(stdout).map((each) => each.toJS() as PlannedObject);
    expect(documents.map(({ kind }) => kind)).to.have.members(['Shop', 'Deployment', 'ConfigMap']);
    expect(documents.find(({ kind }) => kind === 'ConfigMap')?.data).to.deep.equal({
      greeting: 'hello',
    });
    expect(stdout)
      .to.match(/^---\n# create\napiVersion: /)
      .and.include('strategy:\n    ');
    expect(stdout).not.to.match(/managedFields|resourceVersion|applied-hash/);
  });

  it('prints a unified diff of the YAML of each object', async () => {
    await reconcile({ image: 'shop:1', greeting: 'hello' });
    const { code, stdout } = await plan({ image: 'shop:2' }, '--output', 'diff');
    expect(code).to.equal(2);
    expect(stdout)
      .to.include('--- apps.v1.Deployment.default.web\n+++ apps.v1.Deployment.default.web\n@@ ')
      .and.match(/\n- +(?:- )?image: shop:1\n\+ +(?:- )?image: shop:2\n/)
      .and.include('--- v1.ConfigMap.default.texts\n+++ /dev/null\n');
    const same = await plan({ image: 'shop:1', greeting: 'hello' }, '--output', 'diff');
    expect(same).to.deep.equal({ code: 0, stdout: '', stderr: '' });
  });

  it('includes whole objects in the JSON output', async () => {
    const { stdout } = await plan({ image: 'shop:2' }, '--output', 'json');
    const { plans } = JSON.parse(stdout) as { plans: { manifests: PlannedManifest[] }[] };
    expect(stdout).to.equal(`${JSON.stringify({ plans }, undefined, 2)}\n`);
    const shops = plans[0]?.manifests.filter(({ after }) => after?.kind === 'Shop');
    expect(shops?.map(({ action, after }) => [action, after?.['spec']])).to.deep.equal([
      ['create', { image: 'shop:2', replicas: 1 }],
    ]);
  });

  it('colors piped output with FORCE_COLOR', async () => {
    const args = ['plan', '-f', file('shop.yaml'), '--project', shopProject];
    await writeFile(file('shop.yaml'), JSON.stringify(shop({})));
    const kubeconfig = ['--kubeconfig', file('kubeconfig')];
    const { stdout } = await cli([...args, ...kubeconfig], { env: { FORCE_COLOR: '1' } });
    expect(stdout).to.include('\u001b[32m+ ');
    const diff = [...args, ...kubeconfig, '--output', 'diff'];
    const colored = await cli(diff, { env: { FORCE_COLOR: '1' } });
    const marked = colored.stdout.replaceAll('\u001b', 'ESC');
    expect(marked)
      .to.match(/^ESC\[1m--- .*ESC\[22m\nESC\[1m\+\+\+ .*ESC\[22m\n@@ /)
      .and.match(/\nESC\[32m\+.*ESC\[39m\n/);
    expect((await cli(diff)).stdout).to.match(/^--- .*\n\+\+\+ .*\n@@ .*\n[-+]/);
  });

  it('warns about a definition in the cluster without the conversion webhook', async () => {
    const project = projectCopy(shopProject);
    const path = join(project, 'src/shop.ts');
    await writeFile(path, convertedShop(await readFile(path, 'utf8')));
    const { code, stderr } = await plan({}, '--project', project);
    expect(code).to.equal(2);
    expect(stderr).to.equal(
      'warning: shops.shops.example is served without its conversion: the API server drops the fields that a version lacks; deploy config/default\n',
    );
  });

  it('exits with 0 when nothing would change', async () => {
    await reconcile({ greeting: 'hello' });
    const { code, stdout, stderr } = await plan({ greeting: 'hello' });
    expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.equal(
      'Plan for Shop default/a\n0 to create, 0 to configure, 0 to recreate, 0 to prune, 3 unchanged, 0 to roll out\n',
    );
  });

  it('lists unchanged objects with --unchanged', async () => {
    await reconcile({ greeting: 'hello' });
    const { code, stdout } = await plan({ greeting: 'hello' }, '--unchanged');
    expect(code).to.equal(0);
    const lines = stdout.split('\n').filter((line) => line.startsWith('  '));
    expect(lines).to.have.members([
      '  Shop default/a unchanged',
      '  Deployment default/web unchanged',
      '  ConfigMap default/texts unchanged',
    ]);
    expect(stdout).to.include('3 unchanged');
    const changed = await plan({ greeting: 'hello', replicas: 3 }, '--unchanged');
    expect(changed.stdout).to.include('2 to configure').and.to.include('1 unchanged');
  });

  it('shows changed fields and the restarted workload', async () => {
    await reconcile({ image: 'shop:1' });
    const { code, stdout } = await plan({ image: 'shop:2' });
    expect(code).to.equal(2);
    expect(stdout).to.include(
      '~ spec.template.spec.containers[name=web].image: "shop:1" → "shop:2"',
    );
    expect(stdout).to.match(/its pods are replaced, for spec\.template\S*image changed/);
    expect(stdout).to.include('1 to roll out');
  });

  it('names the ConfigMap that causes a rollout', async () => {
    await reconcile({ greeting: 'hello' });
    const { objects, rollouts } = await planned({ greeting: 'welcome' });
    const map = objects.find(({ ref }) => ref.kind === 'ConfigMap');
    expect(map?.changes).to.deep.include({ path: 'data.greeting', from: 'hello', to: 'welcome' });
    expect(
      rollouts.map(({ ref, causes }) => [ref.name, causes.map(({ name }) => name)]),
    ).to.deep.equal([['web', ['texts']]]);
  });

  it('shows pruned objects', async () => {
    await reconcile({ greeting: 'hello' });
    expect(did(await planned({}))).to.include('prune ConfigMap texts');
  });

  it('shows the same changes as the reconcile that follows', async () => {
    await reconcile({ greeting: 'hello' });
    const wanted = { replicas: 3, image: 'shop:3', greeting: 'hi' };
    const { objects } = await planned(wanted);
    await reconcile(wanted);
    const client = cluster.client();
    const [web] = (await client.list(Deployment)).items;
    for (const { ref, changes } of objects.filter((each) => each.ref.kind === 'Deployment')) {
      expect(ref.name).to.equal(web?.metadata.name);
      expect(changes).to.deep.include({ path: 'spec.replicas', from: 1, to: 3 });
    }
    expect((await planned(wanted)).changed).to.equal(false);
  });

  it('sets the field planning in the context of the reconciler', async () => {
    const { code, stderr } = await plan({ image: 'rung' });
    expect({ code, stderr }).to.deep.equal({ code: 2, stderr: '' });
  });

  it('exits with 1 when the reconcile fails, and prints the plan up to that point', async () => {
    const { code, stdout, stderr } = await plan({ image: 'broken' });
    expect(code).to.equal(1);
    expect(stdout).to.include('+ Shop default/a create');
    expect(stderr).to.include('error: Shop default/a: the image is broken');
  });

  it('names each resource whose reconcile fails, and exits with 1', async () => {
    const broken = ['a', 'b'].map((name) => ({
      ...shop({ image: 'broken' }),
      metadata: { name },
    }));
    await writeFile(
      file('broken.yaml'),
      broken.map((each) => JSON.stringify(each)).join('\n---\n'),
    );
    const args = ['--project', shopProject, '--kubeconfig', file('kubeconfig')];
    const { code, stderr } = await cli(['plan', '-f', file('broken.yaml'), ...args]);
    expect(code).to.equal(1);
    expect(stderr)
      .to.include('error: Shop default/a: the image is broken\n')
      .and.include('error: Shop default/b: the image is broken\n');
  });

  it('closes its connections to the cluster', async () => {
    const before = openSockets();
    await plan({});
    await eventually(() => expect(openSockets()).to.be.at.most(before), { timeoutMs: 2_000 });
  });

  it('names the account that lacks permissions for a plan, and says what to do', async () => {
    const options = { crds: [Shop], rbac: true, tls: false, port: 0 };
    const guarded = await EmbeddedCluster.start({ ...options, users: { n: 'guest' } });
    try {
      await guarded.writeKubeConfig(file('guest'), 'guest');
      await writeFile(file('shop.yaml'), JSON.stringify(shop({ greeting: 'hello' })));
      const remedy =
        '(the plan has the rights of your kubeconfig or of --as, and needs those of the operator: choose an account that has them, with --context or --as)';
      const args = ['plan', '-f', file('shop.yaml'), '--project', shopProject];
      const refused = await cli([...args, '--kubeconfig', file('guest')]);
      expect(refused).to.deep.equal({
        code: 1,
        stdout: '',
        stderr: `error: get Shop default/a: 403 Forbidden: shops.shops.example "a" is forbidden: User "guest" cannot get resource "shops" in API group "shops.example" in the namespace "default" ${remedy}\n`,
      });
      const admin = guarded.client({ user: 'system:admin' });
      const rule = { apiGroups: ['shops.example'], resources: ['*'], verbs: ['*'] };
      await grant(admin, [rule], 'guest');
      const json = ['--kubeconfig', file('guest'), '--output', 'json'];
      const { code, stdout, stderr } = await cli([...args, ...json]);
      const message = `get ConfigMap default/texts: 403 Forbidden: configmaps "texts" is forbidden: User "guest" cannot get resource "configmaps" in API group "" in the namespace "default" ${remedy}`;
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: `error: Shop default/a: ${message}\n`,
      });
      const { plans } = JSON.parse(stdout) as Plans;
      expect(plans.map(({ error }) => error)).to.deep.equal([message]);
    } finally {
      await guarded.stop();
    }
  });

  unknownFieldSuite(plan);

  it('reads the files of a directory', async () => {
    await mkdir(file('shops'));
    for (const name of ['a', 'b']) {
      const named = { ...shop({}), metadata: { name } };
      await writeFile(file('shops', `${name}.yaml`), JSON.stringify(named));
    }
    await writeFile(file('shops', 'README.md'), 'no YAML');
    const args = ['--project', shopProject, '--kubeconfig', file('kubeconfig')];
    const { code, stdout, stderr } = await cli(['plan', '-f', file('shops'), ...args]);
    expect({ code, stderr }).to.deep.equal({ code: 2, stderr: '' });
    expect(stdout).to.include('Plan for Shop default/a').and.to.include('Plan for Shop default/b');
  });

  for (const [what, text, says] of [
    ['invalid YAML', 'a: [', 'shop.yaml: '],
    [
      'an incomplete object',
      'kind: Shop',
      'shop.yaml: want Kubernetes objects, got a Shop without apiVersion and metadata.name',
    ],
    ['an empty file', '', 'no objects found'],
    [
      'a foreign kind',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }',
      'operator shops reconciles no ConfigMap of v1; it reconciles Shop',
    ],
  ] as const) {
    it(`refuses ${what}`, async () => {
      await writeFile(file('shop.yaml'), text);
      const args = ['--project', shopProject, '--kubeconfig', file('kubeconfig')];
      const { code, stderr } = await cli(['plan', '-f', file('shop.yaml'), ...args]);
      expect(code).to.equal(1);
      expect(stderr).to.include(says);
    });
  }
});

function namespaced<T extends object>(object: T): T & Shop {
  const { metadata } = object as unknown as Shop;
  return { ...object, metadata: { ...metadata, namespace: 'default' } } as unknown as T & Shop;
}
