import { expect } from 'chai';
import { mkdir, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { planFiles, writeFiles } from '../../../lib/cli/scaffold/plan-files.js';
import type { PlannedFile, WantedFile } from '../../../lib/cli/scaffold/plan-files.js';
import { scratchDirectory } from '../cli.js';
import { textsIn } from './project.js';

const never = new AbortController().signal;

function created(path: string): PlannedFile {
  return { path, action: 'create', text: `new ${path}`, before: undefined };
}

describe('planFiles', () => {
  const folder = scratchDirectory();
  const marker = '// +operator-builder:scaffold:ones';

  it('keeps Windows line endings, even if the new text has other line endings', async () => {
    const before = `import { a } from 'one';\r\nuse(\r\n  a,\r\n  ${marker}\r\n);\r\n`;
    await writeFile(folder('a.ts'), before);
    const plain = before.replaceAll('\r\n', '\n');
    const lines = [`import { b } from 'one';`, '  b,'];
    const changes: readonly WantedFile[] = [
      { type: 'insert', path: 'a.ts', insertions: [{ marker, lines, indentation: '  ' }] },
      { type: 'edited', path: 'a.ts', text: plain.replace('  a,', '  a,\n  b,') },
      { type: 'whole', path: 'a.ts', text: plain.replace('  a,\n', '  b,\r\n') },
      { type: 'edited', path: 'a.ts', text: plain },
    ];
    const planned = await planFiles(changes, { folder: folder(), force: true });
    expect(planned.map(({ action }) => action)).to.deep.equal([
      ...['change', 'change', 'overwrite', 'keep'],
    ]);
    for (const { text } of planned) expect(text).not.to.match(/[^\r]\n|\r\r/);
    expect(planned[0]?.text).to.equal(
      before.replace('{ a }', '{ a, b }').replace('  a,', '  a,\r\n  b,'),
    );
  });
});

describe('writeFiles', () => {
  const folder = scratchDirectory();

  beforeEach(async () => {
    await mkdir(folder('old'), { recursive: true });
    await writeFile(folder('old', 'kept'), 'old');
  });

  const changed: PlannedFile = { ...created('old/kept'), action: 'change', before: 'old' };

  it('creates directories, and does not write files with the action keep', async () => {
    const kept: PlannedFile = { ...changed, action: 'keep' };
    await writeFiles(folder('made'), [created('a/b'), created('c'), kept], never);
    expect(await textsIn(folder('made'))).to.deep.equal({ 'a/b': 'new a/b', c: 'new c' });
  });

  it('writes to the target of a link', async () => {
    await symlink('old/kept', folder('link'));
    await writeFiles(folder(), [{ ...changed, path: 'link' }], never);
    expect(await readlink(folder('link'))).to.equal('old/kept');
    expect(await textsIn(folder('old'))).to.deep.equal({ kept: 'new old/kept' });
    await rm(folder('link'));
  });

  it('writes to the target of a link even if the target does not exist yet', async () => {
    await symlink('old/new', folder('link'));
    await writeFiles(folder(), [created('link')], never);
    expect(await readlink(folder('link'))).to.equal('old/new');
    expect(await textsIn(folder('old'))).to.deep.equal({ kept: 'old', new: 'new link' });
    await rm(folder('link'));
    await rm(folder('old/new'));
  });

  it('writes a file only once if both the file and a link to it get the same text', async () => {
    await symlink('old/kept', folder('link'));
    await writeFiles(folder(), [changed, { ...changed, path: 'link' }], never);
    expect(await readlink(folder('link'))).to.equal('old/kept');
    expect(await textsIn(folder('old'))).to.deep.equal({ kept: 'new old/kept' });
    await rm(folder('link'));
  });

  it('refuses different texts for a file and for a link to it', async () => {
    await symlink('old/kept', folder('link'));
    const files = [changed, { ...changed, path: 'link', text: 'other' }];
    let thrown: unknown;
    await writeFiles(folder(), files, never).catch((error: unknown) => (thrown = error));
    expect(thrown).to.have.property(
      'message',
      'link and old/kept are one file by a link, and get different texts; replace the link by a file',
    );
    expect(await textsIn(folder('old'))).to.deep.equal({ kept: 'old' });
    await rm(folder('link'));
  });

  it('deletes files, and restores them after a failure', async () => {
    await writeFile(folder('old/gone'), 'gone');
    const gone: PlannedFile = { path: 'old/gone', action: 'delete', text: '', before: 'gone' };
    const missing: PlannedFile = { ...gone, path: 'old/missing' };
    const before = await textsIn(folder());
    let thrown: unknown;
    const files = [changed, gone, missing];
    await writeFiles(folder(), files, never).catch((error: unknown) => (thrown = error));
    expect(String(thrown)).to.include("old/missing can't be written");
    expect(await textsIn(folder())).to.deep.equal(before);
    await writeFiles(folder(), [changed, gone], never);
    expect(await textsIn(folder('old'))).to.deep.equal({ kept: 'new old/kept' });
  });

  it('reverts all changes if a file cannot be written', async () => {
    await mkdir(folder('old/taken'), { recursive: true });
    await writeFile(folder('old/taken/inside'), '');
    const before = await textsIn(folder());
    // A directory has the name of a file, which only the last rename detects.
    const files = [changed, created('deep/er/file'), created('old/taken')];
    let thrown: unknown;
    await writeFiles(folder(), files, never).catch((error: unknown) => (thrown = error));
    expect(thrown).to.have.property('code', 'InvalidConfig');
    expect(String(thrown)).to.include("old/taken can't be written");
    expect(await textsIn(folder())).to.deep.equal(before);
    expect(await readdir(folder())).not.to.include('deep');
  });

  it('writes nothing if another process has changed a file since it was read', async () => {
    await writeFile(folder('old/kept'), 'of another command');
    const before = await textsIn(folder());
    let thrown: unknown;
    const files = [created('fresh'), changed];
    await writeFiles(folder(), files, never).catch((error: unknown) => (thrown = error));
    const message =
      'old/kept has changed since this command read it, maybe by another command; run this one again\nNothing was written.';
    expect(thrown).to.include({ code: 'InvalidConfig', message });
    expect(await textsIn(folder())).to.deep.equal(before);
    const edited = { type: 'edited', path: 'old/kept', text: 'new', from: 'old' } as const;
    await planFiles([edited], { folder: folder(), force: true }).catch((error: unknown) => {
      thrown = error;
    });
    expect(thrown).to.include({ code: 'InvalidConfig', message });
  });

  it('reverts all changes if its signal aborts midway', async () => {
    const before = await textsIn(folder());
    for (const checks of [0, 1, 2, 3]) {
      let left = checks;
      const signal = {
        get aborted() {
          return left-- <= 0;
        },
      } as AbortSignal;
      let thrown: unknown;
      const files = [changed, created(`stopped-${checks}/file`)];
      await writeFiles(folder(), files, signal).catch((error: unknown) => (thrown = error));
      expect(String(thrown)).to.include('nothing was written');
      expect(await textsIn(folder())).to.deep.equal(before);
    }
  });
});
