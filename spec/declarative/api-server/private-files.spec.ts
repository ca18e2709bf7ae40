import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { writePrivateFiles } from '../../../lib/declarative/api-server/generate-keys.js';

describe('writePrivateFiles', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'private-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('changes no file and leaves no temporary file behind when one file cannot be written', async () => {
    const [first, second] = [join(folder, 'a'), join(folder, 'missing', 'b')];
    await writeFile(first, 'old');
    const texts = new Map([
      [first, 'new'],
      [second, 'new'],
    ]);
    for (const force of [true, false]) {
      const error: unknown = await writePrivateFiles(texts, { force }).catch((one: unknown) => one);
      expect(error).to.have.property('code', 'ENOENT');
      expect(await readdir(folder)).to.deep.equal(['a']);
      expect(await readFile(first, 'utf8')).to.equal('old');
    }
  });

  it('leaves no temporary file behind when a directory has the name of a file', async () => {
    await mkdir(join(folder, 'a'));
    const texts = new Map([[join(folder, 'a'), 'new']]);
    for (const force of [true, false]) {
      const error: unknown = await writePrivateFiles(texts, { force }).catch((one: unknown) => one);
      expect(error).to.be.instanceOf(Error);
      expect(await readdir(folder)).to.deep.equal(['a']);
    }
  });
});
