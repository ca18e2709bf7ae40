import { expect } from 'chai';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { madeText } from '../../../lib/cli/package/make-chart.js';
import { cli, scratchDirectory } from '../cli.js';
import type { CliResult } from '../cli.js';
import { textsIn } from '../scaffold/project.js';
import { simulateKubectl, writeObjects, writeText } from './simulated-kubectl.js';

const metadata = { name: 'shops-manager', namespace: 'shops-system' };

function deployment(...args: readonly string[]): object {
  const container = { name: 'manager', image: 'shops:1.2.0', args };
  const template = { spec: { serviceAccountName: 'shops-manager', containers: [container] } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { template } };
}

const part = (kind: string): object => ({ apiVersion: 'v1', kind, metadata, spec: {} });
const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shops-texts' } };
const crd = {
  ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  metadata: { name: 'shops.example.com' },
};

describe('operator-builder helm with simulated manifests', () => {
  const file = scratchDirectory();
  simulateKubectl(file);
  let folder = '';
  let count = 0;

  beforeEach(async () => {
    folder = file(`project-${count++}`);
    const project =
      'layout: operator-builder/v1\nname: shops\ndomain: example.com\nresources: []\n';
    await writeText(`${folder}/PROJECT`, project);
    await writeText(`${folder}/package.json`, '{ "version": "1.2.0" }');
    await manifests(deployment(), settings, crd);
  });

  const manifests = (...objects: readonly object[]): Promise<void> =>
    writeObjects(`${folder}/config/default`, objects);
  const helm = (...args: readonly string[]): Promise<CliResult> =>
    cli(['helm', '--project', folder, ...args]);
  const at = (path: string): string => `${folder}/charts/shops/${path}`;
  const read = (path: string): Promise<string> => readFile(at(path), 'utf8');
  const valuesOf = async (): Promise<unknown> => parse(await read('values.yaml'));

  /** Returns the report of a run that writes or keeps these files. */
  const report = (...files: readonly string[]): CliResult => ({
    code: 0,
    stdout: `${files.join('\n')}\n\nNext:\n  helm upgrade --install shops charts/shops --namespace shops-system --create-namespace\n`,
    stderr: '',
  });
  const paths = [
    ...['Chart.yaml', 'values.yaml', '.helmignore', 'templates/NOTES.txt'],
    ...['templates/_helpers.tpl', 'templates/deployment-manager.yaml'],
    ...['templates/configmap-texts.yaml', 'templates/crds/shops.example.com.yaml'],
    'values.schema.json',
  ];
  const all = (action: string): CliResult =>
    report(...paths.map((path) => `${action} charts/shops/${path}`));

  it('writes all files of a chart, and changes none in a second run', async () => {
    expect(await helm()).to.deep.equal(all('created'));
    expect(await read('Chart.yaml')).to.equal(
      "apiVersion: v2\nname: shops\ndescription: The operator shops\ntype: application\nversion: 1.2.0\nappVersion: 1.2.0\nkubeVersion: '>=1.27.0-0'\n",
    );
    const texts =
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shops-texts\n  labels:\n    {{- include "shops.labels" . | nindent 4 }}\n';
    const path = 'templates/configmap-texts.yaml';
    expect(await read(path)).to.equal(madeText(path, texts));
    const schema = await read('values.schema.json');
    const { $comment: comment, ...content } = JSON.parse(schema) as Record<string, unknown>;
    expect(comment).to.match(/^Made by /);
    const text = `${JSON.stringify(content, undefined, 2)}\n`;
    expect(schema).to.equal(madeText('values.schema.json', text));
    expect(content).to.have.nested.property(
      'properties.image.properties.repository.default',
      'shops',
    );
    expect(await helm()).to.deep.equal(all('kept'));
  });

  it('with --dry-run, names the files that it would write, and writes none', async () => {
    const { stdout } = await helm('--dry-run');
    expect(stdout).to.include('would create charts/shops/Chart.yaml\n');
    expect(await readdir(folder)).not.to.include('charts');
  });

  it('writes to a folder outside the project only if --out names it', async () => {
    const { code, stdout } = await helm('--out', '../elsewhere');
    expect(code).to.equal(0);
    expect(stdout).to.include('created ../elsewhere/Chart.yaml\n');
    const own = await helm('--out', '.');
    expect(own.stdout).to.include('created ./Chart.yaml\n').and.include('--install shops . --name');
    await writeFile(
      `${folder}/PROJECT`,
      (await readFile(`${folder}/PROJECT`, 'utf8')).replace('name: shops', 'name: ../shops'),
    );
    expect(await helm()).to.deep.include({ code: 1, stdout: '' });
  });

  it('without --force, refuses files that were changed by hand, and prints their differences', async () => {
    await helm();
    const made = await read('templates/configmap-texts.yaml');
    await writeFile(at('templates/configmap-texts.yaml'), `${made}data: {}\n`);
    const schema = await read('values.schema.json');
    await writeFile(at('values.schema.json'), schema.replace('"object"', '"mine"'));
    await manifests(deployment(), { ...settings, immutable: true }, crd);
    const before = await textsIn(folder);
    const { code, stdout, stderr } = await helm();
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr)
      .to.match(
        /^error: these files were changed by hand \(move the changes to config\/ or to files of your own, or discard them with --force\):\n--- charts\/shops\/templates\/configmap-texts.yaml\n/,
      )
      .and.include('\n-data: {}\n')
      .and.include('\n--- charts/shops/values.schema.json\n')
      .and.match(/\nNothing was written\.\n$/);
    expect(await textsIn(folder)).to.deep.equal(before);
    expect((await helm('--force')).stdout).to.include(
      'changed charts/shops/templates/configmap-texts.yaml\n',
    );
    expect(await read('templates/configmap-texts.yaml')).to.include('immutable: true\n');
  });

  it('without --force, updates files that were not changed by hand', async () => {
    await helm();
    await manifests(deployment(), { ...settings, immutable: true }, crd);
    const { code, stdout } = await helm();
    expect(code).to.equal(0);
    expect(stdout.match(/^changed .*/gm)).to.deep.equal([
      'changed charts/shops/templates/configmap-texts.yaml',
    ]);
  });

  it('deletes its obsolete files, and keeps files that were changed or added by the user', async () => {
    const other = { ...settings, metadata: { name: 'other' } };
    await manifests(deployment(), settings, crd, other);
    await helm();
    const mine = { 'templates/mine.yaml': 'kind: A\n', 'templates/mine.tpl': 'a\n' };
    for (const [path, text] of Object.entries(mine)) await writeFile(at(path), text);
    await writeFile(at('templates/made.md'), madeText('templates/made.md', 'a\n'));
    await writeFile(at('templates/configmap-other.yaml'), '# mine\n');
    await manifests(deployment());
    expect(await helm()).to.deep.equal(
      report(
        ...paths.slice(0, 6).map((path) => `kept charts/shops/${path}`),
        'kept charts/shops/values.schema.json',
        'deleted charts/shops/templates/configmap-texts.yaml',
        'deleted charts/shops/templates/crds/shops.example.com.yaml',
      ),
    );
    expect(await read('templates/configmap-other.yaml')).to.equal('# mine\n');
  });

  it('keeps edits of Chart.yaml, and sets version and appVersion in it', async () => {
    await helm();
    const description = `Shops ${'and more '.repeat(20)}shops`;
    const edited = (await read('Chart.yaml')).replace('The operator shops', description);
    await writeFile(at('Chart.yaml'), `# mine\n${edited}`);
    await writeFile(`${folder}/package.json`, '{ "version": "1.3.0" }');
    expect(
      (await helm()).stdout.match(/^[a-z]+ charts\/shops\/[A-Z].*|.*values\.yaml/gm),
    ).to.deep.equal(['changed charts/shops/Chart.yaml', 'changed charts/shops/values.yaml']);
    const wanted = edited
      .replace('version: 1.2.0', 'version: 1.3.0')
      .replace('appVersion: 1.2.0', 'appVersion: 1.3.0');
    expect(await read('Chart.yaml')).to.equal(`# mine\n${wanted}`);
  });

  for (const [what, text, says] of [
    ['invalid YAML', 'a: [\n', 'correct it, or pass --force'],
    ['no map', '- a\n', 'want a map; correct it, or pass --force'],
  ] as const) {
    it(`refuses a Chart.yaml with ${what}, and overwrites it with --force`, async () => {
      await helm();
      await writeFile(at('Chart.yaml'), text);
      const { code, stderr } = await helm();
      expect(code).to.equal(1);
      expect(stderr)
        .to.include(`error: ${at('Chart.yaml')}: `)
        .and.include(says);
      expect(await helm('--force')).to.include({ code: 0 });
      expect(await read('Chart.yaml')).to.match(/^apiVersion: v2\n/);
    });
  }

  it('keeps values that the user has changed, and discards the changes with --force', async () => {
    await helm();
    const values = await read('values.yaml');
    await writeFile(at('values.yaml'), values.replace('replicas: 1', 'replicas: 5 # mine'));
    await manifests(deployment('--log-level=warn'), settings, crd);
    await helm();
    expect(await read('values.yaml')).to.include('replicas: 5 # mine\n');
    expect(await valuesOf()).to.include({ logLevel: 'warn' });
    await helm('--force');
    expect(await valuesOf()).to.include({ replicas: 1, logLevel: 'warn' });
  });

  for (const [what, path, remedy] of [
    [
      'values.schema.json',
      'charts/shops/values.schema.json',
      'correct it, or overwrite it with --force',
    ],
    ['package.json', 'package.json', 'correct it'],
  ] as const) {
    it(`refuses a ${what} that is not JSON`, async () => {
      await helm();
      await writeFile(`${folder}/${path}`, '{');
      const { code, stderr } = await helm();
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: `error: ${folder}/${path}: invalid JSON; ${remedy}\n`,
      });
    });
  }

  it('overwrites a schema that is not JSON with --force', async () => {
    await helm();
    const before = await read('values.schema.json');
    await writeFile(at('values.schema.json'), '{');
    expect(await helm('--force')).to.include({ code: 0 });
    expect(await read('values.schema.json')).to.equal(before);
  });

  for (const content of ['{}', '[]', '{ "version": "" }', '{ "version": 1 }']) {
    it(`refuses a package.json without a version: ${content}`, async () => {
      await writeFile(`${folder}/package.json`, content);
      const { code, stderr } = await helm();
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: `error: ${folder}/package.json: version: missing; set it, because the chart has the same version\n`,
      });
    });
  }

  describe('adds a template for an optional part that config/default does not include', () => {
    const templates = async (): Promise<readonly string[]> =>
      (await readdir(at('templates'))).filter((name) => /monitor|policy|clusterrole/.test(name));
    const addPart = (name: string, ...objects: readonly object[]): Promise<void> =>
      writeObjects(`${folder}/config/${name}`, objects);
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata };

    for (const [name, kind, template] of [
      ['prometheus', 'ServiceMonitor', 'servicemonitor-manager.yaml'],
      ['network-policy', 'NetworkPolicy', 'networkpolicy-manager.yaml'],
    ] as const) {
      it(`from config/${name}, and only once if config/default later includes it`, async () => {
        await addPart(name, part(kind));
        await helm();
        expect(await templates()).to.deep.equal([template]);
        expect(await readdir(`${folder}/config`)).to.have.members(['default', name]);
        const value = name === 'prometheus' ? 'metrics.serviceMonitor' : 'networkPolicy';
        expect(await valuesOf()).to.have.nested.property(`${value}.enabled`, false);
        await manifests(deployment(), part(kind));
        await helm();
        expect(await read(`templates/${template}`)).not.to.include('\n---\n');
        expect(await valuesOf()).to.have.nested.property(`${value}.enabled`, true);
      });
    }

    it('from config/metrics-auth, unless the metrics are served over HTTPS', async () => {
      await addPart('metrics-auth', role);
      await helm();
      expect(await templates()).to.deep.equal(['clusterrole-manager.yaml']);
      await manifests(deployment('--metrics-auth'));
      await helm();
      expect(await templates()).to.deep.equal([]);
    });
  });
});
