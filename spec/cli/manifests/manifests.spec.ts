import { expect } from 'chai';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { isSampled } from '../../sample.js';
import { cli, scratchDirectory } from '../cli.js';
import type { CliResult } from '../cli.js';
import { shopProject } from '../project/shop-project.js';
import { linkPackages } from '../project/project-copy.js';
import { createApi, makeProject, textsIn } from '../scaffold/project.js';

const fresh = { code: 0, stdout: 'The manifests are up to date.\n', stderr: '' };
const base = 'config/crd/bases/shop.example.com_shops.yaml';
const role = 'config/rbac/role.yaml';

interface Said {
  readonly dryRun: boolean;
  readonly files: readonly { readonly path: string; readonly action: string; diff?: string }[];
  readonly notes: readonly string[];
}

describe('operator-builder manifests', () => {
  const file = scratchDirectory();

  const manifests = (name: string, ...args: readonly string[]): Promise<CliResult> =>
    cli(['manifests', '--project', file(name), ...args]);

  /** Creates a project with a kind and linked packages. */
  async function project(name: string, ...more: readonly string[]): Promise<void> {
    await makeProject(file(name), ['Shop', 'v1alpha1', ...more]);
    linkPackages(file(name));
  }

  async function edit(path: string, change: (text: string) => string): Promise<void> {
    const text = await readFile(path, 'utf8');
    const changed = change(text);
    expect(changed).not.to.equal(text);
    await writeFile(path, changed);
  }

  /** Returns the files of config and src. */
  async function ownTexts(name: string): Promise<Readonly<Record<string, string>>> {
    const config = await textsIn(file(name, 'config'));
    return { ...config, ...(await textsIn(file(name, 'src'))) };
  }

  it('finds all manifests up to date after init and after each create api', async () => {
    await makeProject(file('steps'));
    linkPackages(file('steps'));
    expect(await manifests('steps', '--check')).to.deep.equal(fresh);
    for (const args of [
      ['Shop', 'v1alpha1'],
      ['Fleet', 'v1', '--no-namespaced', '--style', 'resources'],
      ['Pot', 'v1', '--no-controller'],
      ['Plant', 'v1', '--style', 'lifecycle', '--group', 'garden'],
      ['Shop', 'v1'],
      ['Plant', 'v2beta1', '--group', 'garden'],
      ['Pot', 'v1', '--no-resource'],
    ]) {
      const { code, stderr } = await createApi(file('steps'), ...args);
      expect({ code, stderr }, args.join(' ')).to.deep.equal({ code: 0, stderr: '' });
      if (isSampled) continue;
      expect(await manifests('steps', '--check'), args.join(' ')).to.deep.equal(fresh);
    }
    const before = await ownTexts('steps');
    expect(await manifests('steps')).to.deep.equal(fresh);
    expect(await ownTexts('steps')).to.deep.equal(before);
  });

  it('prints stale files with --check and --dry-run, and writes them otherwise', async () => {
    await project('stale');
    await edit(file('stale/src/api/v1alpha1/shop.ts'), (text) =>
      text.replace("'Image of the pods.'", "'The image.'"),
    );
    const before = await ownTexts('stale');
    const checked = await manifests('stale', '--check');
    expect(checked.code).to.equal(1);
    expect(checked.stderr).to.equal(
      `error: stale manifests: ${base}; run npx operator-builder manifests\n`,
    );
    expect(checked.stdout)
      .to.include(`--- ${base}\n+++ ${base}\n@@ `)
      .and.match(/\n- +description: Image of the pods\.\n\+ +description: The image\.\n/);
    const dry = await manifests('stale', '--dry-run');
    expect(dry).to.deep.equal({ code: 0, stdout: checked.stdout, stderr: '' });
    expect(await ownTexts('stale')).to.deep.equal(before);
    const written = await manifests('stale');
    expect(written).to.deep.equal({ code: 0, stdout: `changed ${base}\n`, stderr: '' });
    expect(await manifests('stale', '--check')).to.deep.equal(fresh);
  });

  it('generates rules from the controllers, and keeps rules of the user', async () => {
    await project('rules');
    await writeFile(
      file('rules', role),
      `${await readFile(file('rules', role), 'utf8')}  - nonResourceURLs: [/x]\n    verbs: [get]\n`,
    );
    await edit(file('rules/src/controllers/shop-controller.ts'), (text) =>
      text
        .replace('import { Deployment', 'import { Deployment, Secret, StatefulSet')
        .replace('owns(Deployment)', 'owns(Deployment, StatefulSet).watches(Secret, () => [])'),
    );
    expect((await manifests('rules')).stdout).to.equal(`changed ${role}\n`);
    const { rules } = parse(await readFile(file('rules', role), 'utf8')) as { rules: unknown };
    const own = ['create', 'patch', 'delete'];
    const watch = ['get', 'list', 'watch'];
    expect(rules).to.deep.equal([
      { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['list', 'patch'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
      { apiGroups: [''], resources: ['secrets'], verbs: watch },
      {
        apiGroups: ['apps'],
        resources: ['deployments', 'statefulsets'],
        verbs: [...watch, ...own],
      },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: ['shop.example.com'], resources: ['shops'], verbs: [...watch, 'patch'] },
      { apiGroups: ['shop.example.com'], resources: ['shops/finalizers'], verbs: ['update'] },
      { apiGroups: ['shop.example.com'], resources: ['shops/status'], verbs: ['patch'] },
      { nonResourceURLs: ['/x'], verbs: ['get'] },
    ]);
    // The rules of another kind are merged.
    expect((await createApi(file('rules'), 'Pot')).code).to.equal(0);
    expect(await manifests('rules', '--check')).to.deep.equal(fresh);
    expect(await readFile(file('rules', role), 'utf8')).to.include('[/x]');
  });

  it('writes the plurals of built-in kinds that are given by apiVersion and kind', async () => {
    await project('core-kinds');
    await edit(file('core-kinds/src/controllers/shop-controller.ts'), (text) =>
      text.replace(
        'owns(Deployment)',
        `owns(Deployment, { apiVersion: 'v1', kind: 'LimitRange' }, { apiVersion: 'v1', kind: 'Endpoints' })
    .requires({ type: { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' }, verbs: ['get'] })`,
      ),
    );
    const { code, stderr } = await manifests('core-kinds');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const { rules } = parse(await readFile(file('core-kinds', role), 'utf8')) as {
      readonly rules: readonly { readonly resources?: readonly string[] }[];
    };
    const resources = rules.flatMap((rule) => rule.resources ?? []);
    expect(resources).to.include.members(['limitranges', 'endpoints', 'priorityclasses']);
  });

  it('creates roles in single namespaces for requirements that name a namespace', async () => {
    await project('places');
    const controller = file('places/src/controllers/shop-controller.ts');
    const text = await readFile(controller, 'utf8');
    const secrets = "{ apiVersion: 'v1', kind: 'Secret' }";
    const requires = `{ type: ${secrets}, verbs: ['get'], namespace: 'kube-system', names: ['a'] },
      { type: ${secrets}, verbs: ['list'], namespace: 'system' },
      { type: ${secrets}, verbs: ['get'], names: [] },
      { type: { apiVersion: 'v1', kind: 'Node' }, verbs: ['get'], namespace: 'system' },
      { nonResourceURLs: ['/metrics'], verbs: ['get'] },`;
    await edit(controller, () => text.replace('owns(Deployment)', `$&.requires(${requires})`));
    const { stdout } = await manifests('places');
    expect(stdout).to.include('created config/namespaces/roles.yaml').and.include('note: roles in');
    const rules = [
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['a'], verbs: ['get'] },
    ];
    const roles = await readFile(file('places/config/namespaces/roles.yaml'), 'utf8');
    expect(parse(roles.split('---\n')[0] ?? '')).to.deep.include({ kind: 'Role', rules });
    expect(roles).to.include('name: shops-controller-manager\n    namespace: shops-system\n');
    await edit(file('places/config/default/kustomization.yaml'), (list) =>
      list.replace('namespace: shops-system', 'namespace: elsewhere'),
    );
    expect((await manifests('places')).stdout).to.include('changed config/namespaces/roles.yaml');
    const moved = roles.replaceAll('namespace: shops-system', 'namespace: elsewhere');
    expect(await readFile(file('places/config/namespaces/roles.yaml'), 'utf8')).to.equal(moved);
    const everywhere = await readFile(file('places', role), 'utf8');
    expect(everywhere).not.to.include('secrets');
    // Nodes and non-resource URLs have no namespace.
    expect(everywhere).to.include('resources: [nodes]').and.include('nonResourceURLs: [');
    const own = await readFile(file('places/config/rbac/leader_election_role.yaml'), 'utf8');
    expect(own).to.include('resources: [secrets]').and.include('resourceNames: [shops]');
    await writeFile(controller, text);
    expect((await manifests('places')).stdout).to.include('deleted config/namespaces/roles.yaml');
    expect(await textsIn(file('places/config'))).not.to.have.any.keys('namespaces/roles.yaml');
  });

  it('creates roles only in the namespaces of cacheOptions', async () => {
    await project('held');
    await edit(file('held/src/operator.ts'), (text) =>
      text.replace('  resources: [', "  cacheOptions: { namespaces: ['a', 'b'] },\n$&"),
    );
    expect((await manifests('held')).stdout).to.include('(a, b)');
    const { rules } = parse(await readFile(file('held', role), 'utf8')) as { rules: unknown };
    expect(rules).to.equal(null);
    const roles = await readFile(file('held/config/namespaces/roles.yaml'), 'utf8');
    expect(roles.match(/kind: \w+\nmetadata:\n.*\n {2}namespace: \w+/g)).to.deep.equal([
      'kind: Role\nmetadata:\n  name: shops-manager-role\n  namespace: a',
      'kind: RoleBinding\nmetadata:\n  name: shops-manager-rolebinding\n  namespace: a',
      'kind: Role\nmetadata:\n  name: shops-manager-role\n  namespace: b',
      'kind: RoleBinding\nmetadata:\n  name: shops-manager-rolebinding\n  namespace: b',
    ]);
    expect((await manifests('held', '--check')).code).to.equal(0);
    // The rules of a further kind are added only when manifests runs.
    expect((await createApi(file('held'), 'Pot')).code).to.equal(0);
    expect((await manifests('held', '--check')).stderr).to.include(
      ': config/namespaces/roles.yaml',
    );
    expect((await manifests('held')).stdout).to.include('changed config/namespaces/roles.yaml');
  });

  it('deletes the manifests of a removed resource, and updates the kustomization', async () => {
    await project('gone', '--no-controller');
    await createApi(file('gone'), 'Pot', 'v1', '--no-controller');
    await writeFile(file('gone/config/crd/bases/theirs.yaml'), 'kind: Other\n');
    await edit(file('gone/src/operator.ts'), (text) => text.replace(/ +Shop,\n/, ''));
    await edit(file('gone/config/crd/kustomization.yaml'), (text) =>
      text
        .replace(/.*_pots.*\n/, '')
        .replace('- bases/', '- "./bases/')
        .replace(/_shops.*/, '$&"'),
    );
    const { code, stdout } = await manifests('gone');
    expect({ code, stdout: stdout.split('\n') }).to.deep.equal({
      code: 0,
      stdout: [
        `deleted ${base}`,
        'changed config/crd/kustomization.yaml',
        'note: config/crd/bases/theirs.yaml belongs to no resource of the operator, and was not generated: it is kept',
        '',
      ],
    });
    const list = await readFile(file('gone/config/crd/kustomization.yaml'), 'utf8');
    expect(list.match(/bases\/.*/g)).to.deep.equal(['bases/shop.example.com_pots.yaml']);
    expect((await manifests('gone', '--check')).code).to.equal(0);
  });

  it('refuses a CRD without the first line of generated files, and prints that line, also with --check', async () => {
    await project('headless', '--no-controller');
    const [first = '', ...lines] = (await readFile(file('headless', base), 'utf8')).split('\n');
    const changed = lines.join('\n').replace('scope: Namespaced', 'scope: Cluster');
    await writeFile(file('headless', base), changed);
    for (const flags of [[], ['--check']]) {
      const { code, stderr } = await manifests('headless', ...flags);
      expect(code).to.equal(1);
      const why = `${base} (it lacks the first line of generated files: restore "${first}" to`;
      expect(stderr).to.include(why);
    }
    await writeFile(file('headless', base), [first, changed].join('\n'));
    expect((await manifests('headless')).stdout).to.include(`changed ${base}`);
  });

  it('overwrites a CRD that it did not generate only with --force', async () => {
    await project('theirs', '--no-controller');
    await writeFile(file('theirs', base), 'kind: Other\n');
    const { code, stderr } = await manifests('theirs');
    expect(code).to.equal(1);
    expect(stderr).to.include(`already exist (--force overwrites them): ${base}`);
    expect(await readFile(file('theirs', base), 'utf8')).to.equal('kind: Other\n');
    expect((await manifests('theirs', '--force')).stdout).to.include(`overwrote ${base}`);
    expect(await manifests('theirs', '--check')).to.deep.equal(fresh);
  });

  it('keeps the formatting of a CRD whose content is up to date', async () => {
    await project('formatted', '--no-controller');
    await edit(file('formatted', base), (text) => JSON.stringify(parse(text), undefined, 4));
    await edit(file('formatted/config/crd/kustomization.yaml'), (text) =>
      text.replace('- bases/', '- ./bases/'),
    );
    expect(await manifests('formatted')).to.deep.equal(fresh);
  });

  it('creates all manifests of a project without config/, from any directory of the project', async () => {
    const { code, stdout } = await cli([
      ...['manifests', '--project', `${shopProject}/src`, '--dry-run', '--output', 'json'],
    ]);
    const { files } = JSON.parse(stdout) as Said;
    expect(code).to.equal(0);
    expect(files.map(({ path, action }) => `${action} ${path}`)).to.deep.equal([
      'create config/crd/bases/shops.example_shops.yaml',
      'create config/rbac/role.yaml',
      'create config/rbac/leader_election_role.yaml',
    ]);
    expect(files[1]?.diff).to.include('resources: [shops/finalizers]');
    expect(await readdir(shopProject)).not.to.include('config');
  });

  it('prints its changes as JSON', async () => {
    await project('json');
    await rm(file('json', base));
    const { code, stdout } = await manifests('json', '--check', '--output', 'json');
    const { files, dryRun } = JSON.parse(stdout) as Said;
    expect({ code, dryRun }).to.deep.equal({ code: 1, dryRun: true });
    const [stale, ...others] = files.toSorted((one, other) => Number(one.action > other.action));
    expect(stale).to.include({ path: base, action: 'create' });
    expect(stale?.diff).to.include('--- /dev/null');
    expect(new Set(others.map(({ action }) => action))).to.deep.equal(new Set(['keep']));
  });

  describe('refuses', () => {
    before(() => project('bad'));

    for (const [what, line, says] of [
      [
        'a setup that sends requests to a cluster',
        'return manager.liveClient.list(Shop).then(() => {});',
        'error: setup of the operator shops sends a request',
      ],
      [
        'a setup that throws',
        "throw new Error('no door');",
        'operator shops failed: no door\n(OPERATOR_',
      ],
      [
        'a kind without a plural',
        "manager.add({ name: 'a', run: async () => {} }, { requires: [{ type: { apiVersion: 'x/v1', kind: 'Y' }, verbs: ['get'] }] });",
        "give the type as { group, version, kind: 'Y'",
      ],
    ] as const) {
      it(what, async () => {
        const operator = file('bad/src/operator.ts');
        const text = await readFile(operator, 'utf8');
        await writeFile(operator, `${text}operator.setup = (manager) => { ${line} };\n`);
        const before = await ownTexts('bad');
        const { code, stderr } = await manifests('bad');
        expect({ code, says: stderr.includes(says) }, stderr).to.deep.equal({
          code: 1,
          says: true,
        });
        expect(await ownTexts('bad')).to.deep.equal(before);
        await writeFile(operator, text);
      });
    }

    it('a kustomization without its marker, and prints the lines to add', async () => {
      await project('lost');
      await edit(file('lost/config/crd/kustomization.yaml'), (text) =>
        text.replace(/.*_shops.*\n.*scaffold.*\n/, ''),
      );
      const { code, stderr } = await manifests('lost', '--check');
      expect(code).to.equal(1);
      expect(stderr).to.include(`+  - bases/shop.example.com_shops.yaml\n+# +operator-builder`);
    });
  });
});
