import { expect } from 'chai';
import type { Client } from '../../../../lib/client/index.js';
import { Deployment } from '../../../../lib/object/kinds.js';
import { eventually } from '../../../../lib/testing/index.js';
import { startCli } from '../../cli.js';
import type { RunningCli } from '../../cli.js';
import { shopProject } from '../../project/shop-project.js';
import { Shop } from '../../project/shop/src/shop.js';

/** A cluster for `operator-builder run`. */
export interface FeedTarget {
  readonly kubeconfig: string;
  readonly client: Client;
  /** A new, empty namespace. */
  readonly namespace: string;
}

/** Other specs may keep the machine busy. */
const patience = { timeoutMs: 20_000 };

/** Specs of the output of `operator-builder run` on a cluster. */
export function feedSuite(open: () => Promise<FeedTarget>): void {
  let target: FeedTarget;
  let running: RunningCli | undefined;

  before(async () => {
    target = await open();
    const { kubeconfig, namespace } = target;
    const where = ['--kubeconfig', kubeconfig, '-n', namespace, '--install-crds'];
    running = startCli(['run', '--project', shopProject, ...where]);
    await written('\nstarted\n');
  });

  after(async () => {
    running?.stop();
    await running?.ended;
  });

  const output = (): string => running?.written().stdout ?? '';

  /** Waits until the output contains a text. */
  async function written(text: string): Promise<void> {
    await eventually(() => expect(output(), running?.written().stderr).to.include(text), patience);
  }

  async function apply(spec: object): Promise<void> {
    const { client, namespace } = target;
    const shop = { apiVersion: Shop.apiVersion, kind: 'Shop', spec };
    const named = { ...shop, metadata: { name: 'a', namespace } };
    await client.apply(named, { fieldManager: 'user', force: true });
  }

  it('the feed starts with the context, the server, the namespaces and the CRDs', () => {
    const { namespace } = target;
    const [first, second, third] = output().split('\n');
    expect(first).to.match(/^operator shops, on context \S+: https?:\/\/127\.0\.0\.1:\d+$/);
    expect(second).to.equal(`namespaces: ${namespace}`);
    expect(third).to.match(
      /^CustomResourceDefinitions: shops\.shops\.example \((?:installed|updated|unchanged)\)$/,
    );
  });

  it('the feed prints objects that the operator creates, and changes of its resources by other clients', async () => {
    const { namespace } = target;
    await apply({ image: 'shop:1', greeting: 'hello' });
    for (const line of [
      `+ Shop ${namespace}/a\n`,
      `~ Shop ${namespace}/a  metadata.finalizers: ["shops.example/till"]\n`,
      `+ Deployment ${namespace}/web\n`,
      `+ ConfigMap ${namespace}/texts\n`,
      `~ Shop ${namespace}/a  status.image: "shop:1"\n`,
    ]) {
      await written(line);
    }
  });

  it('the feed prints changed fields, each change only once, and pruned objects', async () => {
    const { namespace } = target;
    await apply({ image: 'shop:2' });
    const image = 'spec.template.spec.containers[name=web].image: "shop:1" → "shop:2"';
    await written(image);
    await written(`- ConfigMap ${namespace}/texts\n`);
    await written(`~ Shop ${namespace}/a  status.image: "shop:1" → "shop:2"\n`);
    expect(output().split(image)).to.have.length(2);
    expect(output().split(`- ConfigMap ${namespace}/texts\n`)).to.have.length(2);
    expect(output()).not.to.include('operator-builder.io/applied-hash');
  });

  it('the feed prints the error of a reconcile with object, field and next attempt', async () => {
    const { namespace } = target;
    await apply({ image: 'broken' });
    await written(`! Shop ${namespace}/a: the image is broken (again in `);
    await apply({ image: '' });
    const field = 'spec.template.spec.containers[0].image: Required value';
    await written(`! Shop ${namespace}/a: apply Deployment ${namespace}/web: 422 ${field}`);
    await apply({ image: 'shop:3' });
    await written(`~ Shop ${namespace}/a  status.image: "shop:2" → "shop:3"\n`);
  });

  it('the feed omits objects that other clients create', async () => {
    const { client, namespace } = target;
    const metadata = { name: 'foreign', namespace };
    await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
    await client.delete(Deployment, { name: 'web', namespace });
    // Once the Deployment is recreated, the watch has already delivered the foreign ConfigMap.
    await eventually(
      () => expect(output().split(`+ Deployment ${namespace}/web\n`)).to.have.length(3),
      patience,
    );
    expect(output()).to.include(`- Deployment ${namespace}/web\n`).and.not.include('foreign');
  });
}
