import { expect } from 'chai';
import { Manager } from '../../lib/manager/index.js';
import { isNotFound } from '../../lib/object/api-error.js';
import { isConditionTrue } from '../../lib/object/conditions.js';
import { ConfigMap, Event } from '../../lib/object/kinds.js';
import { Operator } from '../../lib/operator/index.js';
import { sleep } from '../../lib/system/index.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { eventually } from '../../lib/testing/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { operatorName, Tenant } from './suite/stage.js';

const key = { namespace: 'default', name: 'acme' };

describe('An Operator with several clusters', () => {
  const clock = new VirtualClock();
  let clusters: readonly [EmbeddedCluster, EmbeddedCluster];
  const stop = new AbortController();
  let running: Promise<void>;
  const cleaned: string[] = [];

  before(async () => {
    clusters = [
      await EmbeddedCluster.start({ clock, crds: [Tenant] }),
      await EmbeddedCluster.start({ clock }),
    ];
    const operator = new Operator(operatorName);
    operator
      .for(Tenant)
      .owns(ConfigMap)
      .builds(({ builder, cluster, status }) => {
        status.set({ endpoint: cluster });
        return builder.configMap({ name: 'env', data: { cluster } });
      })
      .finalizes(({ cluster }) => void cleaned.push(cluster));
    const [east, west] = clusters;
    const manager = new Manager({
      clock,
      clusters: [
        { name: 'east', client: east.client() },
        { name: 'west', client: west.client() },
      ],
    });
    operator.setup(manager);
    running = manager.run(stop.signal);
  });

  after(async () => {
    stop.abort();
    await Promise.all([running, clock.advance(5_000)]);
    for (const cluster of clusters) await cluster.stop();
  });

  const expectReady = async (n: 0 | 1, cluster: string): Promise<void> => {
    const client = clusters[n].client();
    await eventually(
      async () => {
        const { status, metadata } = await client.get(Tenant, key);
        expect(isConditionTrue(status?.conditions, 'Ready')).to.equal(true);
        expect(status?.endpoint).to.equal(cluster);
        expect(metadata.finalizers).to.deep.equal([`front.example/${operatorName}`]);
        const env = await client.get(ConfigMap, { ...key, name: 'env' });
        expect(env.data).to.deep.equal({ cluster });
        expect(env.metadata.ownerReferences?.[0]?.uid).to.equal(metadata.uid);
        const { items } = await client.list(Event);
        expect(items.map(({ regarding }) => regarding?.uid)).to.include(metadata.uid);
      },
      { clock },
    );
  };

  it('reconciles one cluster while the other does not serve the kind', async () => {
    await clusters[0].client().create(Tenant.object({ metadata: key, spec: {} }));
    await expectReady(0, 'east');
  });

  it('writes status, finalizers, objects and Events to the cluster of the object', async () => {
    const client = clusters[1].client();
    await client.create(Tenant.crd);
    await eventually(() => client.create(Tenant.object({ metadata: key, spec: {} })), { clock });
    await expectReady(1, 'west');
    await client.delete(Tenant, key);
    await eventually(
      async () => {
        const error: unknown = await client.get(Tenant, key).catch((thrown: unknown) => thrown);
        expect(isNotFound(error)).to.equal(true);
      },
      { clock },
    );
    expect(cleaned).to.deep.equal(['west']);
    await expectReady(0, 'east');
  });

  it('shows no time-out of a reconcile from before a cluster was removed, because another process may have reconciled since', async () => {
    const seen: unknown[] = [];
    const operator = new Operator('slow-operator');
    operator
      .for(Tenant)
      .withOptions({ reconcileTimeoutMs: 1_000, backoff: { baseDelayMs: 60_000 } })
      .reconciles(async ({ cluster, object, signal }) => {
        if (cluster !== 'late') return;
        seen.push(object.status?.conditions);
        if (seen.length === 1) await sleep(clock, 60_000, signal);
      });
    const server = await EmbeddedCluster.start({ clock, crds: [Tenant] });
    const client = server.client();
    await client.create(Tenant.object({ metadata: key, spec: {} }));
    const first = { name: 'first', client: clusters[0].client() };
    const manager = new Manager({ clock, clusters: [first] });
    operator.setup(manager);
    const ending = new AbortController();
    const ended = manager.run(ending.signal);
    await manager.whenStarted();
    const late = { name: 'late', client };
    manager.addCluster(late);
    await eventually(() => expect(seen).to.have.length(1), { clock });
    await clock.advance(1_000);
    await manager.removeCluster('late');
    manager.addCluster(late);
    await eventually(() => expect(seen).to.have.length(2), { clock });
    expect(seen).to.deep.equal([undefined, undefined]);
    ending.abort();
    await Promise.all([ended, clock.advance(5_000)]);
    await server.stop();
  });
});
