import { expect } from 'chai';
import { getIfExists } from '../../lib/client/object-changes.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { OperatorResource } from '../../lib/declarative/crd/index.js';
import { CustomResourceDefinition } from '../../lib/object/kinds.js';
import { eventually } from '../../lib/testing/index.js';
import { scratchDirectory, startCli, urlOfViews } from './cli.js';
import type { RunningCli } from './cli.js';

const controllers = [
  {
    name: 'copy',
    sources: [{ apiGroup: '', kind: 'ConfigMap', labelSelector: { matchLabels: { of: 'shop' } } }],
    pipeline: { '@project': { metadata: { name: 'copy', namespace: 'default' }, data: '$.data' } },
    target: { kind: 'Copy' },
  },
];
const operator = {
  ...{ apiVersion: 'dcontroller.io/v1alpha1', kind: 'Operator' },
  ...{ metadata: { name: 'copies' }, spec: { controllers } },
} as const;

describe('operator-builder declarative apiserver', () => {
  const file = scratchDirectory();
  let cluster: EmbeddedCluster;
  let running: RunningCli | undefined;

  before(async () => {
    cluster = await EmbeddedCluster.start({ port: 0 });
    await cluster.writeKubeConfig(file('kubeconfig'));
  });

  after(async () => {
    running?.stop();
    await running?.ended;
    await cluster.stop();
  });

  function start(...args: readonly string[]): RunningCli {
    const common = ['declarative', 'apiserver', '--port', '0', '--kubeconfig', file('kubeconfig')];
    return (running = startCli([...common, ...args]));
  }

  it('does not install the CRD with --no-install-crd', async () => {
    const cli = start('--no-install-crd');
    await urlOfViews(cli);
    cli.stop();
    const { code, stderr } = await cli.ended;
    expect(code, stderr).to.equal(0);
    const definition = { name: 'operators.dcontroller.io' };
    const found = await getIfExists(cluster.client(), CustomResourceDefinition, definition);
    expect(found).to.equal(undefined);
  });

  it('installs the CRD of operators, runs the operator that an object describes, and serves the views of the operator', async () => {
    const client = cluster.client();
    const cli = start();
    const url = await urlOfViews(cli);
    const metadata = { name: 'a', namespace: 'default', labels: { of: 'shop' } };
    await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { b: 'c' } });
    await eventually(() => client.create(operator));
    await eventually(async () => {
      const group = 'copies.view.dcontroller.io/v1alpha1';
      const answer = await fetch(`${url}/apis/${group}/namespaces/default/copy/copy`);
      expect(await answer.json()).to.deep.include({ data: { b: 'c' } });
      const { status } = await client.get(OperatorResource, { name: 'copies' });
      expect(status?.conditions?.[0]).to.include({ type: 'Ready', status: 'True' });
    });
    cli.stop();
    const { code, stdout, stderr } = await cli.ended;
    expect({ code, stdout }, stderr).to.deep.equal({ code: 0, stdout: '' });
  });
});
