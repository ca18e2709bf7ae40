import { expect } from 'chai';
import { access, readFile, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { cli, scratchDirectory } from '../../cli.js';
import type { CliResult } from '../../cli.js';
import { holdTo, makeProject } from '../../scaffold/project.js';

// The result of rendering a chart with Helm is compared in spec/cluster/helm.spec.ts.
describe('operator-builder helm', () => {
  const file = scratchDirectory();
  let project = '';
  let count = 0;

  beforeEach(async () => {
    project = `shops-${count++}`;
    await makeProject(file(project), ['Shop']);
  });

  const at = (path: string): string => file(project, 'charts/shops', path);
  const read = (path: string): Promise<string> => readFile(at(path), 'utf8');
  const helm = (...args: readonly string[]): Promise<CliResult> =>
    cli(['helm', '--project', file(project), ...args]);

  async function change(path: string, from: string, to: string): Promise<void> {
    const text = await readFile(path, 'utf8');
    expect(text).to.include(from);
    await writeFile(path, text.replace(from, to));
  }

  const valuesOf = async (): Promise<Readonly<Record<string, unknown>>> =>
    parse(await read('values.yaml')) as Record<string, unknown>;

  it('creates a chart, and changes none of its files in a second run', async () => {
    const { code, stdout } = await helm();
    expect(code).to.equal(0);
    expect(stdout).to.include(
      'created charts/shops/templates/deployment-controller-manager.yaml\n',
    );
    expect(stdout).to.match(/helm upgrade --install shops charts\/shops --namespace shops-system/);
    const again = await helm();
    expect(again.stdout.split('\n\n')[0]?.split('\n')).to.satisfy((lines: readonly string[]) =>
      lines.every((line) => line.startsWith('kept ')),
    );
  });

  it('keeps values that the user has changed, updates other values from config/ and adds new ones', async () => {
    await helm();
    await change(at('values.yaml'), "logLevel: ''", 'logLevel: debug # loud');
    await change(at('values.yaml'), 'extraArgs: []', '');
    await change(at('values.yaml'), 'podLabels: {}', 'podLabels: {}\nmine: { a: 1 }');
    await change(file(project, 'config/manager/manager.yaml'), 'replicas: 1', 'replicas: 2');
    expect(await helm()).to.include({ code: 0 });
    expect(await valuesOf()).to.deep.include({
      ...{ logLevel: 'debug', extraArgs: [], replicas: 2, mine: { a: 1 } },
    });
    expect(await read('values.yaml')).to.include('logLevel: debug # loud\n');
    const { properties } = JSON.parse(await read('values.schema.json')) as {
      readonly properties: Readonly<Record<string, unknown>>;
    };
    expect(properties['mine']).to.deep.equal({});
    expect(properties['replicas']).to.deep.include({ default: 2 });
  });

  it('keeps a value of the user if config/ changes the same value', async () => {
    await helm();
    await change(at('values.yaml'), 'replicas: 1', 'replicas: 5');
    await change(file(project, 'config/manager/manager.yaml'), 'replicas: 1', 'replicas: 2');
    await helm();
    expect(await valuesOf()).to.deep.include({ replicas: 5 });
  });

  it('without --force, refuses a values file that it cannot extend', async () => {
    await helm();
    await writeFile(at('values.yaml'), 'image: a:b\n');
    const { code, stderr } = await helm();
    expect([code, stderr]).to.deep.equal([
      1,
      `error: ${at('values.yaml')}: image.repository can't be set, because image is not a map; correct it, or overwrite it with --force\n`,
    ]);
    expect(await read('values.yaml')).to.equal('image: a:b\n');
    expect(await helm('--force')).to.include({ code: 0 });
    expect(await valuesOf())
      .to.have.property('image')
      .that.is.an('object');
  });

  it('without --force, refuses a template that the user has changed, and prints the changes', async () => {
    await helm();
    const path = 'templates/deployment-controller-manager.yaml';
    await change(at(path), 'periodSeconds: 20', 'periodSeconds: 21');
    const { code, stderr } = await helm();
    expect(code).to.equal(1);
    expect(stderr).to.include(`--- charts/shops/${path}\n`);
    expect(stderr).to.match(/\n-\s+periodSeconds: 21\n\+\s+periodSeconds: 20\n/);
    expect(stderr).to.match(/discard them with --force[^]*Nothing was written\.\n$/);
    expect(await helm('--force')).to.include({ code: 0 });
    expect(await read(path)).to.include('periodSeconds: 20');
  });

  it('recognizes its own files when they have the line endings of Windows', async () => {
    await helm();
    for (const path of ['values.schema.json', 'templates/deployment-controller-manager.yaml']) {
      await writeFile(at(path), (await read(path)).replaceAll('\n', '\r\n'));
    }
    expect(await helm()).to.include({ code: 0, stderr: '' });
  });

  it('keeps the line endings of Windows in files that it updates', async () => {
    await helm();
    for (const path of ['Chart.yaml', 'values.yaml', 'values.schema.json', '.helmignore']) {
      await writeFile(at(path), (await read(path)).replaceAll('\n', '\r\n'));
    }
    const { stdout } = await helm();
    expect(stdout).not.to.match(/^(?:changed|overwrote) /m);
    await change(file(project, 'config/manager/manager.yaml'), 'replicas: 1', 'replicas: 2');
    expect(await helm()).to.include({ code: 0 });
    for (const path of ['values.yaml', 'values.schema.json']) {
      expect((await read(path)).replaceAll('\r\n', '')).not.to.include('\n');
    }
    expect(await valuesOf()).to.deep.include({ replicas: 2 });
  });

  it('deletes obsolete files that it has generated, and keeps other files', async () => {
    await helm();
    await writeFile(at('templates/extra.yaml'), 'mine\n');
    const roles = file(project, 'config/rbac/kustomization.yaml');
    await change(roles, '  - metrics_reader_role.yaml\n', '');
    const { stdout } = await helm();
    expect(stdout).to.include('deleted charts/shops/templates/clusterrole-metrics-reader.yaml\n');
    expect(await read('templates/extra.yaml')).to.equal('mine\n');
  });

  it('prints paths relative to the folder of the project', async () => {
    const { code, stdout } = await helm('--out', '.');
    expect(code).to.equal(0);
    expect(stdout).to.match(/^created \.\/Chart\.yaml$/m);
  });

  it('keeps edits in Chart.yaml, and takes versions from package.json', async () => {
    await helm();
    await change(at('Chart.yaml'), 'The operator shops', 'Shops');
    await change(file(project, 'package.json'), '"version": "0.1.0"', '"version": "1.2.0"');
    await helm();
    expect(parse(await read('Chart.yaml'))).to.deep.include({
      ...{ description: 'Shops', version: '1.2.0', appVersion: '1.2.0' },
    });
    // The tag of the image may now differ from the version of the chart.
    expect(await valuesOf()).to.have.nested.property('image.tag', '0.1.0');
  });

  it('takes default values from config/', async () => {
    const manager = file(project, 'config/manager/manager.yaml');
    await change(
      manager,
      '      containers:\n',
      '      nodeSelector: { a: b }\n      containers:\n',
    );
    await change(manager, '- --leader-elect', '- --log-level=warn');
    const overlay = file(project, 'config/default/kustomization.yaml');
    await change(overlay, '# - ../network-policy', '- ../network-policy');
    await helm('--image', 'host:5000/a:v1', '--out', 'charts/shops');
    expect(await valuesOf()).to.deep.include({
      image: { repository: 'host:5000/a', tag: 'v1', digest: '', pullPolicy: '' },
      ...{ nodeSelector: { a: 'b' }, logLevel: 'warn' },
      leaderElection: { enabled: false },
    });
    expect(await valuesOf()).to.have.nested.property('networkPolicy.enabled', true);
  });

  /** Replaces the environment variables of the manager except for POD_NAMESPACE. */
  async function setVariables(...variables: readonly object[]): Promise<void> {
    const manager = file(project, 'config/manager/manager.yaml');
    const lines = variables.map((one) => `            - ${JSON.stringify(one)}\n`).join('');
    const text = await readFile(manager, 'utf8');
    const ports = '          ports:\n';
    expect(text).to.include(ports);
    await writeFile(
      manager,
      text.replace(/(?: {12}- \{.*\n)*(?= {10}ports:\n)/, () => lines),
    );
  }

  it('turns environment variables into values of the chart, except variables with references', async () => {
    const host = 'dns.shops-system.svc';
    const secretKeyRef = { name: 'dns', key: 'token' };
    await setVariables(
      { name: 'DNS_PROVIDER_URL', value: 'https://dns.example' },
      { name: 'DNS_PORT', value: '8080' },
      { name: 'DNS_EMPTY' },
      { name: 'DNS_TOKEN', valueFrom: { secretKeyRef } },
      { name: 'DNS_ZONE', value: '$(POD_NAMESPACE).example' },
      { name: 'DNS_SERVICE', value: host },
    );
    await helm();
    expect(await valuesOf()).to.deep.include({
      env: { DNS_PROVIDER_URL: 'https://dns.example', DNS_PORT: '8080', DNS_EMPTY: '' },
    });
    const deployment = await read('templates/deployment-controller-manager.yaml');
    expect(deployment).not.to.include('https://dns.example');
    expect(deployment.match(/(?<=- name: )(?:[A-Z]|\{\{).*/g)).to.deep.equal([
      ...['POD_NAMESPACE', 'DNS_TOKEN', '{{ $name | quote }}', 'DNS_ZONE', 'DNS_SERVICE'],
    ]);
  });

  it('keeps environment variables that the user has changed, and updates, adds and removes others', async () => {
    await setVariables({ name: 'A', value: '1' }, { name: 'B', value: '1' }, { name: 'C' });
    await helm();
    await change(at('values.yaml'), 'A: "1"', 'A: "5" # mine\n  MINE: "1"');
    await setVariables(...['A', 'B', 'D'].map((name) => ({ name, value: '2' })));
    expect(await helm()).to.include({ code: 0, stderr: '' });
    expect(await valuesOf()).to.deep.include({ env: { A: '5', MINE: '1', B: '2', D: '2' } });
    expect(await read('values.yaml')).to.include('A: "5" # mine\n');
  });

  it('adds the first environment variable to an older values.yaml, and removes the last variable', async () => {
    await helm();
    const before = await read('values.yaml');
    await setVariables({ name: 'A', value: '1' });
    expect(await helm()).to.include({ code: 0, stderr: '' });
    expect(await read('values.yaml')).to.match(/^# Environment.*\nenv:(?: \{)?\s+A: "1"/m);
    await setVariables();
    expect(await helm()).to.include({ code: 0, stderr: '' });
    expect(await read('values.yaml')).to.equal(before);
  });

  it('supports metrics over HTTPS although config/ serves them over HTTP', async () => {
    const overlay = file(project, 'config/default/kustomization.yaml');
    await change(overlay, '  - ../metrics-auth\n', '');
    await helm();
    expect(await valuesOf()).to.have.nested.property('metrics.auth', false);
    const deployment = await read('templates/deployment-controller-manager.yaml');
    expect(deployment).to.match(/\.Values\.metrics\.auth \}\}\n\s*- --metrics-auth\n/);
    expect(await read('templates/clusterrole-metrics-auth-role.yaml')).to.include('tokenreviews');
  });

  it('takes the PodDisruptionBudget and the NetworkPolicy peers from config/', async () => {
    const budget = file(project, 'config/manager/pod_disruption_budget.yaml');
    await change(budget, 'maxUnavailable: 1', 'maxUnavailable: 2');
    await helm();
    expect(await valuesOf()).to.deep.include({
      podDisruptionBudget: { enabled: true, maxUnavailable: 2 },
      networkPolicy: {
        enabled: false,
        metricsFrom: [{ namespaceSelector: { matchLabels: { metrics: 'enabled' } } }],
        webhookFrom: [],
      },
    });
  });

  it('writes to an absolute path', async () => {
    expect(await helm('--out', file('chart-elsewhere'))).to.include({ code: 0 });
    const text = await readFile(file('chart-elsewhere/Chart.yaml'), 'utf8');
    expect(parse(text)).to.include({ name: 'shops' });
  });

  it('names an invalid file', async () => {
    await helm();
    for (const [path, remedy] of [
      [at('values.schema.json'), 'correct it, or overwrite it with --force'],
      [file(project, 'package.json'), 'correct it'],
    ] as const) {
      const before = await readFile(path, 'utf8');
      await writeFile(path, '{');
      const { code, stderr } = await helm();
      expect([code, stderr]).to.deep.equal([1, `error: ${path}: invalid JSON; ${remedy}\n`]);
      await writeFile(path, before);
    }
  });

  it('overwrites an invalid schema of the values with --force', async () => {
    await helm();
    const before = await read('values.schema.json');
    await writeFile(at('values.schema.json'), '<<<<<<< yours\n');
    expect(await helm('--force')).to.include({ code: 0, stderr: '' });
    expect(await read('values.schema.json')).to.equal(before);
  });

  it('writes the roles of all other namespaces into one file', async () => {
    await holdTo(file(project), 'a', 'b');
    await helm();
    const roles = await read('templates/role-manager-role.yaml');
    expect(roles.match(/^ {2}namespace: .*/gm)).to.deep.equal(['  namespace: a', '  namespace: b']);
    const bindings = await read('templates/rolebinding-manager-rolebinding.yaml');
    expect(bindings.split('namespace: {{ .Release.Namespace | quote }}')).to.have.length(3);
  });

  it('escapes text that looks like a template action of Helm', async () => {
    await writeFile(file(project, 'config/crd/kustomization.yaml'), 'resources: [a.yaml]\n');
    await writeFile(
      file(project, 'config/crd/a.yaml'),
      'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { a: "{{ b }}" }\n',
    );
    await helm();
    expect(await read('templates/configmap-a.yaml')).to.include('{{ "{{" }} b }}');
  });

  it('with --dry-run, prints planned changes, and writes nothing', async () => {
    const { stdout } = await helm('--dry-run');
    expect(stdout).to.include('would create charts/shops/values.yaml\n');
    const there = await access(at('values.yaml')).then(
      () => true,
      () => false,
    );
    expect(there).to.equal(false);
  });
});
