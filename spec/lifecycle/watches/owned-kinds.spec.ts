import { expect } from 'chai';
import { Cache } from '../../../lib/cache/index.js';
import type { SourceContext } from '../../../lib/controller/index.js';
import type { ReconcileKey } from '../../../lib/controller/keys.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { OwnedKinds } from '../../../lib/lifecycle/owned-kinds.js';
import { ConfigMap, Secret } from '../../../lib/object/kinds.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { seededRandom } from '../../../lib/system/random.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

describe('watches of the kinds that a controller owns', () => {
  let clock: VirtualClock;
  let cluster: EmbeddedCluster<VirtualClock>;
  let cache: Cache;
  let context: SourceContext;
  const keys: string[] = [];
  beforeEach(async () => {
    clock = new VirtualClock();
    cluster = await EmbeddedCluster.start({ clock });
    const client = cluster.client();
    cache = new Cache({ client, clock });
    cache.start();
    keys.splice(0);
    context = {
      ...{ cluster: '', cache, client, clock, random: seededRandom(1), logger: silentLogger },
      enqueue: ({ name }: ReconcileKey) => keys.push(name) > 0,
      failed: (_what, error) => {
        throw error;
      },
    };
  });
  afterEach(async () => {
    await cache.stop();
    await cluster.stop();
  });

  it('enqueue the owners again when a replica acquires keys, such as after the move of a shard', async () => {
    const client = cluster.client();
    const kinds = new OwnedKinds(Secret, undefined);
    const started = kinds.start(context);
    kinds.add([ConfigMap, ConfigMap]);
    const secret = { apiVersion: 'v1', kind: 'Secret' } as const;
    const { metadata } = await client.create<Secret>({
      ...secret,
      metadata: { name: 'owner', namespace: 'default' },
    });
    const owner = { ...secret, name: 'owner', uid: metadata.uid ?? '' };
    await client.create<ConfigMap>({
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: {
        ...{ name: 'owned', namespace: 'default' },
        ownerReferences: [{ ...owner, controller: true }],
      },
    });
    for (let round = 0; keys.length === 0 && round < 100; round++) await clock.advance(50);
    await clock.advance(1_000);
    expect(new Set(keys.splice(0))).to.deep.equal(new Set(['owner']));
    started.replay?.({ type: 'acquired' });
    await clock.advance(50);
    expect(keys).to.deep.equal(['owner']);
    expect(kinds.types).to.deep.equal([ConfigMap]);
    await started.stop();
  });

  it('begin at the start also for kinds that were added before it', async () => {
    const kinds = new OwnedKinds(Secret, undefined);
    kinds.add([ConfigMap]);
    const mark = cluster.requests.mark();
    const started = kinds.start(context);
    await clock.advance(1_000);
    const watched = cluster.requests.since(mark).entries.map(({ resource }) => resource);
    expect(new Set(watched)).to.deep.equal(new Set(['configmaps']));
    await started.stop();
  });

  it('are not begun if there is a watchRegistrator, which is called once for each kind', async () => {
    const registered: string[] = [];
    const kinds = new OwnedKinds(Secret, ({ kind }) => void registered.push(kind));
    kinds.add([ConfigMap]);
    const mark = cluster.requests.mark();
    const started = kinds.start(context);
    kinds.add([ConfigMap, Secret]);
    await clock.advance(1_000);
    expect(registered).to.deep.equal(['ConfigMap', 'Secret']);
    expect(kinds.types).to.deep.equal([ConfigMap, Secret]);
    expect(cluster.requests.since(mark).entries).to.deep.equal([]);
    expect(started.status?.()).to.deep.equal({ problem: undefined });
    await started.stop();
  });

  it('do not begin for a controller that has stopped', async () => {
    const kinds = new OwnedKinds(Secret, undefined);
    await kinds.start(context).stop();
    const mark = cluster.requests.mark();
    kinds.add([ConfigMap]);
    await clock.advance(1_000);
    expect(cluster.requests.since(mark).entries).to.deep.equal([]);
  });

  it('show the problem of a kind that the server does not serve', async () => {
    const kinds = new OwnedKinds(Secret, undefined);
    const started = kinds.start(context);
    const none = { apiVersion: 'none.example.com/v1', kind: 'None' };
    kinds.add([ConfigMap, none]);
    for (let round = 0; started.status?.().problem === undefined && round < 100; round++) {
      await clock.advance(50);
    }
    expect(started.status?.().problem).to.match(/None/);
    await started.stop();
  });
});
