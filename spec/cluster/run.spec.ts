import { expect } from 'chai';
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { ConnectedClient } from '../../lib/client/index.js';
import { Deployment, Namespace } from '../../lib/object/kinds.js';
import { systemRandom } from '../../lib/system/random.js';
import { scratchDirectory } from '../cli/cli.js';
import { Shop } from '../cli/project/shop/src/shop.js';
import { copyShopProject, replaceFile } from '../cli/run/project.js';
import { feedSuite } from '../cli/run/suite/feed-suite.js';
import { sharedControlPlane } from './control-plane/shared.js';

/** Allows for the network between operator-builder and the API server. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

describe('operator-builder run on a real API server', () => {
  const file = scratchDirectory();
  const namespace = `run-${systemRandom.uuid().slice(0, 8)}`;
  const metadata = { name: 'a', namespace };
  let client: ConnectedClient;
  let child: ChildProcessWithoutNullStreams;
  let ended: Promise<unknown[]>;
  const output = { stdout: '', stderr: '' };

  before(async () => {
    const { kubeConfigPath: path } = await sharedControlPlane();
    client = await clientFromKubeConfig({ path });
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await copyShopProject(file('shop'));
    child = spawn(process.execPath, [
      ...['--import', 'tsx', 'lib/cli/main.ts', 'run', '--project', file('shop')],
      ...['--kubeconfig', path, '--install-crds', '-n', namespace],
    ]);
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].on('data', (chunk: Buffer) => (output[name] += chunk.toString()));
    }
    ended = once(child, 'exit');
  });

  after(async () => {
    child.kill('SIGKILL');
    await ended;
    await client.delete(Namespace, { name: namespace });
    await client.close();
  });

  /** Waits until the shop's Deployment has this image; the CRD may be new. */
  async function image(wanted: string, apply?: () => Promise<unknown>): Promise<void> {
    for (;;) {
      if (child.exitCode !== null) throw new Error(output.stderr);
      await apply?.().catch(() => undefined);
      const { items } = await client.list(Deployment, { namespace });
      if (items[0]?.spec?.template.spec?.containers[0]?.image === wanted) return;
      await pause();
    }
  }

  it('reconciles applied objects', async () => {
    const shop = Shop.object({ metadata, spec: { image: 'shop:7' } });
    await image('shop:7', () => client.apply(shop, { fieldManager: 'user', force: true }));
  });

  it('restarts with changed code, and continues with the old code when the new code does not compile', async () => {
    const controller = file('shop/src/controllers/shop-controller.ts');
    const source = await readFile(controller, 'utf8');
    const next = source.replace(
      "{ name: 'web', image }",
      "{ name: 'web', image: `${image}-next` }",
    );
    await replaceFile(controller, next.replace('Builder(', 'Builder(('));
    while (!output.stderr.includes('the running operator continues')) await pause();
    await replaceFile(controller, next);
    await image('shop:7-next');
    expect(output.stderr.match(/the operator restarts/g)).to.have.length(1);
  });

  it('exits with 0 on SIGTERM', async () => {
    child.kill('SIGTERM');
    const [code] = await ended;
    expect(code, output.stderr).to.equal(0);
    expect(output.stdout).to.include(`+ Deployment ${namespace}/web\n`);
  });
});

describe('output of operator-builder run on a real API server', () => {
  const namespace = `feed-${systemRandom.uuid().slice(0, 8)}`;
  let client: ConnectedClient;

  after(async () => {
    await client.delete(Namespace, { name: namespace });
    await client.close();
  });

  feedSuite(async () => {
    const { kubeConfigPath: kubeconfig } = await sharedControlPlane();
    client = await clientFromKubeConfig({ path: kubeconfig });
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    return { kubeconfig, client, namespace };
  });
});
