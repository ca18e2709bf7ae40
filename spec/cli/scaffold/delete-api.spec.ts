import { expect } from 'chai';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { cli, scratchDirectory } from '../cli.js';
import type { CliResult } from '../cli.js';
import { linkPackages } from '../project/project-copy.js';
import { createApi, createWebhook, makeProject, textsIn } from './project.js';

function deleteApi(folder: string, kind: string, ...more: string[]): Promise<CliResult> {
  return cli(['delete', 'api', '--group', 'shop', '--kind', kind, '-C', folder, ...more]);
}

describe('operator-builder delete api', () => {
  const file = scratchDirectory();

  it('deletes everything that create api and create webhook created for a kind', async () => {
    const folder = file('whole');
    await makeProject(folder, ['Pot', 'v1', '--style', 'resources']);
    linkPackages(folder);
    const before = await textsIn(folder);
    await makeProject(
      file('other'),
      ['Pot', 'v1', '--style', 'resources'],
      ['Shop'],
      ['Shop', 'v1'],
    );
    const flags = ['--defaulting', '--validation', '--conversion'];
    await createWebhook(file('other'), 'Shop', 'v1alpha1', ...flags);
    linkPackages(file('other'));
    const dry = await deleteApi(file('other'), 'Shop', '--dry-run');
    expect(dry.stdout).to.include('would delete src/api/v1alpha1/shop.ts');
    const { code, stderr, stdout } = await deleteApi(file('other'), 'Shop');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.include('deleted src/webhooks/v1alpha1/shop-webhook.ts');
    expect(await cli(['manifests', '--project', file('other')])).to.include({
      code: 0,
      stderr: '',
    });
    expect(await textsIn(file('other'))).to.deep.equal(before);
  });

  it('deletes a kind with a name that create api no longer accepts', async () => {
    const folder = file('long');
    await makeProject(folder, ['Pot', 'v1']);
    const before = await textsIn(folder);
    const kind = `A${'b'.repeat(61)}`;
    const entry = `{ group: shop, version: v1, kind: ${kind}, plural: ${kind.toLowerCase()}s, scope: Namespaced }`;
    await writeFile(`${folder}/PROJECT`, `${before['PROJECT'] ?? ''}  - ${entry}\n`);
    expect(await deleteApi(folder, kind)).to.include({ code: 0, stderr: '' });
    expect(await textsIn(folder)).to.deep.equal(before);
  });

  it('keeps files that the user has changed, and lists them', async () => {
    const folder = file('changed');
    await makeProject(folder, ['Shop'], ['Pot', 'v1']);
    const controller = `${folder}/src/controllers/shop-controller.ts`;
    await writeFile(controller, `// mine\n${await readFile(controller, 'utf8')}`);
    const operator = `${folder}/src/operator.ts`;
    const text = await readFile(operator, 'utf8');
    await writeFile(operator, `// mine\n${text}`);
    const planned = await deleteApi(folder, 'Shop', '--dry-run');
    expect(planned.stdout).to.match(
      /\nLeft to you:\n {2}rm src\/controllers\/shop-controller\.ts {2}# it has your changes\n\nNothing was written\.\n$/,
    );
    const { code, stdout } = await deleteApi(folder, 'Shop');
    expect(code).to.equal(0);
    expect(stdout)
      .to.include('  rm src/controllers/shop-controller.ts  # it has your changes')
      .and.include('changed src/operator.ts');
    const texts = await textsIn(folder);
    expect(texts['src/controllers/shop-controller.ts']).to.match(/^\/\/ mine\n/);
    expect(texts).not.to.include.keys('src/api/v1alpha1/shop.ts');
    expect(texts['src/operator.ts'])
      .to.match(/^\/\/ mine\n/)
      .and.not.match(/Shop/);
    expect(texts['src/operator.ts']).to.include('setupPotController(operator);');
  });

  it('deletes a kind with webhooks, whatever the order in which kinds and webhooks were created', async () => {
    const flags = ['--defaulting', '--validation'];
    await makeProject(file('alone'), ['Pot', 'v1']);
    await createWebhook(file('alone'), 'Pot', 'v1', ...flags);
    for (const isWindows of [false, true]) {
      const folder = file(`mixed-${isWindows}`);
      await makeProject(folder, ['Shop', 'v1'], ['Shop', 'v2']);
      await createWebhook(folder, 'Shop', 'v1', ...flags, '--conversion');
      await createApi(folder, 'Pot', 'v1');
      await createWebhook(folder, 'Pot', 'v1', ...flags);
      const operator = `${folder}/src/operator.ts`;
      const text = await readFile(operator, 'utf8');
      if (isWindows) await writeFile(operator, text.replaceAll('\n', '\r\n'));
      const { code, stdout } = await deleteApi(folder, 'Shop');
      expect(code).to.equal(0);
      expect(stdout).not.to.include('next to your changes');
      const left = await readFile(operator, 'utf8');
      const alone = await readFile(file('alone/src/operator.ts'), 'utf8');
      expect(left).to.equal(isWindows ? alone.replaceAll('\n', '\r\n') : alone);
    }
  });

  it('deletes a kind that was created after the webhooks of another kind', async () => {
    const folder = file('last');
    await makeProject(folder, ['Shop', 'v1'], ['Shop', 'v2']);
    await createWebhook(folder, 'Shop', 'v1', '--validation', '--conversion');
    const before = await readFile(`${folder}/src/operator.ts`, 'utf8');
    await createWebhook(folder, 'Shop', 'v2', '--validation');
    const named = ['--group', 'core', '--kind', 'Pod', '-C', folder];
    await cli(['create', 'api', ...named, '--version', 'v1', '--no-resource']);
    expect(await cli(['delete', 'api', ...named])).to.include({ code: 0, stderr: '' });
    const after = await readFile(`${folder}/src/operator.ts`, 'utf8');
    expect(before).not.to.include('shopV2Webhooks');
    expect(after).to.include('shopV2Webhooks').and.not.match(/pod/i);
  });

  it('removes its own import, and keeps the import that the user added from the same module', async () => {
    const folder = file('imports');
    await makeProject(folder, ['Pot', 'v1'], ['Shop', 'v1']);
    const operator = `${folder}/src/operator.ts`;
    const own = `import type { Opened } from './api/v1/shop.js';\n`;
    await writeFile(operator, own + (await readFile(operator, 'utf8')));
    expect(await deleteApi(folder, 'Shop')).to.include({ code: 0, stderr: '' });
    const text = await readFile(operator, 'utf8');
    expect(text.startsWith(own)).to.equal(true);
    expect(text).not.to.match(/import \{ Shop/);
  });

  it('lists the files that import a deleted file, such as a renamed controller', async () => {
    const folder = file('renamed');
    await makeProject(folder, ['Pot', 'v1'], ['Shop', 'v1']);
    const controllers = `${folder}/src/controllers`;
    await rename(`${controllers}/shop-controller.ts`, `${controllers}/shops.ts`);
    const own = "import { Shop } from '../src/api/v1/shop.js';\nexport const kinds = [Shop];\n";
    await writeFile(`${folder}/test/kinds.ts`, own);
    const { code, stdout } = await deleteApi(folder, 'Shop');
    expect(code).to.equal(0);
    const note = '# it imports src/api/v1/shop.ts, which is deleted';
    expect(stdout)
      .to.include(`  edit src/controllers/shops.ts  ${note}\n`)
      .and.include(`  edit test/kinds.ts  ${note}\n`)
      .and.not.include('pot-controller');
  });

  it('keeps an entry to which the user has added a line, and lists the file of the entry', async () => {
    const folder = file('extended');
    await makeProject(folder, ['Shop', 'v1']);
    await createWebhook(folder, 'Shop', 'v1', '--validation');
    const manager = `${folder}/config/manager/manager.yaml`;
    const text = await readFile(manager, 'utf8');
    const port = 'containerPort: 9443';
    const own = text.replace(port, `${port}\n              protocol: TCP`);
    await writeFile(manager, own);
    const { stdout } = await deleteApi(folder, 'Shop');
    expect(await readFile(manager, 'utf8')).to.equal(own);
    expect(stdout).to.include('edit config/manager/manager.yaml');
  });

  it('deletes a version that was derived from an edited schema', async () => {
    const folder = file('derived');
    await makeProject(folder, ['Shop', 'v1']);
    const schema = `${folder}/src/api/v1/shop.ts`;
    await writeFile(
      schema,
      (await readFile(schema, 'utf8')).replace('minLength: 1', 'minLength: 2'),
    );
    await cli([
      'create',
      'api',
      '--group',
      'shop',
      '--version',
      'v2',
      '--kind',
      'Shop',
      '-C',
      folder,
    ]);
    const { stdout } = await deleteApi(folder, 'Shop');
    expect(stdout).to.include('deleted src/api/v2/shop.ts').and.include('rm src/api/v1/shop.ts');
  });

  it('fails and names the file PROJECT if the kinds in it cannot be created again', async () => {
    const folder = file('edited');
    await makeProject(folder, ['Pot'], ['Shop', 'v1'], ['Shop', 'v2']);
    await createWebhook(folder, 'Shop', 'v1', '--conversion');
    const text = await readFile(`${folder}/PROJECT`, 'utf8');
    await writeFile(
      `${folder}/PROJECT`,
      text.replace(/ {2}- group: shop\n {4}version: v2[^]*$/, ''),
    );
    const { code, stderr } = await deleteApi(folder, 'Pot');
    expect(code).to.equal(1);
    expect(stderr).to.include(
      `the templates can't be filled from ${folder}/PROJECT; correct that file: --conversion: Shop has only one version`,
    );
  });

  it('refuses an unknown kind', async () => {
    await makeProject(file('none'), ['Shop']);
    const { code, stderr } = await deleteApi(file('none'), 'Pot');
    expect(code).to.equal(1);
    expect(stderr).to.include('has no Pot of shop; want one of Shop of shop');
  });
});
