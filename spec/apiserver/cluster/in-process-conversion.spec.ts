import { expect } from 'chai';
import { ensureCrd, getIfExists } from '../../../lib/client/index.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { defineResource, s, versionOfResource } from '../../../lib/crd/index.js';
import type { ObjectOf } from '../../../lib/crd/index.js';
import { ConfigMap, CustomResourceDefinition, Namespace } from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import { configMap } from '../controllers/workload-objects.js';

const Shop = defineResource({
  ...{ group: 'example.com', kind: 'Shop' },
  versions: [
    { name: 'v1', storage: true, schema: s.object({ spec: s.object({ title: s.string() }) }) },
    { name: 'v1beta1', schema: s.object({ spec: s.object({ name: s.string() }) }) },
  ],
  conversion: {
    hub: 'v1',
    spokes: {
      v1beta1: {
        toHub: (old) => {
          if (old.spec.name === '') throw new Error('no name');
          return { ...old, spec: { title: old.spec.name } };
        },
        fromHub: (hub) => ({ ...hub, spec: { name: hub.spec.title } }),
      },
    },
  },
});

type OldShop = KubernetesObject & { spec: { name: string } };
const OldShop = versionOfResource<OldShop>(Shop, 'v1beta1');
const metadata = { name: 'toys', namespace: 'default' };
const shop = (): ObjectOf<typeof Shop> => Shop.object({ metadata, spec: { title: 'Toys' } });
const oldShop = (name: string): OldShop => ({
  ...{ apiVersion: 'example.com/v1beta1', kind: 'Shop', metadata, spec: { name } },
});

describe('EmbeddedCluster with a resource that is converted by functions', () => {
  let cluster: EmbeddedCluster;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Shop] });
  });

  afterEach(() => cluster.stop());

  it('stores an object of the other version in the hub version', async () => {
    const client = cluster.client();
    const created = await client.create(oldShop('Toys'));
    expect(created.spec).to.deep.equal({ name: 'Toys' });
    expect((await client.get(Shop, metadata)).spec).to.deep.equal({ title: 'Toys' });
  });

  it('converts objects that are read, listed and watched', async () => {
    const client = cluster.client();
    await client.create(shop());
    expect((await client.get(OldShop, metadata)).spec).to.deep.equal({ name: 'Toys' });
    const { items } = await client.list(OldShop);
    expect(items.map(({ spec }) => spec)).to.deep.equal([{ name: 'Toys' }]);
    for await (const event of client.watch(OldShop, { resourceVersion: '0' })) {
      expect(event).to.have.nested.property('object.spec.name', 'Toys');
      break;
    }
  });

  it('fails a request for an object that a conversion function refuses', async () => {
    const refusal = cluster
      .client()
      .create(oldShop(''))
      .then(() => 'created', String);
    expect(await refusal).to.include(
      'conversion webhook for example.com/v1beta1, Kind=Shop failed',
    );
    expect(await refusal).to.include('its conversion of v1beta1 failed: no name');
  });

  it('applies in one version what the same manager applied in another, with converters that read required fields', async () => {
    const disk = <T extends object>(fields: T) =>
      s.object({ spec: s.object({ ...fields, labels: s.defaulted(s.map(s.string()), {}) }) });
    const copied = (labels: Record<string, string>): Record<string, string> =>
      Object.fromEntries(Object.entries(labels));
    const Disk = defineResource({
      ...{ group: 'example.com', kind: 'Disk' },
      versions: [
        { name: 'v1', storage: true, schema: disk({ size: s.string() }) },
        { name: 'v2', schema: disk({ storage: s.object({ size: s.string() }) }) },
      ],
      conversion: {
        hub: 'v1',
        spokes: {
          v2: {
            toHub: ({ spec: { storage, labels }, ...object }) => ({
              ...object,
              spec: { size: storage.size, labels: copied(labels) },
            }),
            fromHub: ({ spec: { size, labels }, ...object }) => ({
              ...object,
              spec: { storage: { size }, labels: copied(labels) },
            }),
          },
        },
      },
    });
    const disks = await EmbeddedCluster.start({ crds: [Disk] });
    try {
      const apply = (version: string, spec: object): Promise<unknown> => {
        const object = { apiVersion: `example.com/${version}`, kind: 'Disk', metadata, spec };
        return disks.client().apply(object, { fieldManager: 'user' });
      };
      await apply('v1', { size: '1Gi', labels: { a: 'b' } });
      const changed = await apply('v2', { storage: { size: '2Gi' } });
      expect(changed).to.have.deep.nested.property('object.spec', {
        storage: { size: '2Gi' },
        labels: {},
      });
      const back = await apply('v1', { size: '3Gi' });
      expect(back).to.have.deep.nested.property('object.spec', { size: '3Gi', labels: {} });
    } finally {
      await disks.stop();
    }
  });

  describe('with an object that was stored in an earlier version', () => {
    const inTeam = { ...metadata, namespace: 'team' };
    const child = (name: string, shop: KubernetesObject): KubernetesObject => {
      const { apiVersion, kind } = shop;
      const owner = { apiVersion, kind, name: metadata.name, uid: shop.metadata.uid ?? '' };
      return configMap(name, { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] });
    };

    const changeVersions = async (fieldsOf: (version: string) => object): Promise<void> => {
      const client = cluster.client();
      const { name } = Shop.crd.metadata;
      const crd = await client.get(CustomResourceDefinition, { name });
      const versions = crd.spec.versions.map((one) => ({ ...one, ...fieldsOf(one.name) }));
      await client.update({ ...crd, spec: { ...crd.spec, versions } });
    };

    beforeEach(async () => {
      const client = cluster.client();
      await client.create<Namespace>({
        ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } },
      });
      await client.create(Shop.object({ metadata: inTeam, spec: { title: 'Toys' } }));
      await client.create(child('before', await client.create(shop())));
      await changeVersions((name) => ({ storage: name === 'v1beta1' }));
    });

    for (const propagationPolicy of ['Background', 'Foreground', 'Orphan'] as const) {
      it(`deletes or orphans its dependents when the object is deleted with the policy ${propagationPolicy}`, async () => {
        const client = cluster.client();
        await client.create(child('after', await client.get(Shop, metadata)));
        await client.delete(Shop, metadata, { propagationPolicy });
        await cluster.settled();
        expect((await client.list(Shop, { namespace: 'default' })).items).to.deep.equal([]);
        const { items } = await client.list(ConfigMap, { namespace: 'default' });
        const owned = items.map(({ metadata: { name, ownerReferences } }) => [
          name,
          ownerReferences,
        ]);
        const left = propagationPolicy === 'Orphan' ? ['after', 'before'] : [];
        expect(owned).to.deep.equal(left.map((name) => [name, undefined]));
      });
    }

    it('deletes the object in the foreground although its stored version is no longer served', async () => {
      const client = cluster.client();
      await changeVersions((name) => ({ served: name === 'v1beta1' }));
      await client.delete(OldShop, metadata, { propagationPolicy: 'Foreground' });
      await cluster.settled();
      expect((await client.list(OldShop, { namespace: 'default' })).items).to.deep.equal([]);
      expect((await client.list(ConfigMap, { namespace: 'default' })).items).to.deep.equal([]);
    });

    for (const [kept, title] of [
      ['v1', 'the storage version is'],
      ['v1beta1', 'its own version is'],
    ] as const) {
      it(`deletes the object with its owner or its namespace although ${title} not served`, async () => {
        const client = cluster.client();
        const owner = await client.create(configMap('owner'));
        const { apiVersion, kind, metadata: own } = owner;
        const reference = { apiVersion, kind, name: 'owner', uid: own.uid ?? '' };
        await client.patch(Shop, metadata, {
          ...{ type: 'merge', body: { metadata: { ownerReferences: [reference] } } },
        });
        await changeVersions((name) => ({ storage: name === kept, served: name === 'v1beta1' }));
        await client.delete(ConfigMap, { name: 'owner', namespace: 'default' });
        await client.delete(Namespace, { name: 'team' });
        await cluster.settled();
        expect((await client.list(OldShop)).items).to.deep.equal([]);
        expect(await getIfExists(client, Namespace, { name: 'team' })).to.equal(undefined);
      });
    }

    it('deletes the object with its namespace', async () => {
      const client = cluster.client();
      await client.delete(Namespace, { name: 'team' });
      await cluster.settled();
      expect((await client.list(Shop, { namespace: 'team' })).items).to.deep.equal([]);
      expect(await getIfExists(client, Namespace, { name: 'team' })).to.equal(undefined);
    });
  });

  it('converts after the definition is installed again', async () => {
    const client = cluster.client();
    await ensureCrd(client, Shop.crd);
    await client.create(oldShop('Toys'));
    expect((await client.get(Shop, metadata)).spec).to.deep.equal({ title: 'Toys' });
  });

  it('converts after a restore into another cluster with the resource', async () => {
    await cluster.client().create(oldShop('Toys'));
    const other = await EmbeddedCluster.start({ crds: [Shop] });
    try {
      other.restore(cluster.snapshot());
      const { spec } = await other.client().get(OldShop, metadata);
      expect(spec).to.deep.equal({ name: 'Toys' });
    } finally {
      await other.stop();
    }
  });
});
