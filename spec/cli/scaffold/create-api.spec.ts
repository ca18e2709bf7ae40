import { expect } from 'chai';
import omit from 'lodash/omit.js';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { englishPlural } from '../../../lib/cli/scaffold/names.js';
import { cli, scratchDirectory } from '../cli.js';
import { linkPackages } from '../project/project-copy.js';
import { createApi, createWebhook, makeProject, textsIn } from './project.js';

interface Crd {
  readonly spec: { readonly versions: readonly { readonly name: string; storage: boolean }[] };
}

const pot = '{ group: shop, version: v1, kind: Pot, plural: pots, scope: Namespaced }';
const withPot = (field: string): string =>
  `layout: operator-builder/v1\nname: shops\ndomain: example.com\nresources:\n- ${field}\n` +
  ['group: shop', 'version: v1', 'kind: Pot', 'plural: pots', 'scope: Namespaced']
    .filter((line) => !line.startsWith(field.replace(/:.*/, ':')))
    .map((line) => `  ${line}\n`)
    .join('');
const markers = /^.*\+operator-builder:scaffold:.*\n/gm;

describe('operator-builder create api', () => {
  const file = scratchDirectory();

  it('adds kinds in order to operator, PROJECT and kustomizations, and gives their objects distinct names', async () => {
    await makeProject(file('two'), ['Shop'], ['HTTPRoute', 'v1']);
    const texts = await textsIn(file('two'));
    expect(texts['src/operator.ts']).to.match(/Shop,\n {4}HTTPRoute,\n {4}\/\/ \+operator-builder/);
    expect(texts).to.include.keys('src/api/v1/http-route.ts', 'test/http-route-controller.test.ts');
    const project = parse(texts['PROJECT'] ?? '') as { resources: unknown };
    const one = { group: 'shop', scope: 'Namespaced', controller: 'builder' };
    expect(project.resources).to.deep.equal([
      { ...one, version: 'v1alpha1', kind: 'Shop', plural: 'shops' },
      { ...one, version: 'v1', kind: 'HTTPRoute', plural: 'httproutes' },
    ]);
    const crds = parse(texts['config/crd/kustomization.yaml'] ?? '') as { resources: unknown };
    expect(crds.resources).to.deep.equal([
      ...['bases/shop.example.com_shops.yaml', 'bases/shop.example.com_httproutes.yaml'],
    ]);
    // A Shop and an HTTPRoute of the same name own different Deployments.
    for (const [path, name] of [
      ['shop', 'shop'],
      ['http-route', 'httproute'],
    ]) {
      const controller = texts[`src/controllers/${path}-controller.ts`];
      expect(controller).to.include(`\`${name}-\${object.metadata.name ?? ''}\``);
    }
    const all = Object.entries(texts).flat().join('\n');
    expect(all).not.to.match(
      /kind-?name|groupname|v9[89]alpha|@builder|operator-builder:(?:if|end)/i,
    );
  });

  it('restores a deleted role file with the rules of the controller', async () => {
    const folder = file('without-role');
    await makeProject(folder);
    await rm(join(folder, 'config/rbac/role.yaml'));
    expect(await createApi(folder, 'Shop')).to.include({ code: 0, stderr: '' });
    const texts = await textsIn(folder);
    expect(texts['config/rbac/role.yaml']).to.include('shops/finalizers');
  });

  it('adds a version of a kind next to its first version', async () => {
    const same = ['--plural', 'shops', '--namespaced', '--style', 'builder'];
    await makeProject(file('versions'), ['Shop'], ['Shop', 'v1', ...same]);
    const texts = await textsIn(file('versions'));
    expect(texts['src/api/v1alpha1/shop.ts'])
      .to.include("import { shopV1 } from '../v1/shop.js';")
      .and.match(/storage: true, .*\n {4}shopV1,\n/);
    expect(texts['src/api/v1/shop.ts']).to.include("name: 'v1'");
    expect(texts['src/operator.ts']?.match(/Shop,/g)).to.have.length(1);
    const crd = parse(texts['config/crd/bases/shop.example.com_shops.yaml'] ?? '') as Crd;
    expect(crd.spec.versions.map(({ name, storage }) => [name, storage])).to.deep.equal([
      ...[
        ['v1alpha1', true],
        ['v1', false],
      ],
    ]);
    expect(parse(texts['config/samples/kustomization.yaml'] ?? '')).to.deep.include({
      resources: ['shop_v1alpha1_shop.yaml', 'shop_v1_shop.yaml'],
    });
  });

  it('adds a version with the current schema and the sample object of the kind', async () => {
    await makeProject(file('edited-schema'), ['Shop', 'v1']);
    const edit = async (path: string, from: string, to: string): Promise<void> => {
      const text = await readFile(file('edited-schema', path), 'utf8');
      expect(text).to.include(from);
      await writeFile(file('edited-schema', path), text.replace(from, to));
    };
    const marker = '// +operator-builder:scaffold:imports';
    const owner = `import { owner } from './owner.js';\n${marker}`;
    await edit('src/api/v1/shop.ts', marker, owner);
    await edit(
      'src/api/v1/shop.ts',
      'const spec = s.object({',
      'const spec = s.object({\n  owner,',
    );
    const code = "import { s } from 'operator-builder/crd';\n\nexport const owner = s.string();\n";
    await writeFile(file('edited-schema', 'src/api/v1/owner.ts'), code);
    await edit('config/samples/shop_v1_shop.yaml', 'spec:', 'spec:\n  owner: jane');
    linkPackages(file('edited-schema'));
    const manifests = ['manifests', '--project', file('edited-schema')];
    expect(await cli(manifests)).to.include({ code: 0, stderr: '' });

    const made = await createApi(file('edited-schema'), 'Shop', 'v2');
    expect(made).to.include({ code: 0, stderr: '' });
    const texts = await textsIn(file('edited-schema'));
    expect(texts['src/api/v2/shop.ts'])
      .to.match(/^import \{ owner \} from '\.\.\/v1\/owner\.js';$/m)
      .and.include('const spec = s.object({\n  owner,');
    const sample = parse(texts['config/samples/shop_v2_shop.yaml'] ?? '') as object;
    expect(sample).to.have.property('apiVersion', 'shop.example.com/v2');
    expect(sample).to.have.nested.property('spec.owner', 'jane');
    // Loads the operator, which refuses versions with different fields.
    expect(await cli([...manifests, '--check'])).to.include({ code: 0, stderr: '' });
  });

  it('adds a version with all properties of the first version, and a sample object for its schema', async () => {
    await makeProject(file('entry'), ['Shop', 'v1', '--no-controller']);
    const path = file('entry/src/api/v1/shop.ts');
    const text = await readFile(path, 'utf8');
    const own = `    {
      name: 'v1', // stored, { as yet
      storage: true,
      schema: s.object({
        spec: s.object({
          size: s.integer({ minimum: smallest }),
          zone: s.string({ pattern: '^[a-z]{2}-[0-9],$' }),
          engine: s.string({ enum: ['fast', 'cheap'] }),
        }),
      }),
      status: s.object({ size: s.optional(s.integer()) }),
      scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
      selectableFields: ['.spec.zone'],
      printerColumns: [{ name: 'Zone', type: 'string', jsonPath: '.spec.zone' }],
    },`;
    const edited = text
      .replace(/const spec = [^]*?\n\}\);\n/, 'const smallest = 3;\n')
      .replace(/const status = .*\n\n/, '')
      .replace(/ {4}\{ name: 'v1', .*/, () => own)
      .replace(/ {2}printerColumns: \[\n {4}[^]*?\n {2}\],\n/, '');
    await writeFile(path, edited);
    linkPackages(file('entry'));
    const manifests = ['manifests', '--project', file('entry')];
    expect(await cli(manifests)).to.include({ code: 0, stderr: '' });
    expect(await createApi(file('entry'), 'Shop', 'v2')).to.include({ code: 0, stderr: '' });
    expect(await cli([...manifests, '--check'])).to.include({ code: 0, stderr: '' });
    const texts = await textsIn(file('entry'));
    expect(texts['src/api/v2/shop.ts'])
      .to.match(/^import \{ s, type VersionDefinition, type VersionObject \} from 'operator/)
      .and.include("  name: 'v2',\n  schema: s.object({\n    spec: s.object({\n");
    const { spec } = parse(texts['config/crd/bases/shop.example.com_shops.yaml'] ?? '') as Crd;
    const [v1, v2] = spec.versions;
    expect(v2).to.deep.equal({ ...v1, name: 'v2', storage: false });
    // The sample of the template would lack required fields.
    expect(parse(texts['config/samples/shop_v2_shop.yaml'] ?? ''))
      .to.have.property('spec')
      .that //
      .deep.equals({ size: 3, zone: 'aa-0,', engine: 'fast' });
  });

  it('adds a version with the schema and the sample object of the stored version', async () => {
    const folder = file('stored');
    await makeProject(folder, ['Shop'], ['Shop', 'v1']);
    await createWebhook(folder, 'Shop', 'v1', '--conversion');
    const edit = async (path: string, ...edits: readonly [string, string][]): Promise<void> => {
      const text = await readFile(join(folder, path), 'utf8');
      for (const [from] of edits) expect(text).to.include(from);
      const edited = edits.reduce((now, [from, to]) => now.replace(from, () => to), text);
      await writeFile(join(folder, path), edited);
    };
    await edit(
      'src/api/v1/shop.ts',
      ['const spec =', "import { owner } from './owner.js';\n\nconst spec ="],
      ['  replicas: s.defaulted(', '  owner,\n  size: s.defaulted('],
    );
    const code = "import { s } from 'operator-builder/crd';\n\nexport const owner = s.string();\n";
    await writeFile(join(folder, 'src/api/v1/owner.ts'), code);
    await edit('config/samples/shop_v1_shop.yaml', ['  replicas: 2', '  size: 2\n  owner: jane']);
    await edit(
      'src/api/v1alpha1/shop.ts',
      ['storage: true, ', ''],
      ['    shopV1,\n', '    { ...shopV1, storage: true, deprecated: true },\n'],
      ["hub: 'v1alpha1'", "hub: 'v1'"],
      ['      v1: {', '      v1alpha1: {'],
    );
    linkPackages(folder);
    const manifests = ['manifests', '--project', folder];
    expect(await cli(manifests)).to.include({ code: 0, stderr: '' });

    expect(await createApi(folder, 'Shop', 'v2')).to.include({ code: 0, stderr: '' });
    const texts = await textsIn(folder);
    expect(texts['src/api/v2/shop.ts'])
      .to.include("import { owner } from '../v1/owner.js';\n")
      .and.include('  owner,\n  size: s.defaulted(')
      .and.not.include('storage');
    const sample = parse(texts['config/samples/shop_v2_shop.yaml'] ?? '') as object;
    expect(sample).to.have.nested.property('spec.owner', 'jane');
    const { spec } = parse(texts['config/crd/bases/shop.example.com_shops.yaml'] ?? '') as Crd;
    const [, v1, v2] = spec.versions;
    expect(v1).to.include({ storage: true, deprecated: true });
    expect(v2).to.deep.equal({ ...omit(v1, 'deprecated'), name: 'v2', storage: false });
    expect(await cli([...manifests, '--check'])).to.include({ code: 0, stderr: '' });
  });

  it('refuses a version if it does not find the first version, and writes nothing', async () => {
    await makeProject(file('no-entry'), ['Shop', 'v1']);
    const path = file('no-entry/src/api/v1/shop.ts');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace("name: 'v1'", 'name: nameOfVersion'));
    const before = await textsIn(file('no-entry'));
    const { code, stderr } = await createApi(file('no-entry'), 'Shop', 'v2');
    expect(code).to.equal(1);
    expect(stderr).to.include('src/api/v1/shop.ts: no version is an object with name');
    expect(await textsIn(file('no-entry'))).to.deep.equal(before);
  });

  it('aggregates its roles for users into the default roles of a cluster', async () => {
    await makeProject(file('roles'), ['Shop']);
    const texts = await textsIn(file('roles'));
    for (const [name, role] of [
      ['admin', 'admin'],
      ['editor', 'edit'],
      ['viewer', 'view'],
    ] as const) {
      const text = texts[`config/rbac/shop_shop_${name}_role.yaml`] ?? '';
      expect(parse(text))
        .to.have.nested.property('metadata.labels')
        .deep.equal({
          [`rbac.authorization.k8s.io/aggregate-to-${role}`]: 'true',
        });
    }
  });

  it('adds a controller to a kind that was created without one, and imports the kind only once', async () => {
    await makeProject(file('later'), ['Shop', 'v1', '--no-controller']);
    expect(await textsIn(file('later'))).not.to.have.any.keys('test/shop-controller.test.ts');
    expect(await createApi(file('later'), 'Shop', 'v1', '--no-resource')).to.include({ code: 0 });
    const texts = await textsIn(file('later'));
    expect(texts['src/operator.ts']).to.match(/\nsetupShopController\(operator\);\n/);
    expect(texts['src/operator.ts']?.match(/import \{ Shop \}/g)).to.have.length(1);
    expect(texts['config/rbac/role.yaml']).to.include('shops/finalizers');
    const again = await createApi(file('later'), 'Shop', 'v1', '--no-resource');
    expect(again.stderr).to.include('Shop already has a controller; --force overwrites it');
  });

  for (const [kind, plural] of [
    ...[
      ['Analysis', 'analyses'],
      ['Quiz', 'quizzes'],
      ['Hero', 'heroes'],
      ['Leaf', 'leaves'],
    ],
    ...[
      ['Policy', 'policies'],
      ['Photo', 'photos'],
      ['Proof', 'proofs'],
      ['Status', 'statuses'],
    ],
    ...[
      ['Axis', 'axes'],
      ['Settings', 'settings'],
      ['Child', 'children'],
      ['Human', 'humans'],
    ],
    ...[
      ['Gateway', 'gateways'],
      ['Batch', 'batches'],
      ['Life', 'lives'],
      ['Safe', 'safes'],
    ],
    ...[
      ['Workman', 'workmen'],
      ['Basis', 'bases'],
      ['Repo', 'repos'],
      ['Roof', 'roofs'],
    ],
    ...[
      ['Person', 'people'],
      ['Mouse', 'mice'],
      ['Goose', 'geese'],
      ['Foot', 'feet'],
      ['Tooth', 'teeth'],
    ],
    ...[
      ['Datum', 'data'],
      ['Dataset', 'datasets'],
      ['Criterion', 'criteria'],
      ['Matrix', 'matrices'],
      ['Vertex', 'vertices'],
      ['Software', 'software'],
    ],
  ] as [string, string][]) {
    it(`derives the plural ${plural} of ${kind}`, () => {
      expect(englishPlural(kind.toLowerCase())).to.equal(plural);
    });
  }

  it('uses the English plural of a kind in its schema and files', async () => {
    await makeProject(file('plurals'), ['Analysis', 'v1']);
    const texts = await textsIn(file('plurals'));
    expect(texts['src/api/v1/analysis.ts']).to.include("plural: 'analyses'");
    expect(Object.keys(texts)).to.include('config/crd/bases/shop.example.com_analyses.yaml');
  });

  it('adds a kind whose name and group have the maximum length, with manifests that are up to date', async () => {
    const kind = `A${'b'.repeat(53)}Child`;
    // The longest group with the domain example.com.
    const group = ['--group', `${'a'.repeat(63)}.${'b'.repeat(62)}.c`];
    const [, made] = await makeProject(file('long'), [kind, 'v1', ...group]);
    expect(made).to.include({ code: 0, stderr: '' });
    expect(await createWebhook(file('long'), kind, 'v1', '--validation', ...group)).to.include({
      code: 0,
    });
    linkPackages(file('long'));
    const manifests = ['manifests', '--project', file('long'), '--check'];
    expect(await cli(manifests)).to.include({ code: 0, stderr: '' });
  });

  it('keeps edits of the user, and prints the lines to add if a marker is missing', async () => {
    await makeProject(file('edited'), ['Shop']);
    const operator = file('edited', 'src/operator.ts');
    const own = (await readFile(operator, 'utf8')).replace(markers, '') + '// mine\n';
    await writeFile(operator, own);
    const before = await textsIn(file('edited'));
    const { code, stderr } = await createApi(file('edited'), 'Other');
    expect(code).to.equal(1);
    expect(stderr)
      .to.include('src/operator.ts has lost markers')
      .and.include("+import { setupOtherController } from './controllers/other-controller.js';")
      .and.include('+// +operator-builder:scaffold:setup')
      .and.include('Nothing was written.');
    expect(await textsIn(file('edited'))).to.deep.equal(before);
    // Adds the lines of the diff, with the user's line endings and indentation.
    const added = own
      .replace('// mine', '// +operator-builder:scaffold:imports')
      .replace(/( +)(Shop,\n)/, '$1$2\t// +operator-builder:scaffold:resources\n')
      .replace('(operator);\n', '(operator);\nsetupOtherController(operator);\n');
    await writeFile(operator, added.replaceAll('\n', '\r\n'));
    expect((await createApi(file('edited'), 'Other')).stderr).to.equal('');
    const text = await readFile(operator, 'utf8');
    expect(text).to.include('Shop,\r\n\tOther,\r\n\t// +operator-builder');
    expect(text).not.to.match(/[^\r]\n/);
  });

  describe('refuses', () => {
    before(() =>
      makeProject(
        file('own'),
        ['Shop'],
        ['Bare', 'v1', '--no-controller'],
        ['Bare', 'v2', '--plural', 'bares'],
      ),
    );

    for (const [what, args, says] of [
      ['a lower-case kind', ['shop'], '--kind: want a capital'],
      [
        'a kind with the name of a JavaScript global',
        ['Promise'],
        'Promise is already a name in the generated code; choose a longer name',
      ],
      ['a kind that YAML reads as null', ['Null'], 'Null means another value in YAML, not a text'],
      ['a kind with the name of a template import', ['Deployment'], 'as MyDeployment'],
      [
        'a kind whose lists would have no valid kind',
        [`A${'b'.repeat(59)}`],
        '--kind: has 60 characters, at most 59 are allowed',
      ],
      [
        'a group that is too long for the names of files',
        ['Pot', 'v1', '--group', Array.from({ length: 16 }, () => 'shopshop').join('.')],
        '--group: has 155 characters with the domain, at most 140 are allowed',
      ],
      ['an invalid version', ['Pot', '1.0'], '--version: want a version such as v1'],
      ['an invalid plural', ['Pot', 'v1', '--plural', 'Pots'], '--plural: "Pots" must be'],
      ['a plural in use', ['Pot', 'v1', '--plural', 'shops'], 'Shop already has the plural shops'],
      [
        'another plural of an existing kind',
        ['Shop', 'v1', '--plural', 'shopz'],
        '--plural: Shop has the plural shops; leave it out',
      ],
      [
        'another scope of an existing kind',
        ['Shop', 'v1', '--no-namespaced'],
        '--no-namespaced: Shop has the scope Namespaced; leave it out',
      ],
      [
        'another style for a further version',
        ['Shop', 'v1', '--style', 'resources'],
        '--style resources: Shop has a controller of the style builder; leave it out',
      ],
      [
        'a style for a further version of a kind without a controller',
        ['Bare', 'v3', '--style', 'builder'],
        '--style builder: Bare has no controller; leave it out',
      ],
      [
        'another plural with a new controller',
        ['Bare', 'v1', '--no-resource', '--plural', 'bear'],
        '--plural: Bare has the plural bares; leave it out',
      ],
      [
        'another plural of a built-in kind',
        ['Secret', 'v1', '--group', 'core', '--no-resource', '--plural', 'secretz'],
        '--plural: Secret has the plural secrets; leave it out',
      ],
      [
        'to overwrite the version whose file lists others',
        ['Bare', 'v1', '--force'],
        '--force: src/api/v1/bare.ts also has the versions v2 of Bare; change the files by hand',
      ],
      [
        'an existing kind in another group',
        ['Shop', 'v1', '--group', 'b'],
        'the project has a kind Shop in shop',
      ],
      [
        'a group that contains the domain',
        ['Pot', 'v1', '--group', 'a.example.com'],
        'leave out the domain',
      ],
      [
        'the style lifecycle with a different status',
        ['Shop', 'v1alpha1', '--no-resource', '--force', '--style', 'lifecycle'],
        '--style lifecycle: the schema of Shop has the status of another style',
      ],
      [
        'a call without anything to create',
        ['Pot', 'v1', '--no-resource', '--no-controller'],
        'nothing to add',
      ],
      ['a controller of a missing kind', ['Pot', 'v1', '--no-resource'], 'leave out --no-resource'],
      ['an invalid boolean', ['Pot', 'v1', '--controller=maybe'], 'Want true or false'],
    ] as const) {
      it(what, async () => {
        const before = await textsIn(file('own'));
        const { code, stderr } = await createApi(file('own'), ...args);
        expect(code).to.equal(1);
        expect(stderr).to.include(says);
        expect(await textsIn(file('own'))).to.deep.equal(before);
      });
    }

    it('a directory without a project', async () => {
      const { code, stderr } = await createApi(file('nowhere'));
      expect(code).to.equal(1);
      expect(stderr).to.include('or create one with operator-builder init');
    });

    it('a directory within a project, and names the directory of the project', async () => {
      const { code, stderr } = await createApi(file('own', 'src'));
      expect(code).to.equal(1);
      expect(stderr).to.match(/around it: -C \S*\/own\n$/);
      const args = [
        'create',
        'api',
        '--group',
        'shop',
        '--version',
        'v1',
        '--kind',
        'Pot',
        '-C',
        'src',
      ];
      const inside = await cli(args, { cwd: file('own') });
      expect(inside.stderr).to.match(/around it: -C \.\n$/);
    });

    for (const [what, text, says] of [
      ['is invalid YAML', 'a: [', "PROJECT can't be used: "],
      ['is of another tool', 'layout: [go.kubebuilder.io/v4]', 'want layout: operator-builder/v1'],
      ['is empty', '', 'it is empty'],
      [
        'lists a version twice',
        `layout: operator-builder/v1\nname: shops\ndomain: example.com\nresources: [${[pot, pot].join(', ')}]`,
        'resources[1]: Pot v1 of shop is in resources[0], too',
      ],
      ['lacks a name', 'layout: operator-builder/v1\nresources: []', 'name: want a string'],
      ['has an unknown scope', withPot('scope: World'), 'resources[0].scope: want Namespaced'],
      ['has external: false', withPot('external: false'), 'external: want true, or'],
      ['has an unknown controller', withPot('controller: other'), 'controller: want builder'],
      [
        'has an incomplete webhook',
        withPot('webhooks: { defaulting: some }'),
        'defaulting: want true or',
      ],
    ] as const) {
      it(`a PROJECT that ${what}`, async () => {
        const [name] = says.split(':');
        await mkdir(file(`broken-${name}`));
        await writeFile(file(`broken-${name}`, 'PROJECT'), text);
        const { code, stderr } = await createApi(file(`broken-${name}`));
        expect(code).to.equal(1);
        const remedy =
          what === 'is of another tool' ? 'move the file away' : 'from version control';
        expect(stderr).to.include(says).and.include(remedy);
      });
    }

    for (const [field, value, says] of [
      ['plural', '../../../stolen', 'resources[0].plural: "../../../stolen" must be'],
      ['group', '../../shop', 'resources[0].group: "../../shop" must be'],
      ['kind', '../Shop', 'resources[0].kind: want a capital'],
      ['version', 'v1/../../v2', 'resources[0].version: want a version such as v1'],
      ['domain', 'example.com/../..', 'domain: "example.com/../.." must be'],
      ['name', '$(reboot)', 'name: "$(reboot)" must be'],
    ] as const) {
      it(`a PROJECT with an invalid ${field}, and writes nothing`, async () => {
        // The project is so deep in `around` that a name with dots leads out of the project, but not out of `around`.
        const [around, folder] = [file(`names-${field}`), `names-${field}/a/b/c/d`];
        await cp(file('own'), file(folder), { recursive: true });
        const path = file(folder, 'PROJECT');
        const text = await readFile(path, 'utf8');
        const line = new RegExp(`^(.*\\b${field}: ).*$`, 'm');
        await writeFile(path, text.replace(line, `$1${JSON.stringify(value)}`));
        const before = await textsIn(around);
        for (const { code, stderr } of [
          await createApi(file(folder), 'Shop', 'v1', '--force'),
          await createWebhook(file(folder), 'Shop', 'v1alpha1', '--defaulting'),
        ]) {
          expect(code).to.equal(1);
          expect(stderr).to.include(path).and.include(says);
        }
        expect(await textsIn(around)).to.deep.equal(before);
      });
    }
  });
});
