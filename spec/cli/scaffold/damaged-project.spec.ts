import { expect } from 'chai';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { scratchDirectory } from '../cli.js';
import { createApi, makeProject, textsIn } from './project.js';

const definition = 'config/crd/bases/shop.example.com_shops.yaml';

describe('create api in a project with damaged files', () => {
  const file = scratchDirectory();

  before(() => makeProject(file('shops'), ['Shop']));

  for (const [what, spec] of [
    ['versions', '{ group: shop.example.com }'],
    ['a list of versions', '{ versions: v1 }'],
    ['a stored version', '{ versions: [{ name: v1, served: true, storage: false }] }'],
  ] as const) {
    it(`refuses a further version of a definition without ${what}`, async () => {
      const whole = await readFile(file('shops', definition), 'utf8');
      await writeFile(file('shops', definition), `spec: ${spec}\n`);
      const before = await textsIn(file('shops'));
      const { code, stderr } = await createApi(file('shops'), 'Shop', 'v2');
      expect(code).to.equal(1);
      expect(stderr).to.equal(
        `error: ${definition} has no stored version; restore its versions, or delete the file and run the command again\n`,
      );
      expect(await textsIn(file('shops'))).to.deep.equal(before);
      await writeFile(file('shops', definition), whole);
    });
  }

  it('refuses a project that lacks a file to change', async () => {
    await rm(file('shops/src/operator.ts'));
    const before = await textsIn(file('shops'));
    const { code, stderr } = await createApi(file('shops'), 'Pot');
    expect(code).to.equal(1);
    expect(stderr).to.include(
      'src/operator.ts does not exist, but has to be changed; restore it from version control',
    );
    expect(await textsIn(file('shops'))).to.deep.equal(before);
  });
});
