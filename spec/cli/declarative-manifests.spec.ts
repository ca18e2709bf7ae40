import { expect } from 'chai';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { parse, stringify } from 'yaml';
import { loadOperators } from '../../lib/declarative/index.js';
import { cli, scratchDirectory } from './cli.js';
import type { CliResult } from './cli.js';

interface Rule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const source = "{ apiGroup: '', kind: Namespace }";
const target = "{ apiGroup: '', kind: ResourceQuota }";
const project = "{ '@project': { metadata: { name: a, namespace: $.metadata.name } } }";

/** Returns the file of an operator with one controller. */
function operatorOf(parts: { source?: string; pipeline?: string; target?: string } = {}): string {
  return `
controllers:
  - name: only
    sources: [${parts.source ?? source}]
    pipeline: ${parts.pipeline ?? project}
    target: ${parts.target ?? target}
`;
}

const definition = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: { name: 'mice.shop.example' },
  spec: {
    ...{ group: 'shop.example', scope: 'Namespaced', names: { kind: 'Mouse', plural: 'mice' } },
    versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} } }],
  },
};
const watched = ['get', 'list', 'watch'];

describe('operator-builder declarative manifests', () => {
  const file = scratchDirectory();
  let count = 0;

  /** Writes an operator, and runs the command for it in a directory of its own. */
  async function run(text: string, ...args: readonly string[]): Promise<CliResult> {
    await writeFile(file('quotas.yaml'), text);
    return cli(['declarative', 'manifests', 'quotas.yaml', ...args], { cwd: file() });
  }

  /** Returns the rules of the role that the command writes, by resource. */
  async function rightsOf(text: string, ...args: readonly string[]): Promise<object> {
    const directory = `deploy-${++count}`;
    const made = await run(text, '-d', directory, ...args);
    expect(made, made.stderr).to.include({ code: 0 });
    const role = await readFile(file(directory, 'config/rbac/role.yaml'), 'utf8');
    return byResource((parse(role) as { rules: readonly Rule[] | null }).rules ?? []);
  }

  function byResource(rules: readonly Rule[]): object {
    const pairs = rules.flatMap(({ resources, verbs }) => resources.map((each) => [each, verbs]));
    return Object.fromEntries(pairs.filter(([resource]) => resource !== 'events')) as object;
  }

  before(async () => {
    await writeFile(file('crds.yaml'), JSON.stringify(definition));
  });

  it('writes the operators and a Deployment that runs them, and prints the next commands', async () => {
    const made = await run(operatorOf(), '--image', 'registry.example/quotas:1.2.0');
    expect(made, made.stderr).to.include({ code: 0 });
    expect(made.stdout).to.include('created config/operators/quotas.yaml\n');
    expect(made.stdout).to.match(
      /\nNext:\n(?: .*\n)* {2}kubectl apply .*-k deploy\/config\/default\n$/,
    );
    const copy = await readFile(file('deploy/config/operators/quotas.yaml'), 'utf8');
    expect(copy).to.equal(operatorOf());
    const manager = await readFile(file('deploy/config/manager/manager.yaml'), 'utf8');
    expect(manager).to.include('- /operators\n').and.not.include('+operator-builder:if');
    const { images } = parse(
      await readFile(file('deploy/config/manager/kustomization.yaml'), 'utf8'),
    ) as { images: unknown };
    const image = { newName: 'registry.example/quotas', newTag: '1.2.0' };
    expect(images).to.deep.equal([{ name: 'controller', ...image }]);
  });

  const scripts = ['docker:build', 'docker:push'];
  for (const [what, directory, args, steps] of [
    [
      'the image of the Deployment',
      'next/image',
      ['--image', 'registry.example/quotas:1.2.0'],
      [
        ...scripts.map(
          (script) => `IMG=registry.example/quotas:1.2.0 npm --prefix next/image run ${script}`,
        ),
        'kubectl apply --server-side -k next/image/config/default',
      ],
    ],
    [
      'the image of new manifests',
      'next/new',
      [],
      [
        ...scripts.map(
          (script) => `IMG=registry.example/quotas:0.1.0 npm --prefix next/new run ${script}`,
        ),
        'kubectl apply --server-side -k next/new/config/default',
      ],
    ],
    [
      'no image that has a digest',
      'next/digest',
      ['--image', `registry.example/quotas@sha256:${'a'.repeat(64)}`],
      ['kubectl apply --server-side -k next/digest/config/default'],
    ],
    [
      'the Roles of namespaces',
      'next/limited',
      ['--namespaces', 'shop', '--image', `a@sha256:${'a'.repeat(64)}`],
      [
        'kubectl apply --server-side -k next/limited/config/namespaces',
        'kubectl apply --server-side -k next/limited/config/default',
      ],
    ],
    [
      'a quoted directory',
      "next/it's here",
      ['--image', `a@sha256:${'a'.repeat(64)}`],
      [`kubectl apply --server-side -k 'next/it'\\''s here/config/default'`],
    ],
  ] as const) {
    it(`prints the next commands for ${what}, also in a later run`, async () => {
      const text = operatorOf({ source: "{ apiGroup: '', kind: ConfigMap }" });
      for (const given of [args, []]) {
        const made = await run(text, '-d', directory, ...given);
        expect(made, made.stderr).to.include({ code: 0 });
        const [, printed = ''] = made.stdout.split('\nNext:\n');
        expect(printed).to.equal(steps.map((step) => `  ${step}\n`).join(''));
      }
    });
  }

  const sidecar = { name: 'proxy', newName: 'registry.example/proxy', newTag: '3.0.0' };
  const digest = `sha256:${'a'.repeat(64)}`;
  for (const [what, before, image, expected] of [
    [
      'changes the tag',
      [sidecar, { name: 'controller', newName: 'a', digest }],
      'b:2',
      [sidecar, { name: 'controller', newName: 'b', newTag: '2' }],
    ],
    [
      'replaces the tag of an image by a digest',
      [{ name: 'controller', newName: 'a', newTag: '1' }, sidecar],
      `b@${digest}`,
      [{ name: 'controller', newName: 'b', digest }, sidecar],
    ],
    [
      'adds the image',
      [sidecar],
      'b:2',
      [sidecar, { name: 'controller', newName: 'b', newTag: '2' }],
    ],
    [
      'adds a list of images',
      undefined,
      'b:2',
      [{ name: 'controller', newName: 'b', newTag: '2' }],
    ],
  ] as const) {
    it(`${what} in config/manager with --image, and keeps all other images`, async () => {
      const directory = `images-${++count}`;
      await run(operatorOf(), '-d', directory);
      const path = file(directory, 'config/manager/kustomization.yaml');
      const resources = ['manager.yaml'];
      await writeFile(path, `# mine\n${stringify({ resources, images: before })}`);
      const made = await run(operatorOf(), '-d', directory, '--image', image);
      expect(made, made.stderr).to.include({ code: 0 });
      const text = await readFile(path, 'utf8');
      expect(parse(text)).to.deep.equal({ resources, images: expected });
      expect(text).to.match(/^# mine\n/);
    });
  }

  it('writes nothing if the operators have not changed', async () => {
    await run(operatorOf());
    const { stdout } = await run(operatorOf());
    expect(stdout).to.match(/^The manifests are up to date\.\n/);
    const { code } = await run(operatorOf(), '--check');
    expect(code).to.equal(0);
  });

  it('updates roles and operators after a change, and keeps changes of the user', async () => {
    const directory = ['-d', 'changed'];
    await run(operatorOf(), ...directory);
    const manager = file('changed/config/manager/manager.yaml');
    await writeFile(manager, (await readFile(manager, 'utf8')).replace('512Mi', '1Gi'));
    const role = file('changed/config/rbac/role.yaml');
    const own = "  - { apiGroups: [''], resources: [pods], verbs: [get] }\n";
    await writeFile(role, (await readFile(role, 'utf8')) + own);
    const other = operatorOf({ source: "{ apiGroup: '', kind: Node }" });
    const { code, stderr } = await run(other, ...directory, '--check');
    expect(code).to.equal(1);
    expect(stderr).to.include(
      'stale manifests: config/operators/quotas.yaml, config/rbac/role.yaml',
    );
    const { stdout } = await run(other, ...directory);
    expect(stdout).to.match(
      /^changed config\/operators\/quotas.yaml\nchanged config\/rbac\/role.yaml\n/,
    );
    expect(await readFile(manager, 'utf8')).to.include('1Gi');
    expect(await readFile(role, 'utf8'))
      .to.include('[nodes]')
      .and.include(own);
  });

  it('deletes the copy of an operator that is no longer among the arguments', async () => {
    await mkdir(file('both'));
    await writeFile(file('both/first.yaml'), operatorOf());
    await writeFile(file('both/second.yaml'), operatorOf());
    const args = ['--name', 'shop', '-d', 'fewer'];
    const command = ['declarative', 'manifests'];
    expect(await cli([...command, 'both', ...args], { cwd: file() })).to.include({ code: 0 });
    await cli([...command, 'both/first.yaml', ...args], { cwd: file() });
    const names = await readdir(file('fewer/config/operators'));
    expect(names.toSorted()).to.deep.equal(['first.yaml', 'kustomization.yaml']);
  });

  it('grants the permissions to watch sources and to write targets', async () => {
    expect(await rightsOf(operatorOf())).to.deep.equal({
      namespaces: watched,
      resourcequotas: [...watched, 'create', 'update', 'patch', 'delete'],
    });
    const patcher = operatorOf({ target: "{ apiGroup: '', kind: Service, type: Patcher }" });
    expect(await rightsOf(patcher)).to.deep.equal({
      namespaces: watched,
      services: [...watched, 'patch'],
    });
  });

  it('grants no permissions for views, nor for OneShot and Periodic sources', async () => {
    const view = operatorOf({ target: '{ kind: Limit }' });
    expect(await rightsOf(view)).to.deep.equal({ namespaces: watched });
    const trigger = operatorOf({ source: '{ kind: Start, type: OneShot }' });
    expect(await rightsOf(trigger)).to.have.all.keys('resourcequotas');
  });

  for (const [what, pipeline, verbs] of [
    ['writes a status', "{ '@project': { metadata: { name: a }, status: { a: 1 } } }", true],
    [
      'sets a field of the status',
      "{ '@project': { metadata: { name: a }, $.status.a: 1 } }",
      true,
    ],
    ['copies the document', "{ '@project': { '$.': $., spec: {} } }", true],
    [
      'projects a status in a second step',
      "{ '@project': [{ metadata: { name: a } }, { status: { a: 1 } }] }",
      true,
    ],
    ['passes objects unchanged', '[]', true],
    [
      'gathers values into the status',
      "[{ '@project': { metadata: { name: a } } }, { '@gather': [$.a, $.status.a] }]",
      true,
    ],
    [
      'writes no status',
      "[{ '@select': { '@exists': $.status } }, { '@project': { metadata: { name: a } } }]",
      false,
    ],
  ] as const) {
    it(`grants writes of the status ${verbs ? 'if' : 'only if'} the pipeline ${what}`, async () => {
      const mouse = '{ apiGroup: shop.example, version: v1, kind: Mouse }';
      const text = operatorOf({ source: mouse, target: mouse, pipeline });
      const rights = await rightsOf(text, '--crds', file('crds.yaml'));
      const status = verbs ? { 'mice/status': ['update', 'patch'] } : {};
      const mice = [...watched, 'create', 'update', 'patch', 'delete'];
      expect(rights).to.deep.equal({ mice, ...status });
    });
  }

  it('grants no writes of the status of a kind without the status subresource', async () => {
    const map = "{ apiGroup: '', kind: ConfigMap }";
    const text = operatorOf({ source: map, target: map, pipeline: '[]' });
    expect(await rightsOf(text)).to.have.all.keys('configmaps');
  });

  it('limits permissions and operators to namespaces', async () => {
    const map = "{ apiGroup: '', kind: ConfigMap }";
    const text = operatorOf({ source: map, target: map });
    const made = await run(text, '-d', 'limited', '--namespaces', 'shop,bank');
    expect(made.stdout).to.include('note: roles in other namespaces (shop, bank)');
    const role = parse(await readFile(file('limited/config/rbac/role.yaml'), 'utf8')) as object;
    expect(role).to.include({ rules: null });
    const roles = await readFile(file('limited/config/namespaces/roles.yaml'), 'utf8');
    expect(roles).to.include('namespace: shop').and.include('namespace: bank');
    const operators = await readFile(file('limited/config/operators/kustomization.yaml'), 'utf8');
    const { patches } = parse(operators) as { patches: readonly { readonly patch: string }[] };
    expect(patches.map(({ patch }) => JSON.parse(patch) as unknown)).to.deep.equal([
      [
        {
          op: 'add',
          path: '/spec/template/spec/containers/0/args/-',
          value: '--namespaces=shop,bank',
        },
      ],
    ]);
  });

  for (const [what, args, limit] of [
    ['without the option', [], '"--namespaces=shop,bank"'],
    ['with other names, each once', ['--namespaces', 'shop,web,shop'], '"--namespaces=shop,web"'],
    ["only with '*'", ['--namespaces', '*'], undefined],
  ] as const) {
    const does = limit?.includes('bank') === true ? 'keeps' : 'changes';
    it(`${does} the namespaces of an earlier run ${what}`, async () => {
      const map = "{ apiGroup: '', kind: ConfigMap }";
      const text = operatorOf({ source: map, target: map });
      const directory = ['-d', `limited-${++count}`];
      const path = (name: string): string => file(`limited-${count}`, 'config', name);
      await run(text, ...directory, '--namespaces', 'shop,bank');
      const made = await run(text, ...directory, ...args);
      expect(made, made.stderr).to.include({ code: 0 });
      const operators = await readFile(path('operators/kustomization.yaml'), 'utf8');
      expect(/"--namespaces=.*?"/.exec(operators)?.[0]).to.equal(limit);
      const { rules } = parse(await readFile(path('rbac/role.yaml'), 'utf8')) as { rules: unknown };
      if (limit === undefined) expect(rules).to.be.an('array');
      else expect(rules).to.equal(null);
    });
  }

  for (const path of [
    'rbac/role.yaml',
    'rbac/leader_election_role.yaml',
    'namespaces/roles.yaml',
    'namespaces/kustomization.yaml',
    'operators/kustomization.yaml',
  ]) {
    it(`writes its own command into config/${path}`, async () => {
      await run(operatorOf({ source: target }), '-d', 'commented', '--namespaces', 'shop');
      const text = await readFile(file('commented/config', path), 'utf8');
      expect(text)
        .to.include('`operator-builder declarative manifests`')
        .and.not.include('`operator-builder manifests`');
    });
  }

  it('serves the views only with --api-server', async () => {
    const overlay = (directory: string): Promise<string> =>
      readFile(file(directory, 'config/default/kustomization.yaml'), 'utf8');
    await run(operatorOf(), '-d', 'closed');
    expect(await overlay('closed')).to.include('  # - ../views\n');
    const { stdout } = await run(operatorOf(), '-d', 'open', '--api-server');
    expect(await overlay('open')).to.include('  - ../views\n');
    expect(stdout)
      .to.include('declarative keys')
      .and.include('create secret generic quotas-view-keys');
    const later = await run(operatorOf(), '-d', 'closed', '--api-server');
    expect(later.stdout).to.include('note: list ../views in the components of config/default');
  });

  for (const [what, text, args, says] of [
    [
      'an unknown kind',
      operatorOf({ source: '{ apiGroup: shop.example, version: v1, kind: Mouse }' }),
      [],
      'Mouse of shop.example: unknown kind, so no role can name it; pass its CustomResourceDefinition with --crds',
    ],
    [
      'an unknown built-in kind',
      operatorOf({ source: '{ apiGroup: apps, kind: Deploy }' }),
      [],
      'correct the kind or its apiGroup',
    ],
    [
      'an invalid operator',
      operatorOf({ pipeline: "{ '@projct': {} }" }),
      [],
      'did you mean @project?',
    ],
    ['a name that objects can not have', operatorOf(), ['--name', 'My_Shop'], '--name:'],
    [
      'a name that YAML reads as another value',
      operatorOf(),
      ['--name', 'true'],
      '--name: true means another value in YAML, not a text; choose a longer name, such as my-true',
    ],
    ['an invalid image', operatorOf(), ['--image', 'a b'], '--image: want an image'],
    [
      'a star beside names of namespaces',
      operatorOf(),
      ['--namespaces', 'shop,*'],
      "--namespaces: want names, or only '*', got shop,*",
    ],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const { code, stderr } = await run(text, '-d', 'refused', ...args);
      expect(code).to.equal(1);
      expect(stderr).to.include(says);
    });
  }

  it('keeps the name of the operator in an existing directory, and refuses another name', async () => {
    const directory = ['-d', 'named'];
    await run(operatorOf(), ...directory, '--name', 'shop');
    const again = await run(operatorOf(), ...directory, '--check');
    expect(again, again.stderr).to.include({ code: 0 });
    const { code, stderr } = await run(operatorOf(), ...directory, '--name', 'bank');
    expect(code).to.equal(1);
    expect(stderr).to.include('--name: named already deploys shop; pass --name shop or no name');
    const binding = await readFile(file('named/config/rbac/role_binding.yaml'), 'utf8');
    const role = await readFile(file('named/config/rbac/role.yaml'), 'utf8');
    for (const text of [binding, role]) expect(text).not.to.include('bank');
  });

  it('requires a name for several operators', async () => {
    await mkdir(file('many'));
    await writeFile(file('many/one.yaml'), operatorOf());
    await writeFile(file('many/two.yaml'), operatorOf());
    const { code, stderr } = await cli(['declarative', 'manifests', 'many', '-d', 'unnamed'], {
      cwd: file(),
    });
    expect(code).to.equal(1);
    expect(stderr).to.include('--name: missing');
  });

  it('reads the operator from the standard input', async () => {
    const args = ['declarative', 'manifests', '-', '-d', 'piped', '--name', 'piped'];
    const made = await cli(args, { cwd: file(), stdin: operatorOf() });
    expect(made, made.stderr).to.include({ code: 0 });
    const text = await readFile(file('piped/config/operators/operator.yaml'), 'utf8');
    expect(loadOperators(text, 'operator.yaml')).to.have.length(1);
  });
});
