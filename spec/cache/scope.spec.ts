import { expect } from 'chai';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { Cache, cachedClient, cachedType } from '../../lib/cache/index.js';
import type { CachedClient } from '../../lib/cache/index.js';
import { forwarding } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import {
  ClusterRole,
  ConfigMap,
  CustomResourceDefinition,
  isNotFound,
  keyOf,
  keyString,
} from '../../lib/object/index.js';
import type { KubernetesObject, ObjectKey, TypeReference } from '../../lib/object/index.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { eventually } from '../../lib/testing/index.js';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const named = { apiVersion, kind: 'ClusterRole' };

function role(name: string): KubernetesObject {
  return { ...named, metadata: { name } };
}

function configMap(name: string): KubernetesObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } };
}

/** Returns `client` with watches that deliver an event only once `gate.open` is resolved. */
function held(client: Client, gate: { open: Promise<void> }): Client {
  return {
    ...forwarding(client),
    watch: async function* (type, options) {
      for await (const event of client.watch(type, options)) {
        await gate.open;
        yield event;
      }
    },
  };
}

const toyType = { group: 'example.com', version: 'v1', kind: 'Toy', plural: 'toys' };

function toyDefinition(scope: 'Cluster' | 'Namespaced'): CustomResourceDefinition {
  const { group, kind, plural } = toyType;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope, names: { kind, plural, singular: 'toy', listKind: 'ToyList' } },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  };
}

interface Setup {
  readonly cache: Cache;
  readonly cached: CachedClient;
  readonly live: Client;
  /** Withholds later watch events until the end. */
  readonly hold: () => void;
}

/** Runs `check` with a synced cache of ClusterRoles and ConfigMaps. */
async function withCache(
  type: TypeReference<KubernetesObject>,
  check: (setup: Setup) => Promise<void>,
  namespaces?: readonly string[],
): Promise<void> {
  const cluster = await EmbeddedCluster.start();
  const live = cluster.client();
  for (const name of ['a', 'b']) await live.create(role(name));
  await live.create(configMap('default-map'));
  const gate = { open: Promise.resolve() };
  let open = (): void => undefined;
  const client = held(live, gate);
  const cache = new Cache({ client, types: [cachedType({ type, namespaces })] });
  for (const kind of [type, ConfigMap]) cache.informer(kind);
  cache.start();
  await cache.waitForSync();
  const hold = (): void => {
    gate.open = new Promise((resolve) => (open = resolve));
  };
  try {
    await check({ cache, cached: cachedClient(client, cache, { staleWaitMs: 20 }), live, hold });
  } finally {
    open();
    await cache.stop();
    await cluster.stop();
  }
}

async function refusal(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'accepted',
    (error: unknown) => String(error),
  );
}

function names(objects: readonly KubernetesObject[]): string[] {
  return objects.flatMap(({ metadata: { name = '' } }) => (name.length === 1 ? [name] : []));
}

describe('reads and writes of a cached kind', () => {
  const types: readonly [string, TypeReference<KubernetesObject>][] = [
    ['a resource type', ClusterRole],
    ['apiVersion and kind', named],
  ];
  for (const [how, type] of types) {
    describe(`that is cluster-scoped, given as ${how}`, () => {
      const key = { namespace: 'default', name: 'a' };

      it('ignore the namespace in the key of a read, as on the server', async () => {
        await withCache(type, async ({ cache, cached, live }) => {
          expect((await cached.get(type, key)).metadata.uid).to.be.a('string');
          expect(cached.looks.get(type, key)).to.have.nested.property('metadata.name', 'a');
          const options = { namespace: 'default' };
          const { items } = await live.list(type, options);
          expect(names((await cached.list(type, options)).items)).to.deep.equal(names(items));
          expect(names(cached.looks.list(type, options) ?? [])).to.deep.equal(names(items));
          const informer = cache.informer(type);
          expect(informer.get(key)).to.have.nested.property('metadata.name', 'a');
          expect(names(informer.list('default'))).to.have.members(['a', 'b']);
        });
      });

      it('show a write to a key with a namespace in the next read', async () => {
        await withCache(type, async ({ cached, live, hold }) => {
          hold();
          const body = { metadata: { labels: { app: 'web' } } };
          await cached.patch(type, key, { type: 'merge', body });
          const { metadata } = await cached.get(type, { name: 'a' });
          expect(metadata.labels).to.deep.equal({ app: 'web' });
          await cached.delete(type, key);
          const error: unknown = await cached.get(type, { name: 'a' }).catch((e: unknown) => e);
          expect(isNotFound(error)).to.equal(true);
          expect(names((await cached.list(type)).items)).to.deep.equal(['b']);
          // A refused write shows that the cache is behind.
          await live.delete(type, { name: 'b' });
          await refusal(cached.patch(type, { ...key, name: 'b' }, { type: 'merge', body }));
          expect(await refusal(cached.get(type, { name: 'b' }))).to.contain('404');
        });
      });

      it('show a deletion of all objects in a namespace in the next list', async () => {
        await withCache(type, async ({ cached, hold }) => {
          hold();
          await cached.deleteCollection(type, { namespace: 'default' });
          expect(names((await cached.list(type)).items)).to.deep.equal([]);
        });
      });

      it('ignore the option namespaces of the cache', async () => {
        await withCache(
          type,
          async ({ cache, cached }) => {
            expect(names((await cached.list(type)).items)).to.deep.equal(['a', 'b']);
            expect(names(cache.informer(type).list())).to.have.members(['a', 'b']);
            expect(cached.looks.get(type, key)).to.have.nested.property('metadata.name', 'a');
          },
          ['default', 'other'],
        );
      });
    });
  }

  it('follow CRDs of different scopes that replace each other, within the namespaces of the cache', async () => {
    const clock = new VirtualClock();
    const cluster = await EmbeddedCluster.start({ clock });
    const live = cluster.client();
    const type = { apiVersion: 'example.com/v1', kind: 'Toy' };
    const namespaces = ['default', 'other'];
    for (const name of ['other', 'third']) {
      await live.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    const cache = new Cache({ client: cluster.client({ user: 'cache' }), namespaces, clock });
    const informer = cache.informer(type);
    cache.start();
    const shows = async (...expected: string[]): Promise<void> => {
      const keys = (): string[] => informer.list().map((object) => keyString(keyOf(object)));
      await eventually(() => expect(keys()).to.have.members(expected), { clock });
    };
    const serve = async (scope: 'Cluster' | 'Namespaced'): Promise<void> => {
      await live.create(toyDefinition(scope));
      await eventually(
        async () =>
          expect(await live.list({ ...toyType, namespaced: false })).to.have.property('items'),
        { clock },
      );
    };
    // The first try may use the scope of the former CRD.
    const create = (name: string, namespace?: string): Promise<unknown> => {
      const metadata = { name, ...(namespace !== undefined && { namespace }) };
      return eventually(() => live.create({ ...type, metadata }), { clock });
    };
    const unserve = async (): Promise<void> => {
      await live.delete(CustomResourceDefinition, { name: 'toys.example.com' });
      await shows();
    };
    try {
      for (const round of [1, 2]) {
        await serve('Namespaced');
        for (const namespace of ['default', 'other', 'third']) await create(`a${round}`, namespace);
        await shows(`default/a${round}`, `other/a${round}`);
        await unserve();
        await serve('Cluster');
        await create('b');
        await shows('b');
        await unserve();
      }
    } finally {
      await cache.stop();
      await cluster.stop();
    }
  });

  it('refuse a key of a namespaced kind that the server cannot address', async () => {
    await withCache(ClusterRole, async ({ cached, live }) => {
      const keys: readonly ObjectKey[] = [
        { name: 'default-map' },
        { namespace: '', name: 'default-map' },
        { name: 'default/default-map' },
        { namespace: 'default' } as ObjectKey,
        ...['', '..', 'a/b'].map((name) => ({ namespace: 'default', name })),
      ];
      for (const key of keys) {
        const expected = await refusal(live.get(ConfigMap, key));
        expect(expected).to.contain('get ConfigMap').and.not.contain('404');
        expect(await refusal(cached.get(ConfigMap, key))).to.equal(expected);
        expect(cached.looks.get(ConfigMap, key)).to.equal(undefined);
      }
      for (const namespace of ['', 'a/b']) {
        const expected = await refusal(live.list(ConfigMap, { namespace }));
        expect(expected).to.contain('list ConfigMap');
        expect(await refusal(cached.list(ConfigMap, { namespace }))).to.equal(expected);
      }
    });
  });
});
