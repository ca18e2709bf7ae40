import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { styles } from '../../../lib/cli/scaffold/styles.js';
import { scratchDirectory } from '../cli.js';
import { linkPackages } from '../project/project-copy.js';
import { createWebhook, makeProject } from './project.js';

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
