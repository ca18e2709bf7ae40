import { expect } from 'chai';
import { Cache } from '../../lib/cache/cache.js';
import { cachedType } from '../../lib/cache/index.js';
import type { CacheOptions } from '../../lib/cache/index.js';
import { cachedClient } from '../../lib/cache/cached-client.js';
import { createClient } from '../../lib/client/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/cluster/embedded-cluster.js';
import { ConfigMap, Node, Pod, Service } from '../../lib/object/kinds.js';
import type { CustomResourceDefinition } from '../../lib/object/kinds.js';
import { isConflict, isNotFound } from '../../lib/object/api-error.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../lib/object/resource-type.js';
import { seededRandom } from '../../lib/system/random.js';
import { UndiciTransport } from '../../lib/system/undici-transport.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';

function configMap(name: string, size = 0): ConfigMap {
  const metadata = { name, namespace: 'default' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { size: String(size) } };
}

const Widget: ResourceType<KubernetesObject> = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};

const widgetCrd: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget' },
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

async function start(streamingLists: boolean, types: CacheOptions['types'] = []) {
  const clock = new VirtualClock();
  const cluster = await EmbeddedCluster.start({ clock, logLength: 50 });
  const client = cluster.client({ user: 'operator' });
  const other = cluster.client({ user: 'other' });
  const cache = new Cache({ client, clock, random: seededRandom(3), streamingLists, types });
  const cached = cachedClient(client, cache, { clock });
  const informer = cache.informer(ConfigMap);
  cache.start();
  const stop = async (): Promise<void> => {
    await Promise.all([cache.stop(), clock.advance(0)]);
    await cluster.stop();
    expect(clock.pendingTimers).to.equal(0);
  };
  const names = (): string[] => informer.list('default').map(({ metadata }) => metadata.name ?? '');
  return { ...{ cache, cached, client, clock, cluster }, informer, names, other, stop };
}

describe('a cache on the embedded cluster', () => {
  for (const streamingLists of [true, false]) {
    it(`contains the objects of the cluster ${streamingLists ? 'with' : 'without'} streaming lists`, async () => {
      const { cluster, clock, informer, names, other, stop } = await start(streamingLists);
      await clock.advance(0);
      expect(informer.synced).to.equal(true);
      await other.create(configMap('a'));
      await other.create(configMap('b'));
      await other.delete(ConfigMap, { namespace: 'default', name: 'a' });
      await clock.advance(0);
      expect(names()).to.include('b').and.not.include('a');
      const verbs = cluster.requests.entries
        .filter(({ user, resource }) => user === 'operator' && resource === 'configmaps')
        .map(({ verb }) => verb);
      expect(verbs).to.deep.equal(streamingLists ? ['watch'] : ['list', 'watch']);
      await stop();
    });
  }

  it('lists again when its resource version is too old for the server', async () => {
    const { clock, cluster, names, other, stop } = await start(true);
    await other.create(configMap('gone'));
    await clock.advance(5_000);
    // The next watches fail until more events have occurred than the server's log holds.
    const match = { verb: 'watch', resource: 'configmaps', user: 'operator' } as const;
    const fault = cluster.faults.add({ match, effect: { type: 'status', code: 500 } });
    await clock.advance(700_000);
    await other.delete(ConfigMap, { namespace: 'default', name: 'gone' });
    for (let n = 0; n < 100; n++) await other.apply(configMap('a', n), { fieldManager: 'other' });
    fault.remove();
    await clock.advance(100_000);
    expect(names()).to.include('a').and.not.include('gone');
    const codes = cluster.requests.entries
      .filter(({ user, resource }) => user === 'operator' && resource === 'configmaps')
      .map(({ code }) => code);
    expect(codes).to.include(500);
    await stop();
  });

  it('returns written objects in later reads without API calls', async () => {
    const { cached, clock, cluster, stop } = await start(true);
    await clock.advance(0);
    const before = cluster.requests.reads;
    const key = { namespace: 'default', name: 'a' };
    const created = await cached.create(configMap('a'));
    expect((await cached.get(ConfigMap, key)).metadata.uid).to.equal(created.metadata.uid);
    const patch = { type: 'merge', body: { data: { size: '7' } } } as const;
    await cached.patch(ConfigMap, key, patch);
    expect((await cached.get(ConfigMap, key)).data).to.deep.equal({ size: '7' });
    const { object } = await cached.apply(configMap('a', 8), { fieldManager: 'x', force: true });
    const { items } = await cached.list(ConfigMap, { fieldSelector: 'metadata.name=a' });
    expect(items[0]?.metadata.resourceVersion).to.equal(object.metadata.resourceVersion);
    await cached.delete(ConfigMap, key);
    const error = await cached.get(ConfigMap, key).catch((thrown: unknown) => thrown);
    expect(isNotFound(error)).to.equal(true);
    expect(cluster.requests.reads).to.equal(before);
    await clock.advance(0);
    expect(cached.live).to.not.equal(cached);
    await stop();
  });

  it('keeps the last-applied annotation of kubectl apply in an update, although it does not cache the annotation', async () => {
    const { clock, cluster, other, cached, stop } = await start(true);
    const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
    const annotations = { [lastApplied]: '{}', other: 'x' };
    const applied = configMap('applied');
    await other.create({ ...applied, metadata: { ...applied.metadata, annotations } });
    await other.create(configMap('plain'));
    await clock.advance(0);
    const key = (name: string) => ({ namespace: 'default', name });
    const mark = cluster.requests.mark();
    for (const name of ['applied', 'plain']) {
      const { metadata } = await cached.get(ConfigMap, key(name));
      expect(metadata.annotations).to.deep.equal(name === 'plain' ? undefined : { other: 'x' });
      await cached.update({ ...configMap(name, 1), metadata });
      // The second update starts from the answer to the first, which the cached client returns before its watch does.
      const again = await cached.get(ConfigMap, key(name));
      await cached.update({ ...configMap(name, 2), metadata: again.metadata });
    }
    const requests = [...cluster.requests.since(mark)].map(({ verb, name }) => `${verb} ${name}`);
    expect(requests).to.deep.equal([
      ...['get applied', 'update applied', 'get applied', 'update applied'],
      ...['update plain', 'update plain'],
    ]);
    const live = await other.get(ConfigMap, key('applied'));
    expect(live.metadata.annotations).to.deep.equal(annotations);
    expect(live.data).to.deep.equal({ size: '2' });
    await stop();
  });

  it('keeps the last-applied annotation in a status update of a built-in kind, which would otherwise remove the annotation', async () => {
    const { cache, clock, other, cached, stop } = await start(true);
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    const key = { namespace: 'default', name: 'web' };
    await other.create<Service>({
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { ...key, annotations } },
      spec: { ports: [{ port: 80 }] },
    });
    cache.informer(Service);
    await clock.advance(0);
    const service = await cached.get(Service, key);
    const ingress = [{ ip: '192.0.2.1' }];
    const status = { loadBalancer: { ingress } };
    await cached.update<Service>({ ...service, status }, { subresource: 'status' });
    expect((await other.get(Service, key)).metadata.annotations).to.deep.equal(annotations);
    await stop();
  });

  it('sends an update of an old version to the server, with or without the last-applied annotation', async () => {
    const { clock, other, cached, stop } = await start(true);
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    const applied = configMap('applied');
    await other.create({ ...applied, metadata: { ...applied.metadata, annotations } });
    await clock.advance(0);
    const key = { namespace: 'default', name: 'applied' };
    const { metadata } = await cached.get(ConfigMap, key);
    await other.patch(ConfigMap, key, { type: 'merge', body: { data: { size: '3' } } });
    const error = await cached.update({ ...applied, metadata }).catch((thrown: unknown) => thrown);
    expect(isConflict(error)).to.equal(true);
    await other.delete(ConfigMap, key);
    const gone = await cached.update({ ...applied, metadata }).catch((thrown: unknown) => thrown);
    expect(isNotFound(gone)).to.equal(true);
    await stop();
  });

  it('sends a list to the server if the cache does not have the values of its field selector', async () => {
    const { cache, cached, clock, cluster, stop } = await start(true);
    const namespace = 'default';
    const containers = [{ name: 'app', image: 'app' }];
    cache.informer(Pod);
    cache.informer(Node);
    await clock.advance(0);
    await cached.create<Pod>({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name: 'a' } },
      spec: { containers, serviceAccountName: 'default', automountServiceAccountToken: false },
    });
    await cached.create<Node>({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    const names = async (type: ResourceType<KubernetesObject>, fieldSelector: string) => {
      const { items } = await cached.list(type, { fieldSelector });
      return items.map(({ metadata }) => metadata.name);
    };
    const before = cluster.requests.reads;
    expect(await names(Pod, 'spec.nodeName=,status.phase!=Failed')).to.deep.equal(['a']);
    expect(await names(Pod, 'status.phase=Running')).to.deep.equal([]);
    for (const selector of [
      ...['spec.restartPolicy=Always', 'spec.schedulerName=default-scheduler', 'status.podIP='],
      ...['spec.serviceAccountName=default', 'status.nominatedNodeName='],
    ]) {
      expect(await names(Pod, selector), selector).to.deep.equal(['a']);
    }
    expect(cluster.requests.reads).to.equal(before);
    // The client asks the server, for which a missing `spec.unschedulable` of a Node is `false`.
    expect(await names(Node, 'spec.unschedulable=false')).to.deep.equal(['n']);
    expect(cluster.requests.reads).to.equal(before + 1);
    const error = await names(ConfigMap, 'data.size=1').catch((thrown: unknown) => thrown);
    expect(error).to.have.property('status', 400);
    await stop();
  });

  it('sends a list to the server if a transform may drop the field of its field selector', async () => {
    const transform = ({ apiVersion, kind, metadata, spec }: Pod): Pod =>
      ({ apiVersion, kind, metadata, spec }) as Pod;
    const { cache, cached, clock, stop } = await start(true, [
      cachedType({ type: Pod, transform }),
    ]);
    cache.informer(Pod);
    await clock.advance(0);
    const [namespace, name] = ['default', 'a'];
    const containers = [{ name: 'app', image: 'app' }];
    const spec = { containers, serviceAccountName: 'default', automountServiceAccountToken: false };
    await cached.create<Pod>({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name },
      spec,
    });
    await clock.advance(0);
    expect(await cached.get(Pod, { namespace, name })).to.not.have.property('status');
    const { items } = await cached.list(Pod, { fieldSelector: 'status.phase=Pending' });
    expect(items.length).to.equal(1);
    await stop();
  });

  it('gives a transform a copy that the transform may change, also of the unchanged parts of an update', async () => {
    const cluster = await EmbeddedCluster.start();
    const client = createClient({
      transport: new UndiciTransport({ server: await cluster.listen() }),
    });
    const transform = (pod: Pod): Pod => {
      for (const container of pod.spec?.containers ?? []) container.env = [];
      return pod;
    };
    const cache = new Cache({ client, types: [cachedType({ type: Pod, transform })] });
    const informer = cache.informer(Pod);
    const last = new Promise<Pod>((resolve) => {
      informer.addHandler(({ object }) => {
        if (object.metadata.labels?.['changed'] === '3') resolve(object);
      });
    });
    cache.start();
    await cache.waitForSync();
    const key = { namespace: 'default', name: 'a' };
    const env = Array.from({ length: 100 }, (_, n) => ({ name: `NAME_${n}`, value: 'text' }));
    const containers = [{ name: 'app', image: 'app', env }];
    await client.create<Pod>({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: key,
      spec: { containers },
    });
    for (const changed of ['1', '2', '3']) {
      const body = { metadata: { labels: { changed } } };
      await client.patch(Pod, key, { type: 'merge', body });
    }
    expect((await last).spec?.containers[0]?.env).to.deep.equal([]);
    await cache.stop();
    await client.close();
    await cluster.stop();
  });

  it('keeps an object that is being deleted until its last finalizer is removed', async () => {
    const { cached, clock, stop } = await start(true);
    await clock.advance(0);
    const key = { namespace: 'default', name: 'a' };
    const map = configMap('a');
    const finalizers = ['example.com/wait'];
    await cached.create({ ...map, metadata: { ...map.metadata, finalizers } });
    await cached.delete(ConfigMap, key);
    const deleting = await cached.get(ConfigMap, key);
    expect(deleting.metadata.deletionTimestamp).to.be.a('string');
    const { metadata } = deleting;
    await cached.update({ ...deleting, metadata: { ...metadata, finalizers: [] } });
    const error = await cached.get(ConfigMap, key).catch((thrown: unknown) => thrown);
    expect(isNotFound(error)).to.equal(true);
    await clock.advance(0);
    expect(
      (await cached.list(ConfigMap, { fieldSelector: 'metadata.name=a' })).items.length,
    ).to.equal(0);
    await stop();
  });

  it('waits until a custom resource is served, and then watches it', async () => {
    const { cache, clock, other, stop } = await start(true);
    const widgets = cache.informer(Widget);
    await clock.advance(0);
    expect(widgets.status()).to.deep.include({ parked: true, synced: false });
    await other.create(widgetCrd);
    await clock.advance(100_000);
    expect(widgets.status()).to.deep.include({ parked: false, synced: true });
    const metadata = { name: 'w', namespace: 'default' };
    await other.create({ apiVersion: 'example.com/v1', kind: 'Widget', metadata });
    await clock.advance(0);
    expect(widgets.list().length).to.equal(1);
    await stop();
  });

  it('watches only metadata if asked to', async () => {
    const { cache, clock, other, stop } = await start(true);
    const maps = cache.informer(ConfigMap, { metadataOnly: true });
    await other.create(configMap('a'));
    await clock.advance(0);
    const map = maps.get({ namespace: 'default', name: 'a' });
    expect(map).to.deep.include({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(map).to.not.have.property('data');
    await stop();
  });
});
