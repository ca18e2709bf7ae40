import { expect } from 'chai';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { isGone, isInvalid, isNotFound } from '../../../lib/object/api-error.js';
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Job,
  PersistentVolume,
  Pod,
} from '../../../lib/object/kinds.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

const configMap = (name: string, data = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
});
const crd = (plural: string): CustomResourceDefinition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.acme.com` },
  spec: {
    group: 'acme.com',
    scope: 'Namespaced',
    names: { plural, kind: plural.toUpperCase() },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object' } },
      },
    ],
  },
});
const named = (name: string) => ({ name, namespace: 'default' });

describe('Snapshots of an EmbeddedCluster', () => {
  let cluster: EmbeddedCluster<VirtualClock>;
  beforeEach(async () => {
    cluster = await EmbeddedCluster.start({
      clock: new VirtualClock(),
      simulateWorkloads: true,
      controllers: { rootCertificates: false },
    });
  });
  afterEach(() => cluster.stop());

  it('restore changed, deleted, created and recreated objects', async () => {
    const client = cluster.client();
    const kept = await client.create(configMap('kept'));
    const anew = await client.create(configMap('anew'));
    await client.create(configMap('deleted'));
    await client.create(configMap('changed', { k: '1' }));
    const before = cluster.snapshot();
    await client.update({ ...(await client.get(ConfigMap, named('changed'))), data: { k: '2' } });
    for (const name of ['deleted', 'anew']) await client.delete(ConfigMap, named(name));
    await client.create(configMap('anew'));
    await client.create(configMap('later'));
    cluster.restore(before);
    const items: ConfigMap[] = [];
    for (const item of (await client.list(ConfigMap, { namespace: 'default' })).items)
      items.push(item);
    expect(items.map(({ metadata }) => metadata.name)).to.deep.equal([
      'anew',
      'changed',
      'deleted',
      'kept',
    ]);
    expect(items[1]?.data).to.deep.equal({ k: '1' });
    expect(items[0]?.metadata.uid).to.equal(anew.metadata.uid);
    expect(items[3]?.metadata.resourceVersion).to.equal(kept.metadata.resourceVersion);
  });

  it('end open watches and answer older versions with 410 when restored', async () => {
    const client = cluster.client();
    const { metadata } = await client.create(configMap('a'));
    const { resourceVersion } = metadata;
    const watch = client.watch(ConfigMap, { resourceVersion: resourceVersion! });
    const ended = (async () => {
      for await (const { type } of watch) expect(type).to.be.a('string');
    })();
    await client.create(configMap('b'));
    cluster.restore(cluster.snapshot());
    await ended;
    const again = async (): Promise<void> => {
      for await (const { type } of client.watch(ConfigMap, { resourceVersion: resourceVersion! })) {
        expect(type).to.equal('never');
      }
    };
    const error: unknown = await again().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(isGone(error)).to.equal(true);
  });

  it('restore the kinds of custom resources and remove those created later', async () => {
    const client = cluster.client();
    await client.create(crd('as'));
    const before = cluster.snapshot();
    await client.delete(CustomResourceDefinition, { name: 'as.acme.com' });
    await client.create(crd('bs'));
    cluster.restore(before);
    const made = {
      apiVersion: 'acme.com/v1',
      kind: 'AS',
      metadata: named('x'),
    } as UnstructuredObject;
    expect((await cluster.client().create(made)).metadata.uid).to.be.a('string');
    const kinds = cluster.server.loopback.resourceTypes().map(({ plural }) => plural);
    expect(kinds).to.include('as').and.not.include('bs');
  });

  it('keep a definition whose deletion waits for the finalizers of its objects', async () => {
    const client = cluster.client();
    const held = { apiVersion: 'acme.com/v1', kind: 'AS', metadata: named('x') };
    await client.create(crd('as'));
    const finalizers = ['acme.com/hold'];
    await client.create({
      ...held,
      metadata: { ...held.metadata, finalizers },
    } as object as UnstructuredObject);
    await client.delete(CustomResourceDefinition, { name: 'as.acme.com' });
    const other = await EmbeddedCluster.start({ clock: new VirtualClock() });
    try {
      other.restore(cluster.snapshot());
      const restored = other.client();
      const { metadata } = await restored.get(CustomResourceDefinition, { name: 'as.acme.com' });
      expect(metadata.deletionTimestamp).to.be.a('string');
      const [type] = other.server.loopback.resourceTypes().filter(({ plural }) => plural === 'as');
      const { items } = await restored.list(type!, { namespace: 'default' });
      expect(items).to.have.length(1);
      await restored.patch(type!, named('x'), {
        type: 'merge',
        body: { metadata: { finalizers: null } },
      });
      const gone: unknown = await restored
        .get(CustomResourceDefinition, { name: 'as.acme.com' })
        .catch((error: unknown) => error);
      expect(isNotFound(gone)).to.equal(true);
    } finally {
      await other.stop();
    }
  });

  it("let the cluster's own controllers continue from the restored state", async () => {
    const client = cluster.client();
    const before = cluster.snapshot();
    const labels = { app: 'web' };
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: 'c', image: 'nginx' }] },
    };
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: named('web'),
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    } as Deployment;
    await client.create(deployment);
    await cluster.settled();
    const running = cluster.snapshot();
    cluster.restore(before);
    await cluster.settled();
    expect((await client.list(Pod)).items).to.deep.equal([]);
    cluster.restore(running);
    await cluster.settled();
    expect((await client.get(Deployment, named('web'))).status?.readyReplicas).to.equal(2);
  });

  const podSpec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'nginx' }] };

  for (const by of ['cluster', 'server']) {
    it(`let a pod that was Pending start again after a restore by the ${by}`, async () => {
      const client = cluster.client();
      await client.create<Pod>({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: named('p'),
        spec: podSpec,
      });
      await cluster.settled({ advanceClock: false });
      const before = cluster.snapshot();
      await cluster.settled();
      (by === 'server' ? cluster.server : cluster).restore(before);
      expect((await client.get(Pod, named('p'))).status?.phase).to.equal('Pending');
      await cluster.settled();
      expect((await client.get(Pod, named('p'))).status?.phase).to.equal('Running');
    });
  }

  it('let a Job count a pod that had not ended when the snapshot was taken', async () => {
    const client = cluster.client();
    const spec = { template: { spec: podSpec } };
    await client.create<Job>({ apiVersion: 'batch/v1', kind: 'Job', metadata: named('j'), spec });
    await cluster.settled({ advanceClock: false });
    const before = cluster.snapshot();
    await cluster.settled();
    cluster.restore(before);
    await cluster.settled();
    expect((await client.get(Job, named('j'))).status).to.include({ succeeded: 1 });
    expect((await client.list(Pod)).items).to.have.length(1);
  });

  describe('with selector values that only an earlier version of the server accepted', () => {
    const expression = (value: string) => ({ key: 'a', operator: 'In', values: [value] });
    const terms = (value: string) => ({
      nodeSelectorTerms: [{ matchExpressions: [expression(value)] }],
    });
    const selector = (value: string) => ({ matchExpressions: [expression(value)] });
    const required = 'requiredDuringSchedulingIgnoredDuringExecution';
    const pod = (spec: object): Pod => ({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: named('o') },
      spec: { ...podSpec, ...spec },
    });
    const volume = (value: string): PersistentVolume => ({
      ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'o' } },
      spec: {
        ...{ accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
        ...{ hostPath: { path: '/data' }, nodeAffinity: { required: terms(value) } },
      },
    });
    const topologyKey = 'zone';
    const spread = { maxSkew: 1, topologyKey, whenUnsatisfiable: 'DoNotSchedule' };
    const makers: Readonly<Record<string, (value: string) => Pod | PersistentVolume>> = {
      'a node affinity': (value) =>
        pod({ affinity: { nodeAffinity: { [required]: terms(value) } } }),
      'a pod affinity': (value) =>
        pod({
          affinity: {
            podAffinity: { [required]: [{ topologyKey, labelSelector: selector(value) }] },
          },
        }),
      'a topology spread': (value) =>
        pod({ topologySpreadConstraints: [{ ...spread, labelSelector: selector(value) }] }),
      'the node affinity of a volume': volume,
    };
    for (const [title, make] of Object.entries(makers)) {
      it(`allow an update of an object with such a value in ${title}`, async () => {
        const client = cluster.client();
        const object = make('valid');
        await client.create(object);
        const { collections } = cluster.snapshot();
        const plural = object.kind === 'Pod' ? 'pods' : 'persistentvolumes';
        const stored = Array.from(collections.get(plural) ?? [], ([key, value]) => {
          const text = JSON.stringify(value).replace(
            '"values":["valid"]',
            '"values":["not valid"]',
          );
          return [key, JSON.parse(text) as typeof value] as const;
        });
        cluster.restore({ collections: new Map([...collections, [plural, new Map(stored)]]) });
        const { metadata } = object;
        const key = { namespace: metadata.namespace, name: 'o' } as never;
        const patch = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;
        const { apiVersion, kind } = object;
        const patched = await client.patch({ apiVersion, kind }, key, patch);
        expect(patched.metadata.labels).to.deep.equal({ a: 'b' });
        const other = make('not valid');
        const copy = { ...other, metadata: { ...metadata, name: 'n' } };
        const refused: unknown = await client.create(copy).catch((error: unknown) => error);
        expect(isInvalid(refused)).to.equal(true);
      });
    }

    it('still refuse such a value in an update of an object whose stored values are valid', async () => {
      const client = cluster.client();
      await client.create(volume('valid'));
      const body = { spec: volume('not valid').spec };
      const patch = client.patch(PersistentVolume, { name: 'o' }, { type: 'merge', body });
      expect(isInvalid(await patch.catch((error: unknown) => error))).to.equal(true);
    });
  });

  it('share in memory the collections that did not change between them', async () => {
    const client = cluster.client();
    await client.create(configMap('a'));
    const one = cluster.snapshot();
    await client.create({ ...configMap('s'), kind: 'Secret' } as never);
    const other = cluster.snapshot();
    expect(one.collections.get('configmaps')).to.equal(other.collections.get('configmaps'));
  });
});
