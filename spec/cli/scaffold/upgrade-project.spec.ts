import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { readRecord, recordFiles } from '../../../lib/cli/scaffold/project-record.js';
import { parseProject } from '../../../lib/cli/scaffold/project-file.js';
import { planFiles, writeFiles } from '../../../lib/cli/scaffold/plan-files.js';
import { packageVersion } from '../../../lib/client/client-options.js';
import { cli, scratchDirectory } from '../cli.js';
import type { CliResult } from '../cli.js';
import { createWebhook, makeProject, textsIn } from './project.js';

function upgrade(folder: string, ...more: readonly string[]): Promise<CliResult> {
  return cli(['upgrade-project', '-C', folder, ...more]);
}

describe('operator-builder upgrade-project', () => {
  const file = scratchDirectory();

  /** Creates a project as if by an older version, whose templates had other texts. */
  async function makeOld(
    folder: string,
    changes: Readonly<Record<string, (text: string) => string>>,
  ): Promise<void> {
    await makeProject(folder, ['Shop', 'v1']);
    const path = `${folder}/PROJECT`;
    const project = parseProject(await readFile(path, 'utf8'), path);
    const texts = Object.entries(await textsIn(folder)).map(([name, text]) => {
      return [name, changes[name]?.(text) ?? text] as const;
    });
    const written = texts.map(([name, text]) => {
      return { path: name, text, before: undefined, action: 'create' } as const;
    });
    await writeFiles(folder, written, new AbortController().signal);
    const record = await recordFiles(folder, { project, rendered: new Map(texts), written });
    const files = await planFiles(record, { folder, force: true });
    await writeFiles(folder, files, new AbortController().signal);
    await edit(path, (text) => text.replace(`cliVersion: ${packageVersion}`, 'cliVersion: 0.0.1'));
  }

  async function edit(path: string, change: (text: string) => string): Promise<void> {
    const text = await readFile(path, 'utf8');
    expect(change(text)).not.to.equal(text);
    await writeFile(path, change(text));
  }

  it('changes nothing in a project of the current version of the templates', async () => {
    const folder = file('same');
    await makeProject(
      folder,
      ['Shop', 'v1'],
      ['Shop', 'v2'],
      ['Pot', 'v1', '--style', 'lifecycle'],
    );
    const before = await textsIn(folder);
    const { code, stderr } = await upgrade(folder, '--force');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(await textsIn(folder)).to.deep.equal(before);
  });

  it('finds a recorded text for each file except PROJECT and the files that manifests writes', async () => {
    const folder = file('record');
    await makeProject(folder, ['Shop', 'v1'], ['Shop', 'v2']);
    await createWebhook(folder, 'Shop', 'v1', '--validation', '--conversion');
    const texts = Object.entries(await textsIn(folder));
    const record = await readRecord(folder);
    expect(Object.fromEntries([...record].map(([path, { text }]) => [path, text]))).to.deep.equal(
      Object.fromEntries(texts.filter(([path]) => record.has(path))),
    );
    expect(texts.map(([path]) => path).filter((path) => !record.has(path))).to.deep.equal([
      ...['PROJECT', 'config/crd/bases/shop.example.com_shops.yaml'],
      'config/default/conversion_in_shop.example.com_shops.yaml',
      ...['config/rbac/leader_election_role.yaml', 'config/rbac/role.yaml'],
      'config/webhook/manifests.yaml',
    ]);
  });

  it('merges changes of the templates with changes of the user', async () => {
    const folder = file('merged');
    await makeOld(folder, {
      'src/main.ts': (text) => text.replace('stops cleanly on SIGTERM', 'an old remark'),
      Dockerfile: (text) => text.replace('not as root', 'as root'),
    });
    await edit(`${folder}/src/main.ts`, (text) =>
      text.replace('operator.main()', 'operator.main(myArguments)'),
    );
    const { code, stderr, stdout } = await upgrade(folder, '--force');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.include('changed Dockerfile').and.include('changed src/main.ts');
    const texts = await textsIn(folder);
    expect(texts['src/main.ts'])
      .to.include('stops cleanly on SIGTERM')
      .and.include('operator.main(myArguments)')
      .and.not.include('<<<<<<<');
    expect(texts['Dockerfile']).to.include('not as root');
    expect(texts['PROJECT']).to.include(`cliVersion: ${packageVersion}`);
    const again = await upgrade(folder, '--force');
    expect(again.stdout).not.to.include('changed src');
  });

  it('keeps the dependency on this package as the user has set it', async () => {
    const folder = file('dependency');
    await makeOld(folder, {
      'package.json': (text) =>
        text.replace(`"^${packageVersion}"`, '"^0.0.1"').replace('"eslint ."', '"eslint src"'),
    });
    const own = '"operator-builder": "file:operator-builder-0.1.0.tgz"';
    await edit(`${folder}/package.json`, (text) =>
      text.replace('"operator-builder": "^0.0.1"', own),
    );
    const { code, stderr } = await upgrade(folder, '--force');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const text = await readFile(`${folder}/package.json`, 'utf8');
    expect(text).to.include(own).and.include('"eslint ."').and.not.include('<<<<<<<');
  });

  it('upgrades a project in a repository with uncommitted changes outside of the project', async () => {
    const folder = file('repository/shops');
    await makeProject(folder);
    const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder });
    git('init', '--quiet', '..');
    git('add', '.');
    git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '-m', 'a');
    await writeFile(file('repository/notes.txt'), 'mine');
    expect(await upgrade(folder)).to.include({ code: 0, stderr: '' });
  });

  it('marks conflicts like git, lists them, and exits with 2', async () => {
    const folder = file('conflict');
    const remark = 'stops cleanly on SIGTERM';
    await makeOld(folder, { 'src/main.ts': (text) => text.replace(remark, 'an old remark') });
    await edit(`${folder}/src/main.ts`, (text) => text.replace('an old remark', 'my remark'));
    const { code, stdout } = await upgrade(folder, '--force');
    expect(code).to.equal(2);
    expect(stdout).to.include('edit src/main.ts  # it has conflicts');
    const text = await readFile(`${folder}/src/main.ts`, 'utf8');
    expect(text).to.match(
      /^<<<<<<< yours\n.*my remark.*\n=======\n.*SIGTERM.*\n>>>>>>> templates\n/,
    );
  });

  it('fails if git is missing, and says that it needs git to merge changes', async () => {
    const folder = file('no-git');
    const remark = 'stops cleanly on SIGTERM';
    await makeOld(folder, { 'src/main.ts': (text) => text.replace(remark, 'an old remark') });
    await edit(`${folder}/src/main.ts`, (text) => `${text}// mine\n`);
    const before = await textsIn(folder);
    const { PATH } = process.env;
    process.env['PATH'] = file('no-programs');
    try {
      expect(await upgrade(folder, '--force')).to.deep.include({
        code: 1,
        stderr:
          'error: git merge-file failed; install git, whose merge-file merges templates into your files\n',
      });
    } finally {
      process.env['PATH'] = PATH;
    }
    expect(await textsIn(folder)).to.deep.equal(before);
  });

  it('adds new files and deletes obsolete files, unless the user has changed them', async () => {
    const folder = file('files');
    await makeOld(folder, {});
    const path = `${folder}/PROJECT`;
    const project = parseProject(await readFile(path, 'utf8'), path);
    const gone = ['src/gone.ts', 'src/mine.ts'].map((name) => [name, 'export {};\n'] as const);
    const texts = Object.entries(await textsIn(folder)).filter(([name]) => name !== 'Dockerfile');
    const rendered = new Map([...texts, ...gone]);
    const same = { ...project, cliVersion: packageVersion };
    const record = await recordFiles(folder, { project: same, rendered, written: [] });
    const files = await planFiles(record, { folder, force: true });
    await writeFiles(folder, files, new AbortController().signal);
    await writeFile(`${folder}/src/gone.ts`, 'export {};\n');
    await writeFile(`${folder}/src/mine.ts`, 'export const mine = 1;\n');
    await rm(`${folder}/Dockerfile`);
    const { stdout } = await upgrade(folder, '--force');
    expect(stdout)
      .to.include('created Dockerfile')
      .and.include('deleted src/gone.ts')
      .and.include('rm src/mine.ts  # no longer in the templates');
  });

  it('refuses a project with uncommitted changes, or without a record of its files', async () => {
    const folder = file('refused');
    await makeProject(folder);
    const uncommitted = await upgrade(folder);
    expect(uncommitted.code).to.equal(1);
    expect(uncommitted.stderr).to.include(
      'commit first, so that the merge can be undone, or pass --force',
    );
    await rm(`${folder}/.operator-builder`, { recursive: true });
    const { stderr } = await upgrade(folder, '--force');
    expect(stderr).to.include('has no record of its templates');
  });
});
