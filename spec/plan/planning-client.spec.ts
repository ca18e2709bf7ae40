import { expect } from 'chai';
import { PlannedObjects } from '../../lib/plan/planned-objects.js';
import { planningClient } from '../../lib/plan/planning-client.js';
import type { Client } from '../../lib/client/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { ConfigMap, Deployment, Secret } from '../../lib/object/kinds.js';

const namespace = 'default';
const key = { namespace, name: 'a' };

const configMap = (data: Record<string, string>, metadata: object = {}): ConfigMap => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap' },
  ...{ metadata: { ...key, ...metadata }, data },
});

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => (error as { readonly status?: number }).status,
  );
}

describe('planningClient', () => {
  let cluster: EmbeddedCluster;
  let client: Client;
  let planning: Client;
  let planned: PlannedObjects;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start();
    client = cluster.client();
    planned = new PlannedObjects();
    planning = planningClient(client, { planned });
  });

  afterEach(async () => {
    await cluster.stop();
  });

  const data = async (): Promise<unknown> => (await planning.get(ConfigMap, key)).data;

  it('reads objects it has created, which the server does not have', async () => {
    const made = await planning.create(configMap({ x: '1' }, { labels: { app: 'shop' } }));
    expect(made.metadata.uid).to.be.a('string');
    expect(await data()).to.deep.equal({ x: '1' });
    const { items } = await planning.list(ConfigMap, { namespace, labelSelector: 'app=shop' });
    expect(items).to.have.lengthOf(1);
    expect((await planning.list(ConfigMap, { labelSelector: 'app=bar' })).items).to.have.lengthOf(
      0,
    );
    expect((await planning.list(Secret, { namespace })).items).to.deep.equal([]);
    expect(await codeOf(planning.create(configMap({})))).to.equal(409);
    expect(await codeOf(client.get(ConfigMap, key))).to.equal(404);
  });

  for (const exists of [true, false]) {
    const what = exists ? 'existing objects' : 'objects it has created';

    it(`merges writes to ${what}`, async () => {
      await (exists ? client : planning).create(configMap({ x: '1' }));
      const read = await planning.get(ConfigMap, key);
      await planning.update({ ...read, data: { x: '1', y: '2' } });
      await planning.patch(ConfigMap, key, { type: 'merge', body: { data: { x: '3' } } });
      expect(await data()).to.deep.equal({ x: '3', y: '2' });
      const operations = [{ op: 'add', path: '/data/z', value: '4' }] as const;
      await planning.patch(ConfigMap, key, { type: 'json', operations });
      await planning.apply(configMap({ w: '5' }), { fieldManager: 'other' });
      expect(await data()).to.deep.equal({ x: '3', y: '2', z: '4', w: '5' });
      expect((await planning.get(ConfigMap, key)).metadata.uid).to.equal(read.metadata.uid);
      if (exists) expect((await client.get(ConfigMap, key)).data).to.deep.equal({ x: '1' });
    });

    it(`takes back what an earlier apply to ${what} has set`, async () => {
      const by = { fieldManager: 'operator', force: true };
      await (exists ? client : planning).apply(configMap({ ready: '1/1', x: '1' }), by);
      await planning.apply(configMap({ note: 'of another' }), { fieldManager: 'other' });
      await planning.apply(configMap({ ready: '0/1', extra: 'yes', x: '1' }), by);
      await planning.apply(configMap({ ready: '1/1', x: '1' }), by);
      expect(await data()).to.deep.equal({ ready: '1/1', x: '1', note: 'of another' });
    });

    it(`deletes ${what}, and creates them again`, async () => {
      await (exists ? client : planning).create(configMap({ x: '1' }));
      const { uid } = (await planning.get(ConfigMap, key)).metadata;
      await planning.delete(ConfigMap, key);
      expect(await codeOf(planning.get(ConfigMap, key))).to.equal(404);
      expect(await codeOf(planning.delete(ConfigMap, key))).to.equal(404);
      expect((await planning.list(ConfigMap, { namespace })).items).to.have.lengthOf(0);
      const made = await planning.create(configMap({ x: '2' }));
      expect(made.metadata).to.include(key).and.to.not.include({ uid });
      expect(await data()).to.deep.equal({ x: '2' });
    });

    it(`keeps ${what} while they have finalizers`, async () => {
      const finalizers = ['shops.example/till'];
      await (exists ? client : planning).create(configMap({}, { finalizers }));
      await planning.delete(ConfigMap, key);
      expect((await planning.get(ConfigMap, key)).metadata.deletionTimestamp).to.be.a('string');
      const body = { metadata: { finalizers: null } };
      await planning.patch(ConfigMap, key, { type: 'merge', body });
      expect(await codeOf(planning.get(ConfigMap, key))).to.equal(404);
    });
  }

  it('removes fields that a manager no longer applies', async () => {
    const fieldManager = 'shop-operator';
    expect(
      (await planning.apply(configMap({ x: '1', y: '1' }), { fieldManager })).created,
    ).to.equal(true);
    const { created, object } = await planning.apply(configMap({ x: '2' }), { fieldManager });
    expect({ created, data: object.data }).to.deep.equal({ created: false, data: { x: '2' } });
  });

  it('separates status and other fields', async () => {
    const container = { name: 'web', image: 'web:1' };
    const labels = { app: 'web' };
    await planning.create({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: key },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    } satisfies Deployment);
    const body = { status: { replicas: 1 } };
    await planning.patch(Deployment, key, { type: 'merge', body }, { subresource: 'status' });
    await planning.patch(Deployment, key, { type: 'merge', body: { spec: { replicas: 4 } } });
    const { spec, status } = await planning.get(Deployment, key);
    expect([spec?.replicas, status?.replicas]).to.deep.equal([4, 1]);
  });

  it('keeps a simulated status in other writes', async () => {
    await client.create(configMap({ x: '1' }));
    const seen = await planning.patch(ConfigMap, key, { type: 'merge', body: { data: {} } });
    const state = planned.get(ConfigMap, key);
    if (state === undefined) throw new Error('it is not in the plan');
    planned.simulate(state, { ...seen, status: { phase: 'there' } });
    const metadata = { labels: { app: 'shop' } };
    await planning.patch(ConfigMap, key, { type: 'merge', body: { metadata } });
    await planning.apply(configMap({ y: '2' }), { fieldManager: 'shop' });
    const now = await planning.get<UnstructuredObject>(ConfigMap, key);
    expect(now['status']).to.deep.equal({ phase: 'there' });
    expect(now.metadata.labels).to.deep.equal({ app: 'shop' });
  });

  it('returns errors of the server', async () => {
    expect(await codeOf(planning.create(configMap({}, { name: 'Not A Name' })))).to.equal(422);
    expect(await codeOf(planning.delete(ConfigMap, key))).to.equal(404);
  });

  it('deletes the selected objects of a collection, if the server would', async () => {
    await client.create(configMap({ x: '1' }, { labels: { app: 'shop' } }));
    await planning.create(configMap({ x: '2' }, { name: 'b', labels: { app: 'shop' } }));
    await planning.create(configMap({ x: '3' }, { name: 'other' }));
    const since = cluster.requests.mark();
    const propagationPolicy = 'Foreground';
    const selection = { namespace, labelSelector: 'app=shop' };
    await planning.deleteCollection(ConfigMap, { ...selection, propagationPolicy });
    const { entries } = cluster.requests.since(since);
    const tried = entries.filter(({ verb, dryRun }) => verb === 'deletecollection' && dryRun);
    expect(tried).to.have.length(1);
    const { items } = await planning.list(ConfigMap, { namespace });
    expect(items.map(({ metadata }) => metadata.name)).to.deep.equal(['other']);
    await planning.deleteCollection(ConfigMap, { namespace, dryRun: true });
    expect((await planning.list(ConfigMap, { namespace })).items).to.have.length(1);
  });

  it('answers like a server that an object is missing which it has deleted', async () => {
    await client.create(configMap({ x: '1' }));
    await planning.delete(ConfigMap, key);
    const error = await planning.get(ConfigMap, key).catch((thrown: unknown) => thrown);
    expect(error)
      .to.have.property('body')
      .which.includes({ kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound' });
  });

  it('stores nothing on the server', async () => {
    await client.create(configMap({ x: '1' }));
    const since = cluster.requests.mark();
    await planning.patch(ConfigMap, key, { type: 'merge', body: { data: { x: '2' } } });
    await planning.deleteCollection(ConfigMap, { namespace });
    const writes = cluster.requests.since(since);
    expect(writes.writes).to.be.above(1);
    expect(
      writes.count(({ verb, dryRun }) => verb !== 'list' && verb !== 'get' && !dryRun),
    ).to.equal(0);
    expect((await client.get(ConfigMap, key)).data).to.deep.equal({ x: '1' });
    expect(await codeOf(planning.get(ConfigMap, key))).to.equal(404);
  });
});
