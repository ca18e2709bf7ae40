import { expect } from 'chai';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cli, scratchDirectory } from '../cli.js';
import type { CliResult } from '../cli.js';
import { projectCopy } from '../project/project-copy.js';

const projects = projectCopy(join(import.meta.dirname, 'store'));

const crs = `
apiVersion: stores.example/v1
kind: Store
metadata:
  name: a
  uid: 11111111-0000-0000-0000-000000000000
  resourceVersion: "7"
  ownerReferences:
    - { apiVersion: v1, kind: ConfigMap, name: gone, uid: 22222222-0000-0000-0000-000000000000 }
spec: { replicas: 2 }
---
apiVersion: v1
kind: Secret
metadata: { name: password, namespace: elsewhere }
stringData: { password: secret }
`;

interface Report {
  readonly resources: readonly { readonly kind: string; readonly namespace: string }[];
  readonly findings: readonly { readonly type: string; readonly ref: { readonly name: string } }[];
  readonly changes: readonly unknown[];
}

describe('operator-builder upgrade-check', () => {
  const file = scratchDirectory();

  before(async () => {
    await mkdir(file('crs'));
    await writeFile(file('crs', 'a.yaml'), crs);
    await writeFile(file('crs', 'README.md'), 'no YAML');
  });

  function check(to: string, ...args: readonly string[]): Promise<CliResult> {
    const versions = ['--from', join(projects, 'from'), '--to', join(projects, to)];
    return cli(['upgrade-check', ...versions, '-f', file('crs'), ...args]);
  }

  it('exits with 2 for restarts and refused writes, and prints each with its field', async () => {
    const { code, stdout, stderr } = await check('bad');
    expect({ code, stderr }, stdout).to.deep.equal({ code: 2, stderr: '' });
    // docs/plan.md shows this output.
    expect(await readFile('docs/plan.md', 'utf8')).to.include(stdout);
    const lines = stdout.split('\n').filter((line) => !line.startsWith('    remedy: '));
    expect(lines.map((line) => line.replaceAll(/[0-9a-f]{64}/g, 'HASH'))).to.deep.equal([
      'Upgrade of stores, with 2 objects stored',
      "! refused StatefulSet default/db: the server refuses the apply: spec.serviceName can't change once set (spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden)",
      '    ~ spec.serviceName: "db" → "db-new"',
      '! renamed ConfigMap default/settings: it is pruned, and ConfigMap default/config replaces it; Deployment default/web refers to it',
      '    ~ metadata.name: "settings" → "config"',
      '! restart Deployment default/web: its pods are replaced (2), because of changes in ConfigMap default/settings, ConfigMap default/config',
      '    ~ spec.template.spec.containers[name=web].image: "web:1" → "store:2"',
      '    ~ spec.template.spec.containers[name=web].envFrom[0].configMapRef.name: "settings" → "config"',
      '    - spec.template.spec.containers[name=web].env[name=CONFIGMAP_HASH_SETTINGS]: {"name":"CONFIGMAP_HASH_SETTINGS","value":"HASH"}',
      '    + spec.template.spec.containers[name=web].env[name=CONFIGMAP_HASH_CONFIG]: {"name":"CONFIGMAP_HASH_CONFIG","value":"HASH"}',
      '! restart StatefulSet default/db: its pods are replaced (1)',
      '    ~ spec.template.spec.containers[name=db].image: "db:1" → "store:2"',
      '1 refused, 1 renamed, 2 restart, 0 harmless changes',
      '',
    ]);
  });

  it('exits with 0 for harmless changes, and prints them', async () => {
    const { code, stdout, stderr } = await check('harmless');
    expect({ code, stderr }, stdout).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.equal(
      [
        'Upgrade of stores, with 2 objects stored',
        '~ ConfigMap default/notes configure',
        '    + metadata.labels.extra: "new"',
        'no findings, 1 harmless change',
        '',
      ].join('\n'),
    );
  });

  it('prints JSON without the uids of its simulated cluster', async () => {
    const { code, stdout } = await check('bad', '--output', 'json');
    const report = JSON.parse(stdout) as Report;
    expect(code).to.equal(2);
    expect(report.resources).to.deep.equal([
      { apiVersion: 'stores.example/v1', kind: 'Store', namespace: 'default', name: 'a' },
      { apiVersion: 'v1', kind: 'Secret', namespace: 'elsewhere', name: 'password' },
    ]);
    expect(report.findings.map(({ type, ref }) => `${type} ${ref.name}`)).to.include('refused db');
    expect(stdout).to.not.include('uid');
  });

  for (const [what, args, says] of [
    ['a missing directory', ['-f', 'no-such'], "no-such can't be read"],
    ['a directory without a project', ['--to', '/'], 'is not inside a project'],
    ['a misspelled directory', ['--from', join(projects, 'form')], 'there is no such directory'],
    [
      'a directory within a project',
      ['--from', join(projects, 'bad/src')],
      `--from: ${join(projects, 'bad/src')} has no PROJECT or package.json`,
    ],
    ['resources that the old version refuses', ['-f', '-'], "Store b can't be stored"],
  ] as const) {
    it(`exits with 1 for ${what}`, async () => {
      const stdin = JSON.stringify({
        ...{ apiVersion: 'stores.example/v1', kind: 'Store', metadata: { name: 'b' } },
        spec: { replicas: 'many' },
      });
      const base = ['--from', join(projects, 'from'), '--to', join(projects, 'bad')];
      const files = args[0] === '-f' ? [] : ['-f', file('crs')];
      const { code, stdout, stderr } = await cli(['upgrade-check', ...base, ...files, ...args], {
        stdin,
      });
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.include(says);
    });
  }
});
