import { expect } from 'chai';
import isEqual from 'lodash/isEqual.js';
import omit from 'lodash/omit.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { Cache, cachedClient, cachedType } from '../../lib/cache/index.js';
import type { CachedClient, CachedType } from '../../lib/cache/index.js';
import { createOrPatch, createOrUpdate, ensureCrd } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import type { KubernetesObject, ResourceType } from '../../lib/object/index.js';
import { ConfigMap, Pod } from '../../lib/object/kinds.js';
import type { CustomResourceDefinition } from '../../lib/object/kinds.js';

const key = { namespace: 'default', name: 'a' };

describe('An update of a cached object from which a transform has dropped fields', () => {
  let cluster: EmbeddedCluster;
  let admin: Client;
  const caches: Cache[] = [];

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start();
    admin = cluster.client();
    const metadata = { ...key, annotations: { note: 'long', kept: 'yes' } };
    await admin.create<ConfigMap>({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: { x: '1' },
    });
  });

  afterEach(async () => {
    for (const cache of caches.splice(0)) await cache.stop();
    await cluster.stop();
  });

  async function cached(type: CachedType): Promise<CachedClient> {
    const client = cluster.client();
    const cache = new Cache({ client, types: [type] });
    caches.push(cache);
    cache.informer(type.type);
    cache.start();
    await cache.waitForSync();
    return cachedClient(client, cache);
  }

  const withoutData = () =>
    cached(cachedType({ type: ConfigMap, transform: (map) => omit(map, 'data') }));
  const failure = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => undefined,
      (error: unknown) => error,
    );
  const data = async () => (await admin.get(ConfigMap, key)).data;

  it('is refused if it would remove a dropped field, and the error says what to do', async () => {
    const client = await withoutData();
    const seen = await client.get(ConfigMap, key);
    const error = await failure(client.update({ ...seen, immutable: false }));
    expect(error).to.have.property('code', 'InvalidObject');
    expect(String(error)).to.include(
      'update ConfigMap default/a: it would remove data, which the transform of the cache drops; send a patch',
    );
    expect(await data()).to.deep.equal({ x: '1' });
  });

  it('is refused even if the transform changes its argument in place', async () => {
    const transform = (map: ConfigMap): ConfigMap => {
      delete map.data;
      return map;
    };
    const client = await cached(cachedType({ type: ConfigMap, transform }));
    const seen = await client.get(ConfigMap, key);
    const error = await failure(client.update({ ...seen, immutable: false }));
    expect(error).to.have.property('code', 'InvalidObject');
    expect(await data()).to.deep.equal({ x: '1' });
  });

  it('is refused in createOrUpdate, while createOrPatch keeps the field', async () => {
    const client = await withoutData();
    const object: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };
    const mutate = (live: ConfigMap): ConfigMap => ({ ...live, immutable: false });
    const error = await failure(createOrUpdate(client, object, { mutate }));
    expect(error).to.have.property('code', 'InvalidObject');
    await createOrPatch(client, object, { mutate });
    expect(await data()).to.deep.equal({ x: '1' });
  });

  it('is sent if it sets the dropped field, or if it contains the whole object from the server', async () => {
    const client = await withoutData();
    const seen = await client.get(ConfigMap, key);
    await client.update({ ...seen, data: { x: '2' } });
    expect(await data()).to.deep.equal({ x: '2' });
    const live = await client.live.get(ConfigMap, key);
    await client.update({ ...live, immutable: false });
    expect(await data()).to.deep.equal({ x: '2' });
  });

  it('is refused if the cache dropped an annotation, and names the path of the annotation', async () => {
    const transform = ({ metadata, ...rest }: ConfigMap): ConfigMap => {
      const annotations = omit(metadata.annotations, 'note');
      return { ...rest, metadata: { ...metadata, annotations } };
    };
    const client = await cached(cachedType({ type: ConfigMap, transform }));
    const seen = await client.get(ConfigMap, key);
    const error = await failure(client.update({ ...seen, data: { x: '2' } }));
    expect(String(error)).to.include('it would remove metadata.annotations.note, which');
  });

  it('keeps a dropped status, and is refused if it would remove the status', async () => {
    const containers = [{ name: 'web', image: 'web:1' }];
    const web: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: key, spec: { containers } };
    await admin.create(web);
    const body = { status: { message: 'runs' } };
    await admin.patch(Pod, key, { type: 'merge', body }, { subresource: 'status' });
    const client = await cached(cachedType({ type: Pod, transform: (pod) => omit(pod, 'status') }));
    const { metadata, ...rest } = await client.get(Pod, key);
    const labelled = { ...rest, metadata: { ...metadata, labels: { app: 'web' } } };
    const updated = await client.update(labelled);
    expect(updated.status?.message).to.equal('runs');
    const error = await failure(client.update(updated, { subresource: 'status' }));
    expect(error).to.equal(undefined);
    const shortened = await client.get(Pod, key);
    const refused = await failure(client.update(shortened, { subresource: 'status' }));
    expect(String(refused)).to.include('it would remove status, which');
  });

  describe('of a kind without a status subresource', () => {
    interface Shop extends KubernetesObject {
      readonly spec: { readonly size: number };
      readonly status?: { readonly text?: string; readonly conditions?: readonly object[] };
    }
    const names = { version: 'v1', kind: 'Shop', plural: 'shops', namespaced: true };
    const Shop: ResourceType<Shop> = { group: 'example.com', ...names };
    const [open, busy, ready] = [
      { type: 'Open' },
      { type: 'Busy' },
      { type: 'Ready', message: 'no' },
    ];
    const status = { text: 'a', conditions: [open, busy, ready] };
    const live = async () => (await admin.get(Shop, key)).status;
    const shortened = (transform: (shop: Shop) => Shop) =>
      cached(cachedType({ type: Shop, transform }));

    beforeEach(async () => {
      const openAPIV3Schema = {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
      } as const;
      const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
      const crd: CustomResourceDefinition = {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'shops.example.com' },
        spec: {
          ...{ group: 'example.com', scope: 'Namespaced', versions: [version] },
          names: { plural: 'shops', kind: 'Shop' },
        },
      };
      await ensureCrd(admin, crd);
      const shop = { apiVersion: 'example.com/v1', kind: 'Shop', metadata: key, spec: { size: 1 } };
      await admin.create<Shop>({ ...shop, status });
    });

    it('keeps a dropped status, or a dropped part of the status', async () => {
      for (const dropped of ['status', 'status.text']) {
        const client = await shortened((one) => omit(one, dropped) as Shop);
        const seen = await client.get(Shop, key);
        expect(seen).not.to.have.nested.property(dropped);
        await client.update({ ...seen, spec: { size: seen.spec.size + 1 } });
        expect(await live()).to.deep.equal(status);
      }
      expect((await admin.get(Shop, key)).spec.size).to.equal(3);
    });

    it('keeps a list from which the transform dropped an item, and is refused if it changes that list', async () => {
      const client = await shortened((one) => {
        const conditions = one.status?.conditions?.filter((each) => !isEqual(each, busy)) ?? [];
        return { ...one, status: { ...one.status, conditions } };
      });
      const seen = await client.get(Shop, key);
      expect(seen.status?.conditions).to.deep.equal([open, ready]);
      await client.update({ ...seen, spec: { size: 2 }, status: { ...seen.status, text: 'b' } });
      expect(await live()).to.deep.equal({ ...status, text: 'b' });
      const next = await client.get(Shop, key);
      for (const conditions of [
        [open, { ...ready, message: 'yes' }],
        [open, ready, busy],
        [open],
      ]) {
        const changed = { ...next, status: { ...next.status, conditions } };
        const error = await failure(client.update(changed));
        expect(String(error)).to.include('it would remove status.conditions, which the transform');
      }
      expect(await live()).to.deep.equal({ ...status, text: 'b' });
    });
  });
});
