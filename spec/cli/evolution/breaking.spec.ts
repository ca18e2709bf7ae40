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

  it('disables rules for all fields or below one field, and refuses unknown rules', async () => {
    const without = async (...rules: string[]) =>
      (await run('crds', 'narrow.json', ...rules.flatMap((rule) => ['--disable', rule]))).code;
    expect(await without('scope-changed,enum-narrowed')).to.equal(0);
    expect(await without('enum-narrowed:spec')).to.equal(0);
    expect(await without('enum-narrowed:spec.fie')).to.equal(1);
    const { code, stderr } = await run('crds', 'narrow.json', '--disable', 'enums');
    expect(code).to.equal(1);
    expect(stderr).to.include('unknown rule enums; the rules are definition-removed,');
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

  function commit(cwd: string): void {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
        cwd,
      });
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '--message', 'Add a definition');
  }

  it('reads a file or a folder from a git revision, relative to the working directory', async () => {
    await mkdir(file('repository/config/crds'), { recursive: true });
    const cwd = file('repository/config');
    await writeFile(
      file('repository/config/crds/a.json'),
      await readFile(file('crds/things.json')),
    );
    commit(cwd);
    await writeFile(file('repository/config/crds/a.json'), await readFile(file('narrow.json')));
    for (const path of ['crds', 'crds/a.json']) {
      const { code, stdout } = await cli(['breaking', `HEAD:${path}`, path], { cwd });
      expect({ code, stdout }).to.have.property('code', 1);
      expect(stdout).to.include('enum-narrowed');
    }
    const { stderr } = await cli(['breaking', 'none:crds', 'crds'], { cwd });
    expect(stderr).to.match(/^error: none:crds can't be read from git: /);
  });

  it('compares also the conversions that a project deploys with its definitions', async () => {
    const cwd = file('project');
    const [bases, patches] = ['project/config/crd/bases', 'project/config/default'];
    await mkdir(file(bases), { recursive: true });
    await mkdir(file(patches), { recursive: true });
    const crd = crdWith(text);
    const [v1] = crd.spec.versions;
    const v2 = { ...v1, name: 'v2', schema: { openAPIV3Schema: { type: 'object' } } };
    const stored = (version: string) => {
      const versions = [v1, v2].map((one) => ({ ...one, storage: one?.name === version }));
      return { ...crd, spec: { ...crd.spec, versions } } as CustomResourceDefinition;
    };
    await write('old.json', stored('v1'));
    const results = async (...commands: readonly (readonly string[])[]) => {
      const ended = await Promise.all(commands.map((command) => cli([...command], { cwd })));
      return ended.map(({ code, stdout }) => [
        code,
        /v2 is stored without a conversion/.test(stdout),
      ]);
    };
    const [old, after] = [file('old.json'), 'config/crd/bases'];
    await write(`${bases}/example.com_things.yaml`, stored('v2'));
    expect(await results(['breaking', old, after])).to.deep.equal([[1, true]]);
    const patch = {
      ...{ apiVersion: crd.apiVersion, kind: crd.kind, metadata: crd.metadata },
      spec: { conversion: { strategy: 'Webhook' } },
    };
    await writeFile(
      file(`${patches}/conversion_in_example.com_things.yaml`),
      JSON.stringify(patch),
    );
    commit(cwd);
    expect(
      await results(
        ['breaking', old, after],
        ['breaking', old, `HEAD:${after}`],
        ['lint', after, '--disable', 'description'],
      ),
    ).to.deep.equal(Array.from({ length: 3 }, () => [0, false]));
  });
});
