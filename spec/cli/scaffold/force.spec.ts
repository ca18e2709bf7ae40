import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { cli, scratchDirectory } from '../cli.js';
import { linkPackages } from '../project/project-copy.js';
import { createApi, createWebhook, makeProject, textsIn } from './project.js';

describe('The option --force of operator-builder create', () => {
  const file = scratchDirectory();

  it('overwrites existing files, which are refused without it, and adds no lines twice', async () => {
    await makeProject(file('forced'), ['Shop']);
    const made = await textsIn(file('forced'));
    await writeFile(file('forced', 'src/controllers/shop-controller.ts'), 'mine');
    const { stderr } = await createApi(file('forced'));
    expect(stderr).to.include(
      'already has Shop v1alpha1 of shop; pass another version, or --force',
    );
    const { code, stdout } = await createApi(file('forced'), 'Shop', 'v1alpha1', '--force');
    expect(code).to.equal(0);
    expect(stdout).to.include('overwrote src/controllers/shop-controller.ts');
    expect(stdout).to.include('kept src/operator.ts');
    expect(await textsIn(file('forced'))).to.deep.equal(made);
  });

  it('overwrites the file of a further version, and keeps the conversion of the user', async () => {
    const folder = file('forced-version');
    await makeProject(folder, ['Shop'], ['Shop', 'v1']);
    await createWebhook(folder, 'Shop', 'v1alpha1', '--conversion');
    const path = join(folder, 'src/api/v1alpha1/shop.ts');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('toHub: (object) => ({ ...object })', 'toHub: mine'));
    const made = await textsIn(folder);
    await writeFile(join(folder, 'src/api/v1/shop.ts'), 'mine');
    const { code, stdout, stderr } = await createApi(folder, 'Shop', 'v1', '--force');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.include('overwrote src/api/v1/shop.ts');
    expect(await textsIn(folder)).to.deep.equal(made);
  });

  it('keeps the storage version when that version is created again', async () => {
    const folder = file('forced-stored');
    await makeProject(folder, ['Shop'], ['Shop', 'v1']);
    const [first, further] = ['v1alpha1', 'v1'].map((version) =>
      join(folder, `src/api/${version}/shop.ts`),
    ) as [string, string];
    const text = await readFile(first, 'utf8');
    await writeFile(first, text.replace(' storage: true,', ''));
    const own = await readFile(further, 'utf8');
    await writeFile(further, own.replace("  name: 'v1',", '$&\n  storage: true,'));
    linkPackages(folder);
    const manifests = ['manifests', '--project', folder];
    expect(await cli(manifests)).to.include({ code: 0, stderr: '' });
    const made = await textsIn(join(folder, 'config'));
    expect(await createApi(folder, 'Shop', 'v1', '--force')).to.include({ code: 0, stderr: '' });
    expect(await readFile(further, 'utf8')).to.include("  name: 'v1',\n  storage: true,\n");
    expect(await cli([...manifests, '--check'])).to.include({ code: 0, stderr: '' });
    expect(await textsIn(join(folder, 'config'))).to.deep.equal(made);
  });

  it('keeps plural, scope and style of a kind that is created again', async () => {
    const args = ['Ox', 'v1', '--plural', 'oxen', '--no-namespaced', '--style', 'resources'];
    await makeProject(file('again'), args);
    const made = await textsIn(file('again'));
    for (const flag of [[], ['--no-controller'], ['--no-resource']]) {
      const flags = ['--force', ...flag];
      const { code } = await createApi(file('again'), 'Ox', 'v1', ...flags);
      expect(code, flags.join(' ')).to.equal(0);
      expect(await textsIn(file('again')), flags.join(' ')).to.deep.equal(made);
    }
  });

  it('is suggested with a list of the existing files that it would overwrite', async () => {
    await makeProject(file('taken'));
    await writeFile(file('taken', 'config/samples/shop_v1alpha1_shop.yaml'), 'mine');
    const { code, stderr } = await createApi(file('taken'));
    expect(code).to.equal(1);
    expect(stderr).to.include('(--force overwrites them): config/samples/shop_v1alpha1_shop.yaml');
    expect(await textsIn(file('taken'))).not.to.include.keys('src/api/v1alpha1/shop.ts');
  });

  it('keeps a conversion of the user', async () => {
    const folder = file('own-conversion');
    await makeProject(folder, ['Shop'], ['Shop', 'v1']);
    const path = join(folder, 'src/api/v1alpha1/shop.ts');
    const own = "  conversion: { hub: 'v1alpha1', spokes: { v1: mine } },\n  printerColumns";
    const before = (await readFile(path, 'utf8')).replace('  printerColumns', own);
    await writeFile(path, before);
    for (const flags of [[], ['--force']]) {
      const args = ['--conversion', ...flags];
      const { code, stdout } = await createWebhook(folder, 'Shop', 'v1alpha1', ...args);
      expect(code).to.equal(0);
      expect(stdout).to.include('kept src/api/v1alpha1/shop.ts');
      expect(await readFile(path, 'utf8')).to.equal(before);
    }
    const { stderr } = await createWebhook(folder, 'Shop', 'v1alpha1', '--conversion');
    expect(stderr).to.equal(
      'error: Shop v1alpha1 already has conversion; --force overwrites its code, except the functions that convert\n',
    );
  });
});

describe('The option --force of operator-builder init', () => {
  const file = scratchDirectory();

  const init = (folder: string, ...more: readonly string[]) =>
    cli(['init', '--domain', 'example.com', '-C', folder, '--force', ...more]);

  it('keeps the kinds, the name and the options of a project, and restores other files', async () => {
    const folder = file('kinds');
    const named = ['--domain', 'example.com', '--name', 'shops', '-C', folder];
    await cli(['init', ...named, '--with', 'olm', '--test-runner', 'vitest']);
    await createApi(folder);
    await createWebhook(folder, 'Shop', 'v1alpha1', '--validation');
    const made = await textsIn(folder);
    await writeFile(join(folder, 'Dockerfile'), 'damaged');
    const { code, stdout, stderr } = await init(folder);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout)
      .to.include('overwrote Dockerfile\n')
      .and.include('kept PROJECT\n')
      .and.include('kept src/operator.ts\n')
      .and.include('kept config/crd/kustomization.yaml\n');
    expect(await textsIn(folder)).to.deep.equal(made);
    const text = await readFile(join(folder, 'PROJECT'), 'utf8');
    expect(text).to.include('kind: Shop').and.include('validation: true');
  });

  it('keeps files that the user has edited and that list the kinds', async () => {
    const folder = file('edited');
    await makeProject(folder, ['Shop']);
    const path = join(folder, 'src/operator.ts');
    const text = `${await readFile(path, 'utf8')}// mine\n`;
    await writeFile(path, text);
    expect(await init(folder)).to.include({ code: 0 });
    expect(await readFile(path, 'utf8')).to.equal(text);
  });

  it('keeps comments in the list of kinds, and the version of the templates in PROJECT', async () => {
    const folder = file('older');
    await makeProject(folder, ['Shop']);
    const path = join(folder, 'PROJECT');
    const before = await readFile(path, 'utf8');
    const older = before
      .replace(/^cliVersion: .*/m, 'cliVersion: 0.0.1')
      .replace('kind: Shop', 'kind: Shop # mine');
    await writeFile(path, older);
    expect(await init(folder)).to.include({ code: 0 });
    expect(await readFile(path, 'utf8')).to.equal(older);
  });

  it('adds optional parts to a project if the files of the parts do not list kinds', async () => {
    const folder = file('more');
    const named = ['--domain', 'example.com', '--name', 'shops', '-C', folder];
    await cli(['init', ...named, '--with', 'olm', '--test-runner', 'vitest']);
    await createApi(folder);
    expect(await init(folder, '--with', 'scorecard')).to.include({ code: 0, stderr: '' });
    const project = parse(await readFile(join(folder, 'PROJECT'), 'utf8')) as object;
    const parts = ['scorecard', 'olm'];
    expect(project).to.deep.include({ name: 'shops', parts, testRunner: 'vitest' });
  });

  it('adds optional parts and changes the test runner in a project without kinds', async () => {
    const folder = file('early');
    await makeProject(folder);
    const more = ['--with', 'olm', '--test-runner', 'vitest'];
    expect(await init(folder, ...more)).to.include({ code: 0, stderr: '' });
    const project = parse(await readFile(join(folder, 'PROJECT'), 'utf8')) as object;
    expect(project).to.deep.include({ parts: ['olm'], testRunner: 'vitest' });
  });

  it('refuses optional parts whose files list kinds if the project has kinds', async () => {
    const folder = file('late');
    await makeProject(folder, ['Shop']);
    const made = await textsIn(folder);
    expect(await init(folder, '--with', 'olm')).to.deep.include({
      code: 1,
      stderr:
        'error: --with olm: the project has kinds, which its files would lack; create a project with it and with the same kinds in an empty folder, and copy its files\n',
    });
    expect(await textsIn(folder)).to.deep.equal(made);
  });

  it('changes the name and the domain of a project without kinds', async () => {
    const folder = file('renamed');
    await makeProject(folder);
    const args = ['--domain', 'example.org', '--name', 'pots', '-C', folder];
    expect(await cli(['init', ...args, '--force'])).to.include({ code: 0, stderr: '' });
    const text = await readFile(join(folder, 'src/operator.ts'), 'utf8');
    expect(text).to.include("new Operator('pots', {");
    const project = await readFile(join(folder, 'PROJECT'), 'utf8');
    expect(project).to.include('name: pots\ndomain: example.org\n');
  });

  for (const [field, args, is] of [
    ['name', ['--name', 'pots'], 'shops'],
    ['domain', ['--domain', 'example.org'], 'example.com'],
    ['test-runner', ['--test-runner', 'vitest'], 'node'],
  ] as const) {
    it(`refuses another ${field} for a project with kinds`, async () => {
      const folder = file(field);
      await makeProject(folder, ['Shop']);
      const made = await textsIn(folder);
      const { code, stderr } = await init(folder, ...args);
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: `error: --${field}: the kinds of the project were created with ${is}; give the same, or choose an empty folder\n`,
      });
      expect(await textsIn(folder)).to.deep.equal(made);
    });
  }

  it('refuses a PROJECT that it cannot read, such as one of kubebuilder', async () => {
    const folder = file('foreign');
    await makeProject(folder);
    const text = 'layout: [go.kubebuilder.io/v4]\nresources: [{ kind: Shop }]\n';
    await writeFile(join(folder, 'PROJECT'), text);
    const { code, stderr } = await init(folder);
    expect(code).to.equal(1);
    expect(stderr)
      .to.include('another tool may have written it')
      .and.include('choose another folder, or move the file away');
    expect(await readFile(join(folder, 'PROJECT'), 'utf8')).to.equal(text);
  });
});
