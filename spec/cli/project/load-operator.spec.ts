import { expect } from 'chai';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { loadOperator } from '../../../lib/cli/load-operator.js';
import { scratchDirectory } from '../cli.js';
import { shopProject } from './shop-project.js';

const repository = join(import.meta.dirname, '../../..');

/** Returns the reason why an operator cannot be loaded. */
async function refusal(directory: string): Promise<string> {
  const error = await loadOperator(directory).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).to.include({ code: 'InvalidConfig' });
  return (error as Error).message;
}

describe('The operator of a project', () => {
  const scratch = scratchDirectory();
  let count = 0;

  /** Creates a project with these files and esbuild. */
  async function projectOf(files: Readonly<Record<string, string>>): Promise<string> {
    const root = scratch(`project-${count++}`);
    const all = { 'package.json': '{ "type": "module" }', ...files };
    for (const [name, text] of Object.entries(all)) {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), text);
    }
    await mkdir(join(root, 'node_modules'));
    await symlink(join(repository, 'node_modules/esbuild'), join(root, 'node_modules/esbuild'));
    return root;
  }

  const exporting = (operator: string) =>
    projectOf({ 'src/operator.ts': `export const operator = ${operator};\n` });

  it('is loaded from its sources, from any directory of the project', async () => {
    const { root, operator, files } = await loadOperator(join(shopProject, 'src/controllers'));
    expect(root).to.equal(shopProject);
    expect(operator.name).to.equal('shops');
    expect(operator.resources?.map(({ kind }) => kind)).to.deep.equal(['Shop']);
    expect(files).to.include(join(shopProject, 'src/controllers/shop-controller.ts'));
  });

  it('is loaded again after its sources have changed', async () => {
    const root = await exporting(`{ name: 'one', setup() {} }`);
    expect((await loadOperator(root)).operator.name).to.equal('one');
    const changed = `export const operator = { name: 'two', setup() {} };`;
    await writeFile(join(root, 'src/operator.ts'), changed);
    expect((await loadOperator(root)).operator.name).to.equal('two');
  });

  it('can read files relative to its sources, like the deployed bundle', async () => {
    const read = "readFileSync(new URL('../name.txt', import.meta.url), 'utf8')";
    const root = await projectOf({
      'src/operator.ts': `import { readFileSync } from 'node:fs';
        const [dirname, filename] = [import.meta.dirname, import.meta.filename];
        export const operator = { name: ${read}, setup() {}, dirname, filename };`,
      'name.txt': 'shops',
    });
    const { operator } = await loadOperator(root);
    expect(operator).to.include({
      ...{ name: 'shops', dirname: join(root, 'src'), filename: join(root, 'src/operator.ts') },
    });
  });

  it('is loaded without the state of an earlier load', async () => {
    const root = await exporting(`{ name: 'one', setup() {}, seen: [] }`);
    const seenBy = async (): Promise<string[]> =>
      ((await loadOperator(root)).operator as unknown as { seen: string[] }).seen;
    (await seenBy()).push('a shop');
    expect(await seenBy()).to.deep.equal([]);
  });

  it('is refused without a project', async () => {
    expect(await refusal('/'))
      .to.include('is not inside a project')
      .and.include('operator-builder init');
  });

  it('is refused for a missing directory, or a file, in a project', async () => {
    const missing = join(shopProject, 'srk');
    expect(await refusal(missing)).to.include(`${missing}: there is no such directory`);
    const path = join(shopProject, 'package.json');
    expect(await refusal(path)).to.include(`${path}: it is not a directory`);
  });

  it('is refused for a directory that cannot be read, with the reason', async () => {
    const loop = join(await projectOf({}), 'loop');
    await symlink(loop, loop);
    expect(await refusal(loop)).to.include(`${loop} can't be read: ELOOP`);
  });

  it('is refused without src/operator.ts', async () => {
    expect(await refusal(await projectOf({}))).to.include('has no src/operator.ts');
  });

  it('is refused without esbuild', async () => {
    const root = scratch('bare');
    await mkdir(join(root, 'src'), { recursive: true });
    await writeFile(join(root, 'package.json'), '{}');
    await writeFile(join(root, 'src/operator.ts'), '');
    // An esbuild in a parent directory does not count.
    await mkdir(join(root, 'node_modules/esbuild'), { recursive: true });
    await writeFile(join(root, 'node_modules/esbuild/package.json'), '{ "exports": {} }');
    expect(await refusal(root))
      .to.include('has no esbuild')
      .and.include('npm install');
  });

  it('is refused with the messages of esbuild if it does not compile', async () => {
    const root = await projectOf({
      'src/operator.ts': `import './other.js';\nimport './missing.js';`,
      'src/other.ts': 'const = 1;',
    });
    const message = await refusal(root);
    expect(message).to.include('does not compile').and.include('src/other.ts:1:6');
    expect(message).to.include('src/operator.ts:2:7').and.include('./missing.js');
  });

  it('is refused with the reason if esbuild itself fails', async () => {
    const root = scratch('failing');
    const files = {
      'package.json': '{}',
      'src/operator.ts': '',
      'node_modules/esbuild/package.json': '{ "main": "main.cjs" }',
      'node_modules/esbuild/main.cjs':
        "exports.build = () => Promise.reject(new Error('no binary for this machine'));",
    };
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), text);
    }
    expect(await refusal(root)).to.equal(
      `src/operator.ts of ${root} does not compile:\nno binary for this machine`,
    );
  });

  it('is refused if a package that it imports is missing, or if it throws', async () => {
    const lacking = await projectOf({ 'src/operator.ts': `import 'no-such-package';` });
    expect(await refusal(lacking))
      .to.include('no-such-package')
      .and.include('npm install');
    const throwing = await projectOf({ 'src/operator.ts': `throw new Error('no door');` });
    expect(await refusal(throwing)).to.include("can't be loaded: no door");
  });

  it('is refused if no export is named operator', async () => {
    const root = await projectOf({ 'src/operator.ts': 'export const shops = 1, bars = 2;' });
    const message = await refusal(root);
    expect(message)
      .to.include('no export named operator, got bars, shops')
      .and.include('add: export const');
  });

  for (const [what, operator, says] of [
    ['a number in place of an object', '5', 'want an object, got number'],
    ['a missing name', '{ setup() {} }', 'name: want a string, got undefined'],
    ['an invalid name', `{ name: 'Shops!', setup() {} }`, 'name: "Shops!" must be lower'],
    ['an invalid setup', `{ name: 'a', setup: 1 }`, 'setup: want a function, got number'],
    [
      'invalid resources',
      `{ name: 'a', setup() {}, resources: [{}] }`,
      'resources[0]: want a result',
    ],
    ['invalid webhooks', `{ name: 'a', setup() {}, webhooks: {} }`, 'webhooks: want an array'],
  ] as const) {
    it(`is refused with ${what}`, async () => {
      expect(await refusal(await exporting(operator))).to.include(says);
    });
  }
});
