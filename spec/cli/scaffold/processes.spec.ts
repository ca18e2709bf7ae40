import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { styles } from '../../../lib/cli/scaffold/scaffold-command.js';
import { CustomResourceDefinition } from '../../../lib/object/index.js';
import { bundleOf } from '../../manager/processes/bundle-of.js';
import { cli, scratchDirectory } from '../cli.js';
import { linkPackages } from '../project/project-copy.js';
import { makeForeignProject } from './foreign-project.js';
import { createApi, createWebhook, makeProject, testTexts } from './project.js';

const run = promisify(execFile);

describe('The bundle of npm run build', () => {
  const file = scratchDirectory();

  for (const style of styles) {
    it(`starts with webhooks for each kind and version, style ${style}`, async () => {
      const folder = file(style);
      await makeProject(folder, ['Shop', 'v1', '--style', style], ['Shop', 'v2']);
      for (const [version, ...flags] of [
        ['v1', '--defaulting', '--validation', '--conversion'],
        ['v2', '--defaulting', '--validation'],
      ] as const) {
        const made = await createWebhook(folder, 'Shop', version, ...flags);
        expect(made).to.include({ code: 0, stderr: '' });
      }
      linkPackages(folder);
      await run(process.execPath, ['build.js'], { cwd: folder });
      const { stdout } = await run(process.execPath, ['dist/main.js', '--help'], { cwd: folder });
      expect(stdout).to.match(/^Usage: shops \[options\]/);
    });
  }

  it('does not delete the file of build-installer in dist', async () => {
    const folder = file('installer');
    await makeProject(folder, ['Shop', 'v1']);
    linkPackages(folder);
    await mkdir(`${folder}/dist`);
    await writeFile(`${folder}/dist/install.yaml`, 'kind: Namespace');
    await run(process.execPath, ['build.js'], { cwd: folder });
    expect(await readFile(`${folder}/dist/install.yaml`, 'utf8')).to.equal('kind: Namespace');
  });

  it('has sources that pass npm run lint and npm run typecheck', async () => {
    const folder = file('lint');
    const kinds = [...styles.entries()].map(([index, style]) => [`Kind${index}`, 'v1', style]);
    await makeProject(
      folder,
      ...kinds.map(([kind = '', version = '', style = '']) => {
        return [kind, version, '--style', style];
      }),
    );
    await createApi(folder, 'Kind0', 'v2');
    const flags = ['--defaulting', '--validation'];
    await createWebhook(folder, 'Kind0', 'v1', ...flags, '--conversion');
    await createWebhook(folder, 'Kind0', 'v2', ...flags);
    for (const [group, kind] of [
      ['core', 'Pod'],
      ['open.example.io', 'Widget'],
    ] as const) {
      const named = ['--group', group, '--version', 'v1', '--kind', kind, '-C', folder];
      await cli(['create', 'api', ...named, '--no-resource']);
      await cli(['create', 'webhook', ...named, ...flags]);
    }
    linkPackages(folder);
    const tools = ['@eslint', 'eslint', 'typescript-eslint'];
    for (const name of tools)
      await symlink(resolve('node_modules', name), `${folder}/node_modules/${name}`);
    const inProject = { cwd: folder };
    await run(process.execPath, ['node_modules/eslint/bin/eslint.js', '.'], inProject);
    await run(process.execPath, ['node_modules/typescript/bin/tsc', '--noEmit'], inProject);
  });

  it('contains the schemas of built-in types', async () => {
    const folder = file('schemas');
    await makeProject(folder, ['Shop', 'v1']);
    linkPackages(folder);
    const main = `${folder}/src/main.ts`;
    await writeFile(
      main,
      `import { kindSchema } from '../node_modules/operator-builder/lib/apply/merge-object.js';
      import { EmbeddedCluster } from 'operator-builder/testing';
      import { Shop } from './api/v1/shop.js';
      const { crd } = Shop;
      const cluster = await EmbeddedCluster.start({ crds: [Shop] });
      await cluster.stop();
      const deployment = kindSchema({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: {} });
      console.log(crd.metadata.name, Object.keys(deployment.properties));`,
    );
    await run(process.execPath, ['build.js'], { cwd: folder });
    const { stdout } = await run(process.execPath, ['dist/main.js'], { cwd: folder });
    expect(stdout).to.include('shops.shop.example.com').and.include("'spec'");
  });
});

describe('The tests of a project', () => {
  const file = scratchDirectory();

  async function edit(path: string, change: (text: string) => string): Promise<void> {
    await writeFile(path, change(await readFile(path, 'utf8')));
  }

  /** Runs tests like `npm test`. */
  const test = (folder: string, ...kinds: string[]): Promise<{ readonly stdout: string }> => {
    const files = kinds.map((kind) => `test/${kind}-controller.test.ts`);
    return run(process.execPath, ['--import', 'tsx', '--test', ...files], { cwd: folder });
  };

  for (const style of styles) {
    it(`run the operator with the permissions of its role, style ${style}`, async () => {
      const folder = file(style);
      const global = ['Fleet', 'v1', '--style', style, '--no-namespaced'];
      await makeProject(folder, ['Shop', 'v1', '--style', style], global);
      linkPackages(folder);
      const { stdout } = await test(folder, 'shop', 'fleet');
      expect(stdout).to.match(/\W pass 2\n/);
    });
  }

  it('pass for namespaced and cluster-scoped kinds, in every style and with webhooks', async () => {
    const kinds = [
      ['Shop'],
      ['Fleet', 'v1', '--no-namespaced', '--style', 'resources'],
      ['Plant', 'v1', '--style', 'lifecycle'],
      ['Yard', 'v1', '--style', 'lifecycle', '--no-namespaced'],
      ['Shop', 'v1beta1'],
    ];
    const results = await makeProject(file('whole'), ...kinds);
    expect(results.map(({ code, stderr }) => `${code}${stderr}`).join()).to.equal('0,0,0,0,0,0');
    for (const [kind, version, ...flags] of [
      ['Shop', 'v1alpha1', '--defaulting', '--validation', '--conversion'],
      ['Shop', 'v1beta1', '--defaulting', '--validation'],
      ['Fleet', 'v1', '--validation'],
    ] as const) {
      const made = await createWebhook(file('whole'), kind, version, ...flags);
      expect(made).to.include({ code: 0, stderr: '' });
    }
    // Runs all tests in one bundle, because imports take longer than the tests.
    const tests = Object.keys(await testTexts(file('whole')))
      .map((name) => `import './${name}';`)
      .join(' ');
    await writeFile(file('whole/test/all.ts'), tests);
    const args = ['--test-reporter', 'tap', bundleOf(pathToFileURL(file('whole/test/all.ts')))];
    const { stdout } = await run(process.execPath, args, { cwd: file('whole') });
    expect(stdout).to.include('# pass 11').and.include('# fail 0');
  });

  it('use the fields of the sample object, and pass for an edited schema', async () => {
    await makeProject(file('edited'), ['Shop', 'v1', '--no-controller']);
    const schema = /const spec = s\.object\(\{.*?\n\}\);/s;
    const own =
      "const spec = s.object({ engine: s.string({ enum: ['fast', 'cheap'] }), tags: s.map(s.string()) });";
    await edit(file('edited/src/api/v1/shop.ts'), (text) => text.replace(schema, own));
    const sample = 'spec:\n  engine: fast\n  tags:\n    a: "it\'s"\n';
    const path = file('edited/config/samples/shop_v1_shop.yaml');
    await edit(path, (text) => text.replace(/spec:[^]*/, sample));
    linkPackages(file('edited'));
    expect(await cli(['manifests', '--project', file('edited')])).to.include({
      code: 0,
      stderr: '',
    });
    expect((await createApi(file('edited'), 'Shop', 'v2')).stderr).to.equal('');
    for (const [version, ...flags] of [
      ['v1', '--defaulting', '--validation', '--conversion'],
      ['v2', '--defaulting', '--validation'],
    ] as const) {
      const { stderr } = await createWebhook(file('edited'), 'Shop', version, ...flags);
      expect(stderr).to.equal('');
    }
    const inProject = { cwd: file('edited') };
    const texts = await testTexts(file('edited'));
    // The tests run without a bundle: bundling them with the sources of this package would take a minute.
    expect(Object.values(texts).join())
      .to.include('engine:')
      .and.not.match(/image|replicas/);
    const tests = Object.keys(texts);
    const all = tests.map((name) => `import './test/${name}';`).join(' ');
    const reporting = ['--test-reporter', 'tap', '--input-type', 'module', '-e', all];
    const { stdout } = await run(process.execPath, ['--import', 'tsx', ...reporting], inProject);
    expect(stdout).to.include('# pass 6').and.include('# fail 0');
  });

  it('pass for foreign kinds', async () => {
    const folder = file('foreign');
    await makeForeignProject(folder);
    linkPackages(folder);
    const tests = Object.keys(await testTexts(folder)).filter((path) => path.endsWith('.test.ts'));
    const all = tests.map((name) => `import './test/${name}';`).join(' ');
    const reporting = ['--test-reporter', 'tap', '--input-type', 'module', '-e', all];
    const { stdout } = await run(process.execPath, ['--import', 'tsx', ...reporting], {
      cwd: folder,
    });
    expect(stdout).to.include('# pass 8').and.include('# fail 0');
  });

  it('pass and compile for a controller that is added after edits of the schema, in every style', async () => {
    const folder = file('later');
    await makeProject(folder, ...styles.map((style) => [`Kind${style}`, 'v1', '--style', style]));
    const schema = /const spec = s\.object\(\{.*?\n\}\);/s;
    const own = `const spec = s.object({
      engine: s.string({ enum: ['fast'] }),
      replicas: s.optional(s.integer()),
      tags: s.array(s.string(), { minItems: 1 }),
      zone: s.defaulted(s.string(), 'a'),
    });`;
    for (const style of styles) {
      await edit(`${folder}/src/api/v1/kind${style}.ts`, (text) => text.replace(schema, own));
    }
    linkPackages(folder);
    for (const style of styles) {
      const flags = ['--no-resource', '--style', style, '--force'];
      const made = await createApi(folder, `Kind${style}`, 'v1', ...flags);
      expect(made).to.include({ code: 0, stderr: '' });
    }
    const { stdout } = await test(folder, ...styles.map((style) => `kind${style}`));
    expect(stdout).to.include(` pass ${styles.length}\n`);
    const tsc = resolve('node_modules/typescript/bin/tsc');
    await run(process.execPath, [tsc, '--noEmit'], { cwd: folder });
  });

  it('fail at the first RBAC rule that is missing, and print the rule', async () => {
    const folder = file('missing');
    await makeProject(folder, ['Shop', 'v1']);
    linkPackages(folder);
    const controller = `${folder}/src/controllers/shop-controller.ts`;
    const text = await readFile(controller, 'utf8');
    const listing = text
      .replace('import { Deployment', 'import { ConfigMap, Deployment')
      .replace('({ object, builder }) =>', 'async ({ object, builder, client }) =>')
      .replace('return builder', 'await client.list(ConfigMap);\n      $&');
    expect(listing).to.match(/async .* =>[^]*ConfigMap\);\n +return builder/);
    await writeFile(controller, listing);
    const failure: unknown = await test(folder, 'shop').catch((thrown: unknown) => thrown);
    const { stdout } = failure as { readonly stdout: string };
    expect(stdout).to.include('controller shop: its role does not allow it to list configmaps');
    expect(stdout).to.include("requires: { type: ConfigMap, verbs: ['list'] }");
    expect(stdout).to.include("{ apiGroups: [''], resources: [configmaps], verbs: [list] }");
  });
});

describe('The script crds:install of a project', () => {
  const file = scratchDirectory();

  it('updates the definitions of a deployed operator, and keeps their conversion webhooks', async () => {
    const folder = file('deployed');
    await makeProject(folder, ['Shop'], ['Shop', 'v1']);
    await createWebhook(folder, 'Shop', 'v1', '--conversion');
    const cluster = await EmbeddedCluster.start({ port: 0 });
    try {
      await cluster.writeKubeConfig(file('kubeconfig'));
      const { scripts } = JSON.parse(await readFile(`${folder}/package.json`, 'utf8')) as {
        readonly scripts: Readonly<Record<string, string>>;
      };
      const env = { ...process.env, KUBECONFIG: file('kubeconfig') };
      // Runs only the last command of a script, without the check of the manifests before it.
      const script = (name: string) =>
        run('sh', ['-c', scripts[name]?.split(' && ').at(-1) ?? ''], { cwd: folder, env });
      await script('deploy');
      const definition = `${folder}/config/crd/bases/shop.example.com_shops.yaml`;
      const text = await readFile(definition, 'utf8');
      await writeFile(definition, text.replace('  names:\n', '  names:\n    shortNames: [sh]\n'));
      await script('crds:install');
      const name = 'shops.shop.example.com';
      const { spec } = await cluster.client().get(CustomResourceDefinition, { name });
      expect(spec.names.shortNames).to.deep.equal(['sh']);
      expect(spec.conversion?.strategy).to.equal('Webhook');
    } finally {
      await cluster.stop();
    }
  });
});
