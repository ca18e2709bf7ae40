import { expect } from 'chai';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { ConfigMap, Deployment, Pod } from '../../../lib/object/kinds.js';
import type { ClusterRole } from '../../../lib/object/kinds.js';
import { isForbidden, isInvalid, isNotFound } from '../../../lib/object/api-error.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { configMap, deployment, shop, shopDefinition } from '../controllers/workload-objects.js';

const web = { namespace: 'default', name: 'web' };

describe('EmbeddedCluster', () => {
  const running: EmbeddedCluster[] = [];
  afterEach(async () => {
    for (const cluster of running.splice(0)) await cluster.stop();
  });

  async function started(...options: Parameters<typeof EmbeddedCluster.start>) {
    const cluster = await EmbeddedCluster.start(...options);
    running.push(cluster);
    return cluster;
  }

  it('simulates workloads in real time with simulateWorkloads', async () => {
    const cluster = await started({ simulateWorkloads: true });
    const client = cluster.client();
    await client.create(deployment('web', { replicas: 2 }));
    await cluster.settled();
    expect((await client.get(Deployment, web)).status).to.deep.include({ availableReplicas: 2 });
  });

  it('runs only garbage collection and the namespace controller by default', async () => {
    const cluster = await started();
    const client = cluster.client();
    await client.create(deployment('web'));
    await cluster.settled();
    expect((await client.list(Pod)).items).to.deep.equal([]);
  });

  it('turns single controllers on and off', async () => {
    const controllers = { deployments: false };
    const cluster = await started({ simulateWorkloads: true, controllers });
    const client = cluster.client();
    await client.create(deployment('web'));
    await cluster.settled();
    expect((await client.get(Deployment, web)).status).to.not.have.property('observedGeneration');
  });

  it('advances a virtual clock to settle, unless advanceClock is false', async () => {
    const clock = new VirtualClock();
    const pods = { readyAfterMs: 60_000 };
    const cluster = await started({ simulateWorkloads: true, clock, pods });
    const client = cluster.client();
    await client.create(deployment('web'));
    await cluster.settled({ advanceClock: false });
    expect(clock.monotonicMs()).to.equal(0);
    expect((await client.list(Pod)).items).to.have.length(1);
    await cluster.settled();
    expect(clock.monotonicMs()).to.equal(60_000);
    expect((await client.get(Deployment, web)).status).to.deep.include({ availableReplicas: 1 });
  });

  it('logs requests of clients, but not of its own controllers', async () => {
    const cluster = await started({ simulateWorkloads: true });
    const client = cluster.client({ user: 'shop-operator' });
    await client.create(deployment('web'));
    await cluster.settled();
    const writes = cluster.requests.entries.filter(({ verb }) => verb === 'create');
    expect(writes.map(({ user, resource }) => [user, resource])).to.deep.equal([
      ['shop-operator', 'deployments'],
    ]);
  });

  it('returns an iterable log of the requests since a mark', async () => {
    const cluster = await started();
    const client = cluster.client();
    await client.create(configMap('a'));
    const mark = cluster.requests.mark();
    await client.create(configMap('b'));
    const later = cluster.requests.since(mark);
    expect(later).to.have.length(1);
    expect([...later].map(({ verb }) => verb)).to.deep.equal(['create']);
  });

  for (const [bookmarkEveryMs, expected] of [
    [undefined, 10],
    [300_000, 2],
    [Infinity, 1],
  ] as const) {
    it(`sends bookmarks every ${bookmarkEveryMs ?? 60_000} ms and at the end of a watch`, async () => {
      const clock = new VirtualClock();
      const cluster = await started({ clock, bookmarkEveryMs });
      let bookmarks = 0;
      const watching = (async () => {
        const options = { resourceVersion: '1', timeoutMs: 600_000 };
        for await (const { type } of cluster.client().watch(Pod, options)) {
          if (type === 'BOOKMARK') bookmarks++;
        }
      })();
      await clock.advance(600_000);
      await watching;
      expect(bookmarks).to.equal(expected);
    });
  }

  it('rejects bookmarkEveryMs below 1', async () => {
    const error = await started({ bookmarkEveryMs: 0 }).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('code', 'InvalidOption');
  });

  it('applies the authorizer of a client to its requests, and to the rights that the client may grant by roles', async () => {
    const cluster = await started();
    const rules = [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] },
      { apiGroups: ['rbac.authorization.k8s.io'], resources: ['clusterroles'], verbs: ['create'] },
    ];
    const refused: string[] = [];
    const client = cluster.client({
      user: 'clerk',
      authorizer: {
        authorize: (_user, { verb, resource }) => {
          const allowed = rules.some(
            (rule) => rule.verbs.includes(verb) && rule.resources.includes(resource),
          );
          return { allowed, reason: 'not a clerk' };
        },
        rulesFor: () => rules,
        onRefused: ({ username }, { verb, resource }) =>
          refused.push(`${username} ${verb} ${resource}`),
      },
    });
    await client.list(ConfigMap);
    const listing: unknown = await client.list(Pod).catch((error: unknown) => error);
    expect(isForbidden(listing), String(listing)).to.equal(true);
    expect(String(listing)).to.include('cannot list resource "pods"').and.include('not a clerk');
    expect(refused).to.deep.equal(['clerk list pods']);
    await cluster.client().list(Pod);

    const role = (verb: string): ClusterRole => ({
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
      metadata: { name: `may-${verb}` },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: [verb] }],
    });
    await client.create(role('list'));
    const granting: unknown = await client.create(role('delete')).catch((error: unknown) => error);
    expect(String(granting)).to.include('attempting to grant RBAC permissions not currently held');
  });

  it('listens once if listen() is called twice at once', async () => {
    const cluster = await started();
    const [one, other] = await Promise.all([cluster.listen(), cluster.listen()]);
    expect(one).to.equal(other);
  });

  it('listens only after listen(), on 127.0.0.1', async () => {
    const cluster = await started();
    expect(() => cluster.url)
      .to.throw('listen()')
      .with.property('code', 'Stopped');
    const url = await cluster.listen();
    expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(cluster.url).to.equal(url);
    expect(await cluster.listen()).to.equal(url);
    const answer = await fetch(`${url}/readyz`);
    expect(await answer.text()).to.equal('ok');
  });

  it('writes a kubeconfig with the token of a user, readable only by its file owner', async () => {
    const cluster = await started({ port: 0, users: { 'a-token': 'shop-operator' } });
    const folder = await mkdtemp(join(tmpdir(), 'embedded-cluster-'));
    try {
      const path = join(folder, 'kubeconfig');
      await cluster.writeKubeConfig(path, 'shop-operator');
      expect((await stat(path)).mode & 0o777).to.equal(0o600);
      const config = parse(await readFile(path, 'utf8')) as KubeConfig;
      expect(config.clusters[0]!.cluster.server).to.equal(cluster.url);
      expect(config.users).to.deep.equal([{ name: 'shop-operator', user: { token: 'a-token' } }]);
      expect(config['current-context']).to.equal('embedded');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('rejects a kubeconfig for a user without a token', async () => {
    const cluster = await started({ port: 0 });
    const ask = () => cluster.kubeConfig('nobody');
    expect(ask).to.throw('nobody').with.property('code', 'InvalidOption');
    expect((parse(cluster.kubeConfig()) as KubeConfig).users).to.deep.equal([
      { name: 'admin', user: {} },
    ]);
  });

  it('serves custom resources from the start', async () => {
    const cluster = await started({ crds: [shopDefinition()] });
    const made = await cluster.client().create(shop('s'));
    expect(made.metadata.uid).to.be.a('string');
  });

  it('does not start with an invalid custom resource definition', async () => {
    const { metadata, ...rest } = shopDefinition();
    const crds = [{ ...rest, metadata: { ...metadata, name: 'wrong.example.com' } }];
    const failure = await EmbeddedCluster.start({ crds }).catch((error: unknown) => error);
    expect(isInvalid(failure)).to.equal(true);
  });

  it('does not start with two custom resource definitions with the same names', async () => {
    const { metadata, ...rest } = shopDefinition();
    const names = { ...rest.spec.names, plural: 'others' };
    const other = { ...rest, metadata: { ...metadata, name: 'others.example.com' } };
    const crds = [shopDefinition(), { ...other, spec: { ...rest.spec, names } }];
    const failure = await EmbeddedCluster.start({ crds }).catch((error: unknown) => error);
    expect(failure).to.include({
      code: 'InvalidObject',
      message: 'CustomResourceDefinition others.example.com: "ShopList" is already in use',
    });
  });

  it('rejects an option that is out of range', async () => {
    let failure: unknown;
    await EmbeddedCluster.start({ nodes: -1 }).catch((error: unknown) => (failure = error));
    expect(failure).to.have.property('code', 'InvalidOption');
  });

  it('gives every client the same objects', async () => {
    const cluster = await started();
    await cluster.client().create(configMap('c'));
    const key = { namespace: 'default', name: 'c' };
    const other = cluster.client({ user: 'other' });
    expect((await other.get(ConfigMap, key)).metadata.name).to.equal('c');
    await other.delete(ConfigMap, key);
    const failure = await cluster
      .client()
      .get(ConfigMap, key)
      .catch((error: unknown) => error);
    expect(isNotFound(failure)).to.equal(true);
  });

  it('leaves no timer, watch or socket after stop', async () => {
    const clock = new VirtualClock();
    const pods = { readyAfterMs: 60_000 };
    const cluster = await started({ simulateWorkloads: true, clock, pods, port: 0 });
    const client = cluster.client();
    await client.create(deployment('web'));
    await cluster.settled({ advanceClock: false });
    const watch = client.watch(Pod)[Symbol.asyncIterator]();
    await watch.next();
    const { url } = cluster;
    await cluster.stop();
    expect(clock.pendingTimers).to.equal(0);
    expect(cluster.server.openWatches).to.equal(0);
    const answer = await fetch(`${url}/readyz`).catch(() => 'refused');
    expect(answer).to.equal('refused');
    const failure = await client.list(Pod).catch((error: unknown) => error);
    expect(failure).to.have.property('code', 'Stopped');
  });
});

interface KubeConfig {
  readonly clusters: readonly { readonly cluster: { readonly server: string } }[];
  readonly users: readonly unknown[];
  readonly 'current-context': string;
}
