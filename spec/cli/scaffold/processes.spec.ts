import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
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
