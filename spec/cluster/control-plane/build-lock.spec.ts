import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withBuildLock } from './build-lock.js';

describe('withBuildLock', () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'build-lock-'));
    path = join(folder, 'lock');
  });

  afterEach(() => rm(folder, { recursive: true }));

  const ignore = () => undefined;

  it('lets one process at a time build, and tells a waiting process which process builds', async () => {
    const told: string[] = [];
    let inside = 0;
    const work = async () => {
      expect(++inside).to.equal(1);
      while (told.length === 0) await new Promise(setImmediate);
      inside--;
    };
    const lock = () => withBuildLock(path, (holder) => told.push(holder), work);
    await Promise.all([lock(), lock()]);
    expect(told).to.deep.equal([String(process.pid)]);
  });

  it('takes over the lock of a process that no longer runs', async () => {
    await writeFile(path, String(spawnSync('true').pid));
    expect(await withBuildLock(path, ignore, async () => 'built')).to.equal('built');
  });

  it('releases the lock after a failure', async () => {
    const failure = withBuildLock(path, ignore, () => Promise.reject(new Error('no space')));
    expect(await failure.catch(String)).to.equal('Error: no space');
    expect(existsSync(path)).to.be.false;
  });
});
