import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { clientFromKubeConfig } from '../../../lib/client/index.js';
import type { ConnectedClient } from '../../../lib/client/index.js';
import { eventually } from '../../../lib/testing/index.js';
import { watchHealth } from '../../../samples/declarative/health-watch.js';
import { applyAll, loadSample } from '../../../samples/declarative/sample.js';
import type { Sample } from '../../../samples/declarative/sample.js';
import { cli, scratchDirectory, startCli, urlOfViews } from '../../cli/cli.js';
import type { RunningCli } from '../../cli/cli.js';

describe('the sample health-watch, which watches the status of a declarative resource', () => {
  const file = scratchDirectory();
  const lines: string[] = [];
  const stop = new AbortController();
  let sample: Sample;
  let cluster: EmbeddedCluster;
  let operator: RunningCli;
  let views: ConnectedClient;
  let watching: Promise<void>;

  before(async () => {
    sample = await loadSample('service-health');
    cluster = await EmbeddedCluster.start({ port: 0, simulateWorkloads: true });
    await cluster.writeKubeConfig(file('kubeconfig'));
    await cli(['declarative', 'keys', '-d', file('keys')]);
    operator = startOperator('0');
    const server = await urlOfViews(operator);
    const keys = ['--keys', file('keys'), '--server', server, '--out', file('views')];
    const user = ['--user', 'alice', '--namespaces', '*'];
    expect(await cli(['declarative', 'config', ...user, ...keys])).to.include({ code: 0 });
    views = await clientFromKubeConfig({ path: file('views') });
    watching = watchHealth(views, (line) => lines.push(line), stop.signal);
  });

  after(async () => {
    stop.abort();
    await watching;
    await views.close();
    operator.stop();
    await operator.ended;
    await cluster.stop();
  });

  function startOperator(port: string): RunningCli {
    const server = ['--api-server-port', port, '--api-server-keys', file('keys')];
    const args = ['declarative', 'run', sample.path, '--kubeconfig', file('kubeconfig')];
    return startCli([...args, ...server]);
  }

  function reports(line: string): Promise<void> {
    return eventually(() => {
      expect(lines.at(-1), operator.written().stderr).to.equal(line);
    });
  }

  it('reports a resource that is created, and its changes', async () => {
    const client = cluster.client();
    await applyAll(client, sample.objects);
    await reports('default/shop: 3 of 3 pods are ready');
    await applyAll(client, sample.change, 'change');
    await reports('default/shop: 5 of 5 pods are ready');
  });

  it('continues after a restart of the operator', async () => {
    const { port } = new URL(await urlOfViews(operator));
    operator.stop();
    await operator.ended;
    operator = startOperator(port);
    await cluster
      .client()
      .delete(
        { apiVersion: 'apps/v1', kind: 'Deployment' },
        { name: 'shop', namespace: 'default' },
      );
    await reports('default/shop: gone');
  });

  it('is named in docs/declarative.md', async () => {
    const guide = await readFile('docs/declarative.md', 'utf8');
    expect(guide).to.include('../samples/declarative/health-watch.ts');
  });
});
