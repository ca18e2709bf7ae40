import { expect } from 'chai';
import { Builder } from '../../lib/builder/index.js';
import { getIfExists } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { NetworkPolicy } from '../../lib/object/kinds.js';
import { ConfigMap, Deployment, Secret } from '../../lib/object/kinds.js';
import type { Clock } from '../../lib/system/clock.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { podSpec } from './suite/scene.js';

const hourMs = 3_600_000;

describe('Builder with a wall clock that jumps', () => {
  let cluster: EmbeddedCluster<VirtualClock>;
  let client: Client;
  let owner: NetworkPolicy;
  let offsetMs: number;
  let clock: Clock;

  beforeEach(async () => {
    const time = new VirtualClock();
    cluster = await EmbeddedCluster.start({ simulateWorkloads: true, clock: time });
    client = cluster.client();
    owner = await client.create<NetworkPolicy>({
      ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
      ...{ metadata: { namespace: 'default', name: 'shop' }, spec: { podSelector: {} } },
    });
    offsetMs = 0;
    clock = {
      now: () => time.now() + offsetMs,
      monotonicMs: () => time.monotonicMs(),
      setTimer: (callback, delayMs) => time.setTimer(callback, delayMs),
    };
  });

  afterEach(() => cluster.stop());

  const builder = (): Builder => new Builder({ client, owner, clock, controllerName: 'shop' });

  it('prunes an object of another process within ten minutes after the clock jumps back', async () => {
    offsetMs = 5 * hourMs;
    const chain = (): Builder => builder().configMap({ name: 'env' });
    await chain().reconcile();
    const env = await client.get(ConfigMap, { namespace: 'default', name: 'env' });
    const { labels = {}, annotations = {}, ownerReferences = [] } = env.metadata;
    const metadata = { namespace: 'default', name: 'old', labels, annotations, ownerReferences };
    await client.apply<Secret>(
      { apiVersion: 'v1', kind: 'Secret', metadata },
      { fieldManager: 'shop' },
    );
    offsetMs = 0;
    await cluster.clock.advance(600_000);
    await chain().reconcile();
    const old = await getIfExists(client, Secret, { namespace: 'default', name: 'old' });
    expect(old).to.equal(undefined);
  });

  it('requeues within 30 s a workload whose Service has just moved', async () => {
    const chain = (name: string): Builder =>
      builder()
        .service({ name: 'front', workload: name, spec: { ports: [{ port: 80 }] } })
        .deployment({ name, podSpec });
    await chain('old').reconcile();
    await cluster.clock.advance(60_000);
    await cluster.settled();
    offsetMs = -5 * hourMs;
    let reason: string | undefined;
    for (let round = 0; round < 20 && reason?.includes('just moved') !== true; round += 1) {
      const results = await chain('new').reconcile();
      await cluster.settled();
      await cluster.clock.advance(1_000);
      const held = results.find(({ ref }) => ref.kind === 'Deployment' && ref.name === 'old');
      reason = held?.reason;
      expect(held?.requeueAfterMs ?? 0).to.be.at.most(30_000);
    }
    expect(reason).to.include('just moved');
    offsetMs = 0;
    await cluster.clock.advance(5_000);
    await chain('new').reconcile();
    const old = await getIfExists(client, Deployment, { namespace: 'default', name: 'old' });
    expect(old).to.equal(undefined);
  });
});
