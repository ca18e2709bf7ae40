import { expect } from 'chai';
import { Builder } from '../../lib/builder/index.js';
import { controllerFor, done } from '../../lib/controller/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import { Manager } from '../../lib/manager/index.js';
import { getIfExists } from '../../lib/client/index.js';
import {
  ConfigMap,
  Deployment,
  NetworkPolicy,
  Secret,
  Service,
  StatefulSet,
} from '../../lib/object/kinds.js';
import { Operator } from '../../lib/operator/index.js';
import { silentLogger } from '../../lib/system/index.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { startOperator, testCluster } from '../../lib/testing/index.js';
import { podSpec } from './suite/scene.js';

describe('Builder in a reconcile', () => {
  let cluster: EmbeddedCluster;
  const ending = new AbortController();
  let running: Promise<void>;
  let reconciled = 0;
  let names = ['env'];
  const key = { namespace: 'default', name: 'shop' };

  before(async () => {
    const clock = new VirtualClock();
    cluster = await EmbeddedCluster.start({ simulateWorkloads: true, clock });
    const manager = new Manager({ client: cluster.client({ user: 'operator' }), clock });
    const controller = controllerFor(NetworkPolicy).owns(ConfigMap).owns(Secret).owns(StatefulSet);
    manager.add(
      controller.complete(async ({ key: of, client }) => {
        const owner = await getIfExists(client, NetworkPolicy, of);
        if (owner === undefined) return done();
        let chain: Builder = new Builder({ client, owner, controllerName: 'shop-operator' });
        for (const name of names) chain = chain.configMap({ name });
        await chain.statefulSet({ name: 'server', podSpec }).reconcile();
        reconciled++;
        return done();
      }),
    );
    running = manager.run(ending.signal);
    await cluster.client().create<NetworkPolicy>({
      ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
      ...{ metadata: key, spec: { podSelector: {} } },
    });
    await reconciledAgain();
  });

  after(async () => {
    ending.abort();
    await running;
    await cluster.stop();
  });

  async function reconciledAgain(): Promise<void> {
    const annotations = { seen: String(reconciled) };
    const patch = { type: 'merge', body: { metadata: { annotations } } } as const;
    const before = reconciled;
    await cluster.client().patch(NetworkPolicy, key, patch);
    do await cluster.settled();
    while (reconciled === before);
  }

  it('sends no request when nothing has changed, although the reconciler sets no option owns', async () => {
    const mark = cluster.requests.mark();
    await reconciledAgain();
    const { entries } = cluster.requests.since(mark);
    const asked = entries.filter(({ user, verb }) => user === 'operator' && verb !== 'watch');
    expect(asked.map(({ verb, resource }) => `${verb} ${resource}`)).to.deep.equal([]);
  });

  it('prunes an object of an owned kind that is no longer chained', async () => {
    names = [];
    await reconciledAgain();
    const { items } = await cluster.client().list(ConfigMap, { namespace: 'default' });
    expect(items.map(({ metadata }) => metadata.name)).not.to.include('env');
    names = ['env'];
  });

  it('prunes at once an object of an owned kind that another process created', async () => {
    const client = cluster.client();
    const { metadata: server } = await client.get(StatefulSet, { ...key, name: 'server' });
    const { labels = {}, annotations = {}, ownerReferences = [] } = server;
    await client.apply<Secret>(
      {
        ...{ apiVersion: 'v1', kind: 'Secret' },
        metadata: { ...key, name: 'old', labels, annotations, ownerReferences },
      },
      { fieldManager: 'shop-operator' },
    );
    await reconciledAgain();
    expect(await getIfExists(client, Secret, { ...key, name: 'old' })).to.equal(undefined);
  });
});

describe('An operator that owns no Deployments', () => {
  const schema = s.object({ spec: s.object({ workload: s.string() }) });
  const Shop = defineResource({
    ...{ group: 'shops.example', kind: 'Shop' },
    versions: [{ name: 'v1', schema, status: s.status() }],
  });
  const cluster = testCluster({ crds: [Shop] });
  const key = { name: 'toys', namespace: 'default' };

  it('needs no permissions for Deployments when a Service moves to another StatefulSet', async () => {
    const operator = new Operator('shops');
    operator
      .for(Shop)
      .owns(Service, StatefulSet)
      .builds(({ object: { spec }, builder }) =>
        builder
          .service({ name: 'front', workload: spec.workload, spec: { ports: [{ port: 80 }] } })
          .statefulSet({ name: spec.workload, podSpec }),
      );
    const client = cluster().client();
    const running = await startOperator(cluster(), operator);
    const isServedBy = (workload: string) =>
      running.eventually(async () => {
        const front = await client.get(Service, { ...key, name: 'front' });
        expect(Object.values(front.spec?.selector ?? {})).to.deep.equal([
          `statefulset.${workload}`,
        ]);
        const { items } = await client.list(StatefulSet, { namespace: 'default' });
        expect(items.map(({ metadata }) => metadata.name)).to.deep.equal([workload]);
      });
    await client.create(Shop.object({ metadata: key, spec: { workload: 'old' } }));
    await isServedBy('old');
    await client.patch(Shop, key, { type: 'merge', body: { spec: { workload: 'new' } } });
    await isServedBy('new');
    await running.stop();
  });
});

describe('An operator that adopts a Service', () => {
  const schema = s.object({ spec: s.object({}) });
  const Shop = defineResource({
    ...{ group: 'shops.example', kind: 'Shop' },
    versions: [{ name: 'v1', schema, status: s.status() }],
  });
  const cluster = testCluster({ crds: [Shop] });
  const key = { name: 'toys', namespace: 'default' };

  for (const place of ['its builder', 'the link'])
    it(`keeps the Service on a StatefulSet that the operator does not own, with the option adopt of ${place}`, async () => {
      const client = cluster().client();
      const { namespace } = key;
      const selector = { app: 'former' };
      const template = { metadata: { labels: selector }, spec: podSpec };
      await client.create<StatefulSet>({
        ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { namespace, name: 'former' } },
        spec: { serviceName: 'former', selector: { matchLabels: selector }, template },
      });
      const ports = [{ port: 80 }];
      await client.create<Service>({
        ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name: 'front' } },
        spec: { selector, ports },
      });
      await cluster().settled();
      const operator = new Operator('shops');
      const adopt = place === 'the link' ? true : undefined;
      const shops = operator
        .for(Shop)
        .owns(Service, Deployment)
        .builds(({ builder }) =>
          builder
            .service({ name: 'front', workload: 'web', adopt, spec: { ports } })
            .deployment({ name: 'web', podSpec: { ...podSpec, nodeSelector: { nowhere: 'x' } } }),
        );
      if (adopt === true) shops.requires({ type: StatefulSet, verbs: ['list'] });
      else shops.withBuilder({ adopt: true });
      const running = await startOperator(cluster(), operator);
      await client.create(Shop.object({ metadata: key, spec: {} }));
      await running.eventually(async () => {
        await client.get(Deployment, { namespace, name: 'web' });
      });
      const { spec } = await client.get(Service, { namespace, name: 'front' });
      expect(spec?.selector).to.deep.equal(selector);
      await running.stop();
    });
});

describe('A Builder whose option `owns` lacks the kinds of its workloads', () => {
  const cluster = testCluster();

  it('keeps the selector of a Service on a Deployment until the StatefulSet that replaces it is rolled out', async () => {
    const { clock } = cluster();
    const client = cluster().client();
    const owner = await client.create<ConfigMap>({
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: { name: 'shop', namespace: 'default' },
    });
    const chain = (): Builder =>
      new Builder({ client, clock, owner, controllerName: 'shop-operator', owns: [Secret] });
    const ports = [{ port: 80 }];
    const [front, image] = [{ name: 'front', spec: { ports } }, 'registry.example/app:1'];
    const pods = { podSpec: { containers: [{ name: 'app', image }] } };
    const selected = async (): Promise<readonly string[]> => {
      const { spec } = await client.get(Service, { namespace: 'default', name: 'front' });
      return Object.values(spec?.selector ?? {});
    };
    await chain()
      .service({ ...front, workload: 'web' })
      .deployment({ name: 'web', ...pods })
      .reconcile();
    await cluster().settled();
    expect(await selected()).to.deep.equal(['deployment.web']);
    await chain()
      .service({ ...front, workload: 'db' })
      .statefulSet({ name: 'db', ...pods })
      .reconcile();
    expect(await selected()).to.deep.equal(['deployment.web']);
  });
});

describe('A Builder without `owns`', () => {
  const cluster = testCluster();

  it('logs once, for all owners, that pruning lists every kind', async () => {
    const client = cluster().client();
    const [controllerName, lines] = ['unlimited-operator', new Array<string>()];
    const logger = { ...silentLogger, info: (text: string) => void lines.push(text) };
    for (const name of ['one', 'two']) {
      const owner = await client.create<ConfigMap>({
        ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } },
      });
      const options = { client, owner, controllerName, logger };
      await new Builder({ ...options, owns: [Secret] }).secret({ name }).reconcile();
      expect(lines).to.have.length(name === 'one' ? 0 : 1);
      await new Builder(options).secret({ name }).reconcile();
    }
    expect(lines).to.deep.equal(['pruning without owns lists every kind for each owner']);
  });
});
