import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { clientFromKubeConfig } from '../../lib/client/kube-config.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { eventually } from '../../lib/testing/index.js';
import { cli, scratchDirectory, startCli, urlOfViews } from './cli.js';
import type { RunningCli } from './cli.js';

/** An operator that copies labeled ConfigMaps to a view, and the view to ConfigMaps. */
const operator = `
apiVersion: dcontroller.io/v1alpha1
kind: Operator
metadata: { name: settings }
spec:
  controllers:
    - name: view
      sources:
        - { apiGroup: '', kind: ConfigMap, labelSelector: { matchLabels: { team: shop } } }
      pipeline: [{ '@project': { metadata: { name: $.metadata.name, namespace: $.metadata.namespace }, data: $.data } }]
      target: { kind: Setting }
    - name: copy
      sources: [{ kind: Setting }]
      pipeline:
        - '@project':
            metadata: { name: { '@concat': [$.metadata.name, -copy] }, namespace: $.metadata.namespace }
            data: $.data
      target: { apiGroup: '', kind: ConfigMap }
`;

const metadata = { name: 'colours', namespace: 'default', labels: { team: 'shop' } };
const colours = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { door: 'red' } } as const;

describe('operator-builder declarative run', () => {
  const file = scratchDirectory();
  let cluster: EmbeddedCluster;
  let running: RunningCli | undefined;

  before(async () => {
    cluster = await EmbeddedCluster.start({ port: 0 });
    await cluster.writeKubeConfig(file('kubeconfig'));
    await cli(['declarative', 'keys', '-d', file('keys')]);
  });

  afterEach(async () => {
    running?.stop();
    await running?.ended;
    running = undefined;
  });

  after(() => cluster.stop());

  /** Starts the command with the operator on standard input. */
  function start(...args: readonly string[]): RunningCli {
    const all = ['declarative', 'run', '-', '--kubeconfig', file('kubeconfig'), ...args];
    return (running = startCli(all, { stdin: operator }));
  }

  it('runs operators on a cluster, and exits with 0 on SIGTERM', async () => {
    const client = cluster.client();
    await client.create(colours);
    const cli = start();
    await eventually(async () => {
      const copy = await client.get(ConfigMap, { name: 'colours-copy', namespace: 'default' });
      expect(copy.data).to.deep.equal({ door: 'red' });
    });
    cli.stop();
    const { code, stdout, stderr } = await cli.ended;
    expect({ code, stdout }, stderr).to.deep.equal({ code: 0, stdout: '' });
    for (const line of stderr.trimEnd().split('\n')) {
      expect(() => JSON.parse(line) as unknown, line).to.not.throw();
      expect(line).to.not.include('"level":"error"');
    }
  });

  it('exits with 0 on SIGTERM during its start', async () => {
    const cli = start();
    cli.stop();
    expect(await cli.ended).to.include({ code: 0 });
  });

  it('serves views to a client with a kubeconfig of declarative config', async () => {
    const cli = start('--api-server-port', '0', '--api-server-keys', file('keys'));
    const server = await urlOfViews(cli);
    expect(server).to.match(/^https:/);
    await configure('--server', server, '--user', 'alice', '--namespaces', 'default');
    const client = await clientFromKubeConfig({ path: file('views') });
    const view = { apiVersion: 'settings.view.dcontroller.io/v1alpha1', kind: 'Setting' };
    await eventually(async () => {
      const found = await client.get(view, metadata);
      expect(found).to.deep.include({ data: { door: 'red' } });
    });
    await client.close();
    expect(cli.written().stderr).to.not.include('eyJ');
  });

  it('serves views over HTTP on the loopback interface without keys', async () => {
    const url = await urlOfViews(start('--api-server-port', '0'));
    expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    const answer = await fetch(`${url}/apis`);
    expect(await answer.text()).to.include('settings.view.dcontroller.io');
  });

  async function configure(...args: readonly string[]): Promise<void> {
    const common = ['--keys', file('keys'), '--out', file('views'), '--force'];
    const { code, stderr } = await cli(['declarative', 'config', ...common, ...args]);
    expect(code, stderr).to.equal(0);
  }

  it('suggests a new name for a file whose name is not valid for an operator', async () => {
    await writeFile(file('My Shop.yaml'), operator.slice(operator.indexOf('controllers:')));
    const args = ['declarative', 'run', file('My Shop.yaml'), '--kubeconfig', file('kubeconfig')];
    const { code, stderr } = await cli(args);
    expect(code).to.equal(1);
    expect(stderr).to.include('"My Shop" must be').and.include('rename the file');
  });

  it('prints errors without stacks, unless OPERATOR_BUILDER_DEBUG is set', async () => {
    const busy = ['--health-port', new URL(cluster.url).port];
    const { code, stderr } = await start(...busy).ended;
    expect(code).to.equal(1);
    expect(stderr).to.include('the port is in use').and.not.include('    at ');
    const args = ['declarative', 'run', file('operator.yaml'), '--kubeconfig', file('kubeconfig')];
    const debugged = await cli([...args, ...busy], { env: { OPERATOR_BUILDER_DEBUG: '1' } });
    expect(debugged.stderr).to.include('    at ');
  });

  it('runs nothing if one of the operators is invalid', async () => {
    const wrong = operator.replace(
      'kind: Setting }\n    - name: copy',
      'knd: Setting }\n    - name: copy',
    );
    await writeFile(file('wrong.yaml'), wrong);
    const args = ['declarative', 'run', file('wrong.yaml'), '--kubeconfig', file('kubeconfig')];
    const { code, stderr } = await cli(args);
    expect(code).to.equal(1);
    expect(stderr).to.include('wrong.yaml:').and.include('did you mean kind?');
  });

  for (const [what, args, says] of [
    ['a missing kubeconfig', ['--kubeconfig', 'none'], 'none'],
    ['an unknown context', ['--context', 'prod'], 'prod'],
    ['missing keys', ['--api-server-keys', 'none'], "none/tls.crt can't be read"],
    ['an invalid port', ['--api-server-port', '70000'], 'Want a port, 0 to 65535'],
    [
      'plain HTTP beyond loopback',
      ['--api-server-port', '0', '--api-server-host', '0.0.0.0'],
      'pass --api-server-keys',
    ],
    ['authenticated metrics without a port', ['--metrics-auth', 'a/b'], 'pass --metrics-port too'],
    ['a Lease without a namespace', ['--leader-election', 'shop'], 'as shop/operator'],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const result = await start(...args).ended;
      expect(result.code).to.equal(1);
      expect(result.stderr).to.include(says);
    });
  }
});
