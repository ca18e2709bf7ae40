import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { styles } from '../../../lib/cli/scaffold/styles.js';
import { cli, scratchDirectory } from '../cli.js';
import { linkPackages } from '../project/project-copy.js';
import { createApi, createWebhook, makeProject } from './project.js';

const run = promisify(execFile);

describe('The operator that npm run build makes', () => {
  const file = scratchDirectory();

  for (const style of styles) {
    it(`starts with webhooks of each kind for each version, style ${style}`, async () => {
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

  it('has sources that npm run lint and npm run typecheck accept', async () => {
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

  it('has the schemas of built-in types', async () => {
    const folder = file('schemas');
    await makeProject(folder, ['Shop', 'v1']);
    linkPackages(folder);
    const main = `${folder}/src/main.ts`;
    await writeFile(
      main,
      `import { kindSchema } from '../node_modules/operator-builder/lib/lifecycle/reconciler/kind-schema.js';
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

  /** What `npm test` does. */
  const test = (folder: string, ...kinds: string[]): Promise<{ readonly stdout: string }> => {
    const files = kinds.map((kind) => `test/${kind}-controller.test.ts`);
    return run(process.execPath, ['--import', 'tsx', '--test', ...files], { cwd: folder });
  };

  for (const style of styles) {
    it(`run the operator under its role, style ${style}`, async () => {
      const folder = file(style);
      const global = ['Fleet', 'v1', '--style', style, '--no-namespaced'];
      await makeProject(folder, ['Shop', 'v1', '--style', style], global);
      linkPackages(folder);
      const { stdout } = await test(folder, 'shop', 'fleet');
      expect(stdout).to.match(/\W pass 2\n/);
    });
  }

  it('fail at the first rule that is missing, with the rule to add', async () => {
    const folder = file('missing');
    await makeProject(folder, ['Shop', 'v1']);
    linkPackages(folder);
    const controller = `${folder}/src/controllers/shop-controller.ts`;
    const text = await readFile(controller, 'utf8');
    const listing = text
      .replace('import { Deployment', 'import { ConfigMap, Deployment')
      .replace('({ object, builder })', '({ object, builder, client })')
      .replace('builder.deployment({', 'client.list(ConfigMap).then(() => $&')
      .replace('      }),\n    );', '      })),\n    );');
    expect(listing).to.include('client.list(ConfigMap).then(() => builder.deployment({');
    await writeFile(controller, listing);
    const failure: unknown = await test(folder, 'shop').catch((thrown: unknown) => thrown);
    const { stdout } = failure as { readonly stdout: string };
    expect(stdout).to.include('controller shop: its role does not allow to list configmaps');
    expect(stdout).to.include("requires: { type: ConfigMap, verbs: ['list'] }");
    expect(stdout).to.include("{ apiGroups: [''], resources: [configmaps], verbs: [list] }");
  });
});
