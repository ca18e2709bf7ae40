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

function deploymentOf(image: string): Deployment {
  const labels = { app: 'web' };
  const containers = [{ name: 'web', image }];
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: key },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => (error as { readonly status?: number }).status,
  );
}

describe('planningClient, which simulates the writes of a plan', () => {
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

  it('reads objects that it has created, although the server does not have them', async () => {
    const made = await planning.create(configMap({ x: '1' }, { labels: { app: 'shop' } }));
    expect(made.metadata.uid).to.be.a('string');
    expect(await data()).to.deep.equal({ x: '1' });
    const { items } = await planning.list(ConfigMap, { namespace, labelSelector: 'app=shop' });
    expect(items).to.have.lengthOf(1);
    const labelSelector = { matchLabels: { app: 'bar' } };
    expect((await planning.list(ConfigMap, { labelSelector })).items).to.have.lengthOf(0);
    expect((await planning.list(Secret, { namespace })).items).to.deep.equal([]);
    expect(await codeOf(planning.create(configMap({})))).to.equal(409);
    expect(await codeOf(client.get(ConfigMap, key))).to.equal(404);
  });

  for (const exists of [true, false]) {
    const what = exists ? 'existing objects' : 'objects it has created';

    it(`shows all writes to ${what} in later reads`, async () => {
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

    it(`removes fields of ${what} that an earlier apply has set`, async () => {
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

    it(`keeps deleted ${what} while they have finalizers`, async () => {
      const finalizers = ['shops.example/till'];
      await (exists ? client : planning).create(configMap({}, { finalizers }));
      await planning.delete(ConfigMap, key);
      expect((await planning.get(ConfigMap, key)).metadata.deletionTimestamp).to.be.a('string');
      const labels = { metadata: { labels: { app: 'shop' } } };
      const labelled = await planning.patch(ConfigMap, key, { type: 'merge', body: labels });
      expect(labelled.metadata.deletionTimestamp).to.be.a('string');
      const body = { metadata: { finalizers: null } };
      await planning.patch(ConfigMap, key, { type: 'merge', body });
      expect(await codeOf(planning.get(ConfigMap, key))).to.equal(404);
    });
  }

  it('removes fields that a field manager no longer applies', async () => {
    const fieldManager = 'shop-operator';
    expect(
      (await planning.apply(configMap({ x: '1', y: '1' }), { fieldManager })).created,
    ).to.equal(true);
    const { created, object } = await planning.apply(configMap({ x: '2' }), { fieldManager });
    expect({ created, data: object.data }).to.deep.equal({ created: false, data: { x: '2' } });
  });

  it('keeps a field that one manager stops applying and another manager still applies', async () => {
    const { spec, ...named } = deploymentOf('web:1');
    await client.apply({ ...named, spec: { ...spec, replicas: 4 } }, { fieldManager: 'shop' });
    const kept = { ...named, spec: { replicas: 4 } } as Deployment;
    await planning.apply(kept, { fieldManager: 'keeper', force: true });
    for (const image of ['web:1', 'web:2']) {
      const { object } = await planning.apply(deploymentOf(image), {
        ...{ fieldManager: 'shop', force: true },
      });
      expect(object.spec?.replicas).to.equal(4);
    }
  });

  for (const exists of [true, false]) {
    it(`does not mix writes of the status and of other fields of ${exists ? 'an existing' : 'a new'} object`, async () => {
      const first = deploymentOf('web:1');
      await (exists ? client : planning).apply(first, { fieldManager: 'shop' });
      const subresource = 'status';
      const status = { status: { replicas: 1 } };
      await planning.patch(Deployment, key, { type: 'merge', body: status }, { subresource });
      await planning.patch(Deployment, key, { type: 'merge', body: { spec: { replicas: 4 } } });
      const containers = [{ name: 'side', image: 'side:1' }];
      const body = { spec: { template: { spec: { containers } } } };
      await planning.patch(Deployment, key, { type: 'strategic', body });
      const seen = await planning.get(Deployment, key);
      expect([seen.spec?.replicas, seen.status?.replicas]).to.deep.equal([4, 1]);
      const names = seen.spec?.template.spec?.containers.map(({ name }) => name) ?? [];
      expect(names).to.have.members(['web', 'side']);
      await planning.update({ ...seen, spec: { ...seen.spec, replicas: 5 } } as Deployment);
      await planning.apply(first, { fieldManager: 'shop' });
      expect((await planning.get(Deployment, key)).status?.replicas).to.equal(1);
      const { created } = await planning.apply(
        { ...first, status: { replicas: 2 } },
        { fieldManager: 'status', force: true, subresource },
      );
      const last = await planning.get(Deployment, key);
      expect([created, last.status?.replicas]).to.deep.equal([false, 2]);
    });
  }

  it('keeps a simulated status when another field is written', async () => {
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

  it('throws the errors that the server returns', async () => {
    expect(await codeOf(planning.create(configMap({}, { name: 'Not A Name' })))).to.equal(422);
    expect(await codeOf(planning.delete(ConfigMap, key))).to.equal(404);
  });

  it('simulates a deletion of a collection with a label selector, if the server would accept it', async () => {
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

  it('answers 404 for an object that it has deleted, as the server does', async () => {
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

  it('lists the objects of the plan by namespace and controller', async () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u' };
    await planning.create(configMap({}, { ownerReferences: [{ ...owner, controller: true }] }));
    await planning.create(configMap({}, { namespace: 'kube-system' }));
    const places = async (options: Parameters<Client['list']>[1]): Promise<readonly unknown[]> => {
      const { items } = await planning.list(ConfigMap, options);
      return items.flatMap(({ metadata }) => (metadata.name === 'a' ? [metadata.namespace] : []));
    };
    expect(await places({})).to.deep.equal([namespace, 'kube-system']);
    for await (const { items } of planning.pages(ConfigMap)) {
      expect(items.filter(({ metadata }) => metadata.name === 'a')).to.have.lengthOf(2);
    }
    expect(await places({ namespace })).to.deep.equal([namespace]);
    expect(await places({ controllerUid: 'u' })).to.deep.equal([namespace]);
  });

  it('answers dry runs of the operator itself from the plan, and does not record them', async () => {
    const dry = { fieldManager: 'shop', dryRun: true };
    const tried = async (): Promise<object> => {
      const { object, created } = await planning.apply(configMap({ x: '2' }), dry);
      return { data: object.data, created };
    };
    expect(await tried()).to.deep.equal({ data: { x: '2' }, created: true });
    await client.create(configMap({ w: '1' }));
    expect(await tried()).to.deep.equal({ data: { w: '1', x: '2' }, created: false });
    const left = await planning.delete(ConfigMap, key, {
      ...{ dryRun: true, propagationPolicy: 'Foreground' },
    });
    expect([left?.data, await data()]).to.deep.equal([{ w: '1' }, { w: '1' }]);
    await planning.delete(ConfigMap, key);
    expect(await tried()).to.deep.equal({ data: { x: '2' }, created: true });
    await planning.create(configMap({ y: '1' }));
    expect(await tried()).to.deep.include({ created: false });
    expect(await data()).to.deep.equal({ y: '1' });
  });

  it('checks the preconditions of a deletion, and returns the deleted object, as the server does', async () => {
    await client.create(configMap({ x: '1' }));
    const preconditions = { uid: 'another' };
    expect(await codeOf(planning.delete(ConfigMap, key, { preconditions }))).to.equal(409);
    expect(await data()).to.deep.equal({ x: '1' });
    const left = await planning.delete(ConfigMap, key, { propagationPolicy: 'Foreground' });
    expect(left?.metadata.name).to.equal('a');
    expect(await codeOf(planning.get(ConfigMap, key))).to.equal(404);
  });

  it('creates a deleted object again although its name has the maximum length', async () => {
    const name = 's'.repeat(63);
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name } };
    const spec = { selector: { app: 'shop' }, ports: [{ port: 80 }] };
    await client.create({ ...service, spec });
    await planning.delete(service, { namespace, name });
    const made = await planning.create({ ...service, spec });
    expect(made.metadata.name).to.equal(name);
  });

  it('keeps the fields of each field manager when another manager applies', async () => {
    await planning.apply(configMap({ x: '1' }), { fieldManager: 'shop' });
    await planning.apply(configMap({ y: '1' }), { fieldManager: 'other' });
    expect(await data()).to.deep.equal({ x: '1', y: '1' });
  });

  it('sends writes of Events and subresources as dry runs to the server, and does not show Events in reads', async () => {
    const reported = {
      ...{ eventTime: '2024-05-06T07:08:09.000000Z', reportingInstance: 'a' },
      ...{ action: 'Open', reason: 'Opened', type: 'Normal', metadata: key },
    };
    const reporter = 'shop.example/till';
    const given: readonly UnstructuredObject[] = [
      {
        ...{ apiVersion: 'events.k8s.io/v1', kind: 'Event', ...reported },
        reportingController: reporter,
      },
      {
        ...{ apiVersion: 'v1', kind: 'Event', ...reported, involvedObject: { namespace } },
        reportingComponent: reporter,
      },
    ];
    for (const event of given) {
      const made = await planning.create(event);
      expect(made.metadata.name).to.equal('a');
      expect(await codeOf(planning.get(event, key))).to.equal(404);
    }
    await client.apply(deploymentOf('web:1'), { fieldManager: 'shop' });
    const scale = { type: 'merge', body: { spec: { replicas: 3 } } } as const;
    const subresource = 'scale';
    const answer = await planning.patch<UnstructuredObject>(Deployment, key, scale, {
      subresource,
    });
    expect(answer).to.deep.include({ kind: 'Scale' });
    expect(planned.all).to.deep.equal([]);
    await planning.get(Deployment, key, { metadataOnly: true });
    expect(planned.known).to.deep.equal([]);
    await planning.get(Deployment, key);
    expect(planned.known).to.have.lengthOf(1);
  });

  it('answers 404 for a missing and 409 for an existing object, as the server does', async () => {
    const patch = { type: 'merge', body: {} } as const;
    const lacking = {
      ...{ kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound' },
      message: 'ConfigMap "a" not found',
    };
    const bodyOf = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => undefined,
        (error: unknown) => (error as { readonly body?: unknown }).body,
      );
    for (const work of [planning.patch(ConfigMap, key, patch), planning.delete(ConfigMap, key)]) {
      expect(await bodyOf(work)).to.deep.equal(lacking);
    }
    await planning.create(configMap({}));
    expect(await bodyOf(planning.create(configMap({})))).to.deep.equal({
      ...{ kind: 'Status', status: 'Failure', code: 409, reason: 'AlreadyExists' },
      message: 'ConfigMap "a" already exists',
    });
  });
});
