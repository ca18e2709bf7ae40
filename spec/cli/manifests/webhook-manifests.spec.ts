import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import { cli, scratchDirectory } from '../cli.js';
import { createWebhook, linkPackages, makeProject, textsIn } from '../scaffold/project.js';

describe('operator-builder manifests, of webhooks', () => {
  const file = scratchDirectory();

  it('takes the patch of a conversion that is gone out of config/default, and puts it back', async () => {
    await makeProject(file('shops'), ['Shop', 'v1alpha1'], ['Shop', 'v1']);
    await createWebhook(file('shops'), 'Shop', 'v1', '--conversion');
    await linkPackages(file('shops'));
    const manifests = () => cli(['manifests', '--project', file('shops')]);
    const before = await textsIn(file('shops/config'));
    expect((await manifests()).stdout).to.equal('The manifests are up to date.\n');

    const operator = await readFile(file('shops/src/operator.ts'), 'utf8');
    const without = operator.replace(/ +conversionWebhook\(Shop\),\n/, '');
    await writeFile(file('shops/src/operator.ts'), without);
    const patch = 'config/default/conversion_in_shop.example.com_shops.yaml';
    const list = 'config/default/kustomization.yaml';
    const { stdout } = await manifests();
    expect(stdout).to.include(`deleted ${patch}\n`).and.include(`changed ${list}\n`);
    const after = await textsIn(file('shops/config'));
    expect(after).not.to.have.any.keys('default/conversion_in_shop.example.com_shops.yaml');
    expect(after['default/kustomization.yaml']).not.to.include('conversion');

    await writeFile(file('shops/src/operator.ts'), operator);
    expect((await manifests()).stdout).to.include(`created ${patch}\n`);
    expect(await textsIn(file('shops/config'))).to.deep.equal(before);
  });
});
