import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { CustomResourceDefinition } from '../../../lib/object/index.js';
import { cli, scratchDirectory } from '../cli.js';
import { crdWith } from './schema-cases.js';

const text = { type: 'string' } as const;

describe('operator-builder breaking', () => {
  const file = scratchDirectory();

  before(async () => {
    await mkdir(file('crds'));
    await write('crds/things.json', crdWith({ ...text, enum: ['A', 'B'] }));
    await write('narrow.json', crdWith({ ...text, enum: ['A'] }));
    await write('wide.json', crdWith({ ...text, enum: ['A', 'B', 'C'] }));
  });

  function write(name: string, crd: CustomResourceDefinition): Promise<void> {
    return writeFile(file(name), JSON.stringify(crd));
  }

  const run = (before: string, after: string, ...rest: string[]) =>
    cli(['breaking', before, after, ...rest], { cwd: file() });

  it('exits with 1 and names definition, version and field of a breaking change', async () => {
    const { code, stdout } = await run('crds', 'narrow.json');
    expect(code).to.equal(1);
    expect(stdout).to.match(
      /^things\.example\.com\n {2}! enum-narrowed v1 spec\.field: "B" is no longer valid/,
    );
    expect(stdout).to.match(/\n1 error, 0 warnings\n$/);
  });

  it('exits with 0 if there are only warnings, or no changes', async () => {
    const wide = await run('crds', 'wide.json');
    expect(wide).to.deep.include({ code: 0, stderr: '' });
    expect(wide.stdout).to.include('  ~ enum-widened v1 spec.field');
    expect(await run('crds', 'crds')).to.deep.include({ code: 0, stdout: 'no breaking changes\n' });
  });

  it('prints findings as JSON', async () => {
    const { stdout } = await run('crds', 'narrow.json', '--output', 'json');
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly object[] };
    expect(findings).to.have.length(1);
    expect(findings[0]).to.include({ level: 'error', rule: 'enum-narrowed', path: 'spec.field' });
  });

  it('switches rules off, everywhere or below a field, and refuses unknown ones', async () => {
    const without = async (...rules: string[]) =>
      (await run('crds', 'narrow.json', ...rules.flatMap((rule) => ['--disable', rule]))).code;
    expect(await without('scope-changed,enum-narrowed')).to.equal(0);
    expect(await without('enum-narrowed:spec')).to.equal(0);
    expect(await without('enum-narrowed:spec.fie')).to.equal(1);
    const { code, stderr } = await run('crds', 'narrow.json', '--disable', 'enums');
    expect(code).to.equal(1);
    expect(stderr).to.include('unknown rule enums; there are definition-removed,');
  });

  it('reads the definitions of a cluster, with their stored versions, from the standard input', async () => {
    const [crd] = [crdWith(text)];
    const stored = { ...crd, status: { storedVersions: ['v1alpha1', 'v1'] } };
    const list = { apiVersion: 'v1', kind: 'List', items: [stored] };
    await write('text.json', crd);
    const { stdout } = await cli(['breaking', '-', file('text.json')], {
      stdin: JSON.stringify(list),
    });
    expect(stdout).to.include('! version-removed v1alpha1: v1alpha1 is gone');
  });

  it('reads a file or a folder of a git revision, relative to the working directory', async () => {
    await mkdir(file('repository/config/crds'), { recursive: true });
    const cwd = file('repository/config');
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
        cwd,
      });
    await writeFile(
      file('repository/config/crds/a.json'),
      await readFile(file('crds/things.json')),
    );
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '--message', 'Add a definition');
    await writeFile(file('repository/config/crds/a.json'), await readFile(file('narrow.json')));
    for (const path of ['crds', 'crds/a.json']) {
      const { code, stdout } = await cli(['breaking', `HEAD:${path}`, path], { cwd });
      expect({ code, stdout }).to.have.property('code', 1);
      expect(stdout).to.include('enum-narrowed');
    }
    const { stderr } = await cli(['breaking', 'none:crds', 'crds'], { cwd });
    expect(stderr).to.match(/^error: none:crds can't be read from git: /);
  });
});
