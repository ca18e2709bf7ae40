import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const run = promisify(execFile);
const program = resolve('scripts/release.js');

describe('scripts/release.js', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'release-'));
    await mkdir(join(folder, 'create-operator-builder'));
    for (const path of [
      'package.json',
      'package-lock.json',
      'create-operator-builder/package.json',
    ]) {
      await cp(path, join(folder, path));
    }
    await writeFile(
      join(folder, 'CHANGELOG.md'),
      '# Changelog\n\n## Unreleased\n\n- One change.\n',
    );
  });

  afterEach(() => rm(folder, { recursive: true }));

  const release = (...args: string[]) => run(process.execPath, [program, ...args], { cwd: folder });
  const failure = async (...args: string[]): Promise<string> => {
    const error: unknown = await release(...args).catch((reason: unknown) => reason);
    expect(error).to.have.property('code', 1);
    return (error as { readonly stderr: string }).stderr;
  };
  const text = (path: string) => readFile(join(folder, path), 'utf8');
  const manifest = async (path: string) => JSON.parse(await text(path)) as object;

  it('sets the version of both packages, and puts the unreleased changes under the heading of the version', async () => {
    await release('7.1.0');
    expect(await manifest('package.json')).to.include({ version: '7.1.0' });
    expect(await manifest('package-lock.json')).to.include({ version: '7.1.0' });
    expect(await manifest('create-operator-builder/package.json')).to.deep.include({
      version: '7.1.0',
      dependencies: { 'operator-builder': '^7.1.0' },
    });
    expect(await text('CHANGELOG.md')).to.equal(
      '# Changelog\n\n## Unreleased\n\n## 7.1.0\n\n- One change.\n',
    );
    await release('--check', 'v7.1.0');
  });

  it('keeps the formatting of package.json', async () => {
    const before = await text('package.json');
    const { version } = JSON.parse(before) as { readonly version: string };
    await release('7.1.0');
    expect((await text('package.json')).replace('7.1.0', version)).to.equal(before);
  });

  it('names the repository in both packages before they are published', async () => {
    const url = 'https://git.example/me/operators';
    await run(process.execPath, [resolve('scripts/repository.js'), url], { cwd: folder });
    const common = { homepage: `${url}#readme`, bugs: { url: `${url}/issues` } };
    const repository = { type: 'git', url: `git+${url}.git` };
    const directory = 'create-operator-builder';
    expect(await manifest('package.json')).to.deep.include({ ...common, repository });
    expect(await manifest('create-operator-builder/package.json')).to.deep.include({
      ...common,
      repository: { ...repository, directory },
    });
  });

  it('refuses a version that is invalid, a prerelease or not later', async () => {
    expect(await failure('7.1')).to.contain('7.1 is not a version');
    expect(await failure('7.1.0-rc.1')).to.contain('7.1.0-rc.1 is a prerelease');
    await release('7.1.0');
    await writeFile(join(folder, 'CHANGELOG.md'), '## Unreleased\n\n- Another.\n\n## 7.1.0\n');
    expect(await failure('7.1.0')).to.contain('7.1.0 is not later than 7.1.0');
    expect(await failure('7.0.9')).to.contain('7.0.9 is not later than 7.1.0');
  });

  it('refuses a release without changes', async () => {
    await writeFile(join(folder, 'CHANGELOG.md'), '## Unreleased\n\n## 0.0.1\n\n- Old.\n');
    expect(await failure('7.1.0')).to.contain('CHANGELOG.md has no changes');
  });

  it('refuses a tag whose version the packages or the changelog do not have', async () => {
    expect(await failure('--check', 'v9.9.9')).to.contain('tag v9.9.9: package.json has version');
    await release('7.1.0');
    await writeFile(join(folder, 'CHANGELOG.md'), '## Unreleased\n');
    expect(await failure('--check', 'v7.1.0')).to.contain('has no heading "## 7.1.0"');
  });
});
