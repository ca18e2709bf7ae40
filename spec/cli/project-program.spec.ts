import { expect } from 'chai';
import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectProgram } from '../../lib/cli/project-program.js';
import { scratchDirectory } from './cli.js';

describe('projectProgram', () => {
  const file = scratchDirectory();

  /** Installs a version in a directory. */
  async function install(folder: string, manifest: unknown): Promise<string> {
    const root = file(folder, 'node_modules/operator-builder');
    await mkdir(join(root, 'dist'), { recursive: true });
    const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest);
    await writeFile(join(root, 'package.json'), text);
    await writeFile(join(root, 'dist/main.js'), '');
    return realpath(root);
  }

  const bin = { 'operator-builder': './dist/main.js' };
  let global = '';

  before(async () => {
    global = await install('global', { bin });
  });

  it('returns the program of the version in the project, from any directory of the project', async () => {
    const root = await install('shop', { version: '9.0.0', bin });
    await mkdir(file('shop/src/api'), { recursive: true });
    for (const folder of ['shop', 'shop/src/api']) {
      expect(projectProgram(file(folder), global)).to.equal(join(root, 'dist/main.js'));
    }
  });

  it('accepts a package.json whose bin is a single path', async () => {
    const root = await install('single', { bin: 'dist/main.js' });
    expect(projectProgram(file('single'), global)).to.equal(join(root, 'dist/main.js'));
  });

  it('returns undefined if the running program is the one in the project, also through a link', async () => {
    expect(projectProgram(file('global'), global)).to.equal(undefined);
    await mkdir(file('linked/node_modules'), { recursive: true });
    await symlink(global, file('linked/node_modules/operator-builder'));
    expect(projectProgram(file('linked'), global)).to.equal(undefined);
  });

  for (const [what, manifest] of [
    ['has no program', { version: '9.0.0' }],
    ['has a program that is not installed', { bin: './dist/other.js' }],
    ['is half written', '{ "bin":'],
  ] as const) {
    it(`returns undefined if the version of the project ${what}`, async () => {
      const folder = what.replaceAll(' ', '-');
      await install(folder, manifest);
      expect(projectProgram(file(folder), global)).to.equal(undefined);
    });
  }

  it('returns undefined without a project', async () => {
    await mkdir(file('empty'));
    expect(projectProgram(file('empty'), global)).to.equal(undefined);
  });
});
