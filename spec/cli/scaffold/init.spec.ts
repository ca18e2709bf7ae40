import { expect } from 'chai';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { packageVersion } from '../../../lib/client/client-options.js';
import { cli, scratchDirectory } from '../cli.js';
import { createApi, createWebhook, makeProject, textsIn } from './project.js';

describe('operator-builder init', () => {
  const file = scratchDirectory();

  it('creates a project with its name and domain in place of the placeholders of the templates', async () => {
    const [result] = await makeProject(file('shops'));
    expect(result).to.include({ code: 0, stderr: '' });
    expect(result?.stdout).to.include('created src/main.ts').and.include('npm install');
    const texts = await textsIn(file('shops'));
    expect(Object.keys(texts)).to.include.members([
      ...['.dockerignore', '.github/workflows/ci.yml', '.gitignore', 'Dockerfile', 'PROJECT'],
      ...['package.json', 'src/main.ts', 'src/operator.ts', 'tsconfig.json'],
      ...['config/default/kustomization.yaml', 'config/manager/manager.yaml'],
    ]);
    expect(parse(texts['PROJECT'] ?? '')).to.deep.equal({
      ...{ layout: 'operator-builder/v1', name: 'shops', domain: 'example.com', resources: [] },
      cliVersion: packageVersion,
    });
    expect(texts['src/operator.ts']).to.include("new Operator('shops', {");
    const all = Object.entries(texts).flat().join('\n');
    expect(all).not.to.match(/operator-name|domain\.example|operator-builder:(?:if|end)/);
  });

  it('creates tests for Vitest, also for kinds that are added later', async () => {
    const folder = file('vitest');
    const named = ['--domain', 'example.com', '--name', 'shops', '-C', folder];
    const made = await cli(['init', ...named, '--test-runner', 'vitest']);
    expect(made).to.include({ code: 0, stderr: '' });
    await createApi(folder, 'Shop', 'v1');
    await createWebhook(folder, 'Shop', 'v1', '--validation');
    const texts = await textsIn(folder);
    const { scripts, devDependencies } = JSON.parse(texts['package.json'] ?? '') as {
      readonly scripts: object;
      readonly devDependencies: object;
    };
    expect(scripts)
      .to.have.property('test')
      .that.matches(/^vitest run /);
    expect(devDependencies).to.have.property('vitest');
    expect(texts['test/shop-controller.test.ts'])
      .to.include("import { test } from 'vitest';")
      .and.include('onTestFinished(');
    expect(texts['test/shop-v1-webhook.test.ts']).to.include(
      "import { afterAll as after, beforeAll as before, test } from 'vitest';",
    );
    expect(texts['.vscode/launch.json']).to.include('vitest/vitest.mjs');
    expect(texts['PROJECT']).to.include('\ntestRunner: vitest\n');
  });

  it('creates a multi-platform, labeled image that does not run as root', async () => {
    await makeProject(file('image'));
    const { Dockerfile = '' } = await textsIn(file('image'));
    expect(Dockerfile).to.match(/^FROM --platform=\$BUILDPLATFORM \$\{BUILD_IMAGE\} AS build$/m);
    expect(Dockerfile).to.match(/^RUN npm ci /m);
    expect(Dockerfile).to.match(/^USER 65532:65532$/m);
    for (const label of ['title="shops"', 'description=', 'version=', 'revision=']) {
      expect(Dockerfile).to.include(`org.opencontainers.image.${label}`);
    }
  });

  it('creates no scripts with names that npm runs on its own', async () => {
    await makeProject(file('scripts'));
    const { 'package.json': text = '' } = await textsIn(file('scripts'));
    const { scripts } = JSON.parse(text) as { readonly scripts: Readonly<Record<string, string>> };
    expect(Object.keys(scripts)).to.include.members([
      ...['docker:build', 'docker:push', 'crds:install', 'crds:uninstall'],
      ...['deploy', 'undeploy', 'test:e2e'],
    ]);
    const hooks = /^(?:pre|post|prepare|install$|uninstall$|publish$|version$|restart$|stop$)/;
    expect(Object.keys(scripts).filter((name) => hooks.test(name))).to.deep.equal([]);
  });

  it('pins actions in CI to commits', async () => {
    await makeProject(file('actions'));
    const { '.github/workflows/ci.yml': text = '' } = await textsIn(file('actions'));
    const used = [...text.matchAll(/uses: (\S+)/g)].map(([, action]) => action);
    expect(used).to.have.length(2);
    for (const action of used) expect(action).to.match(/^actions\/[a-z-]+@[0-9a-f]{40}$/);
  });

  it('sets fields of package.json from options, and the name from the directory', async () => {
    const given = { repo: 'https://git.example/pots', license: 'MIT', owner: 'A <a@example.com>' };
    const options = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
    const args = ['init', '--domain', 'example.com', '-C', file('pots'), ...options];
    await writeFile(file('lib.tgz'), 'packed');
    expect((await cli([...args, '--package', 'file:../lib.tgz'])).code).to.equal(0);
    const texts = await textsIn(file('pots'));
    expect(JSON.parse(texts['package.json'] ?? '')).to.deep.include({
      ...{ name: 'pots', repository: given.repo, license: 'MIT', author: given.owner },
      dependencies: { 'operator-builder': 'file:lib.tgz' },
    });
    // The build context of an image is the project alone.
    expect(texts['lib.tgz']).to.equal('packed');
  });

  it('writes nothing with --dry-run, and prints the files as JSON', async () => {
    const args = ['init', '--domain', 'example.com', '-C', file('dry'), '--dry-run'];
    const { code, stdout } = await cli([...args, '--output', 'json']);
    const said = JSON.parse(stdout) as Readonly<Record<'files', { path: string }[]>>;
    expect(code).to.equal(0);
    expect(said).to.deep.include({ folder: file('dry'), dryRun: true });
    expect(said.files).to.deep.include({ path: 'src/main.ts', action: 'create' });
    expect(await readdir(file())).not.to.include('dry');
  });

  it('refuses a directory that is not empty, unless forced', async () => {
    await mkdir(file('full'));
    await writeFile(file('full', 'notes.txt'), 'mine');
    await writeFile(file('full', 'Dockerfile'), 'mine');
    await writeFile(file('full', 'README.md'), 'mine');
    const args = ['init', '--domain', 'example.com', '-C', file('full')];
    const refused = await cli(args);
    expect(refused.code).to.equal(1);
    expect(refused.stderr)
      .to.include('is not empty (Dockerfile, notes.txt)')
      .and.include('--force');
    expect(await textsIn(file('full'))).to.have.all.keys('Dockerfile', 'README.md', 'notes.txt');
    const { code, stdout } = await cli([...args, '--force']);
    expect(code).to.equal(0);
    expect(stdout).to.include('overwrote Dockerfile\n').and.include('kept README.md\n');
    const kept = { 'notes.txt': 'mine', 'README.md': 'mine' };
    expect(await textsIn(file('full'))).to.deep.include(kept);
  });

  it('creates a project in a fresh clone of a repository, and keeps the files of the clone', async () => {
    const own = {
      ...{ '.git/config': '[core]', '.gitignore': 'node_modules\n', 'README.md': '# Shops\n' },
      ...{ LICENSE: 'MIT', 'CODE_OF_CONDUCT.md': 'Be kind.', '.github/CODEOWNERS': '* @me' },
    };
    for (const [path, text] of Object.entries(own)) {
      await mkdir(join(file('clone'), dirname(path)), { recursive: true });
      await writeFile(file('clone', path), text);
    }
    const args = ['init', '--domain', 'example.com', '-C', file('clone')];
    const { code, stdout, stderr } = await cli(args);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout)
      .to.include('kept README.md\n')
      .and.include('kept .gitignore (add to it: dist/ *.log .env .env.* !.env.example *kubeconfig ')
      .and.include('created package.json\n');
    expect(await textsIn(file('clone'))).to.deep.include(own);
  });

  for (const [args, says] of [
    [['--domain', 'Example'], '--domain: "Example" must be lower case letters'],
    [['--domain', 'example.com', '--name', '1st'], '--name: "1st" must be'],
    [['--domain', 'example.com', '--name', 'a'.repeat(37)], 'at most 36 are allowed'],
    [['--domain', 'example.com', '--repo', 'not a url'], '--repo: want a URL'],
    [['--domain', 'example.com', '--license', 'Bad Lic'], '--license: want an SPDX expression'],
    [
      ['--domain', 'example.com', '--license', 'BadLic'],
      '"BadLic"; for other licenses write "SEE LICENSE',
    ],
    [['--domain', 'example.com', '--license', 'MIT OR'], '--license: want an SPDX expression'],
    [['--domain', 'example.com', '--package', 'nonexist.tgz'], 'nonexist.tgz does not exist; '],
    [['--domain', 'example.com', '--package', '$(reboot)'], '--package: want a version'],
    [[], "required option '--domain <domain>' not specified"],
  ] as const) {
    it(`refuses ${args.join(' ') || 'no domain'}, without creating a directory`, async () => {
      const { code, stderr } = await cli(['init', '-C', file('bad'), ...args]);
      expect(code).to.equal(1);
      expect(stderr).to.include(says);
      expect(await readdir(file())).not.to.include('bad');
    });
  }

  for (const license of [
    ...['MIT', 'Apache-2.0', 'GPL-2.0+', '(MIT OR GPL-3.0-or-later WITH GCC-exception-3.1)'],
    ...['UNLICENSED', 'LicenseRef-Ours', 'SEE LICENSE IN LICENSE'],
  ]) {
    it(`accepts the license ${license}`, async () => {
      const args = ['--domain', 'example.com', '-C', file('licensed'), '--dry-run'];
      expect(await cli(['init', ...args, '--license', license])).to.include({ code: 0 });
    });
  }

  it('requires --name if the name of the directory is invalid', async () => {
    const { code, stderr } = await cli(['init', '-C', file('Foo_Bar'), '--domain', 'example.com']);
    expect(code).to.equal(1);
    expect(stderr).to.include(
      'give --name, because the name of the folder is invalid: "Foo_Bar" must be',
    );
  });
});
