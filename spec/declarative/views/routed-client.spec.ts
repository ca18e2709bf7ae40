import { expect } from 'chai';
import type { Client, ConnectedClient } from '../../../lib/client/index.js';
import { Views } from '../../../lib/declarative/views/index.js';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import type { ObjectKey, UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import type { TypeReference } from '../../../lib/object/resource-type.js';
import { clientContract } from '../../client/client-contract.js';
import { failureOf } from '../../client/scripted-transport.js';
import { HealthView, healthView } from './view-objects.js';

const key = { namespace: 'default', name: 'a' };
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };

async function drain(events: AsyncIterable<unknown>): Promise<void> {
  for await (const event of events) if (event !== undefined) return;
}

/** An existing object and its type. */
interface Subject {
  readonly type: TypeReference;
  readonly object: UnstructuredObject;
  readonly key: ObjectKey;
}

type Call = (client: Client, subject: Subject) => Promise<unknown>;

const patch = { type: 'merge', body: { metadata: { labels: { a: 'b' } } } } as const;

const calls: Readonly<Record<string, Call>> = {
  get: (client, { type, key }) => client.get(type, key),
  list: (client, { type }) => client.list(type),
  pages: (client, { type }) => drain(client.pages(type)),
  watch: (client, { type }) => drain(client.watch(type)),
  stream: (client, { type, key }) => drain(client.stream(type, key, { subresource: 'log' })),
  create: (client, { object }) =>
    client.create({ ...object, metadata: { ...object.metadata, name: 'b' } }),
  update: (client, { object }) => client.update(object),
  patch: (client, { type, key }) => client.patch(type, key, patch),
  apply: (client, { object }) => client.apply(object, { fieldManager: 'spec' }),
  delete: (client, { type, key }) => client.delete(type, key),
  deleteCollection: (client, { type }) =>
    client.deleteCollection(type, { namespace: 'default', labelSelector: 'none' }),
  'update of a subresource': (client, { type, object }) =>
    client.update(
      { ...object, apiVersion: 'autoscaling/v1', kind: 'Scale' },
      { subresource: 'scale', parent: type },
    ),
};

describe('Views.route, which returns a client for the cluster and views', () => {
  let cluster: EmbeddedCluster;
  let native: ConnectedClient;
  let views: Views;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start();
    native = cluster.client();
    views = await Views.start();
  });
  afterEach(async () => {
    await views.stop();
    await cluster.stop();
  });

  /** Returns the number of requests that `call` sends to each server. */
  async function asked(call: Call, subject: Subject): Promise<{ native: number; views: number }> {
    const before = { native: cluster.requests.mark(), views: views.server.requests.mark() };
    // Requests for logs and scales fail. Only the server that receives them matters.
    await call(views.route(native), subject).catch(() => undefined);
    return {
      native: cluster.requests.since(before.native).entries.length,
      views: views.server.requests.since(before.views).entries.length,
    };
  }

  for (const [name, call] of Object.entries(calls)) {
    it(`sends ${name} of a view to the server of views, for both forms of a type`, async () => {
      const object = await views.client.create(healthView(key));
      const type = await views.ensure('op', 'HealthView');
      const named = await asked(call, { type: HealthView, object, key });
      expect(named).to.deep.equal({ native: 0, views: 1 });
      const again = { ...object, metadata: key };
      const typed = await asked(call, { type, object: again, key });
      expect(typed).to.deep.equal({ native: 0, views: 1 });
    });

    it(`sends ${name} of other kinds to the cluster`, async () => {
      const object = (await native.create(configMap)) as UnstructuredObject;
      const seen = await asked(call, { type: ConfigMap, object, key });
      expect(seen).to.deep.equal({ native: 1, views: 0 });
    });
  }

  it('resolves kinds of views without requests to the cluster', async () => {
    const client = views.route(native);
    const type = await views.ensure('op', 'HealthView');
    const mark = cluster.requests.mark();
    expect(await client.resourceType(type)).to.deep.equal(type);
    expect(await client.resourceType(HealthView)).to.deep.equal(type);
    const { group, kind } = type;
    expect(await client.resourceType({ group, kind })).to.deep.equal(type);
    const unknown = await failureOf(client.resourceType({ group, kind: 'No' }));
    expect(unknown).to.have.property('code', 'UnknownKind');
    expect(cluster.requests.since(mark).entries.length).to.equal(0);
    expect(await client.resourceType({ group: 'apps', kind: 'Deployment' })).to.include({
      ...{ version: 'v1', plural: 'deployments' },
    });
  });

  it('answers access reviews about views with yes, and sends other access reviews to the cluster', async () => {
    const outsider = views.route(cluster.client({ user: 'nobody' }));
    const review = (group: string) => {
      const resourceAttributes = { group, resource: 'things', verb: 'list' };
      const metadata = {};
      return { ...reviewType, metadata, spec: { resourceAttributes } } as UnstructuredObject;
    };
    const reviewType = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' };
    const mark = cluster.requests.mark();
    const ofViews = await outsider.create(review('op.view.dcontroller.io'));
    expect(ofViews).to.have.nested.property('status.allowed', true);
    expect(cluster.requests.since(mark).entries.length).to.equal(0);
    await outsider.create(review('apps'));
    expect(cluster.requests.since(mark).writes).to.equal(1);
  });

  it('aborts calls for views when their signal is aborted', async () => {
    const stop = new AbortController();
    await views.ensure('op', 'HealthView');
    const watching = failureOf(
      drain(views.route(native).watch(HealthView, { signal: stop.signal })),
    );
    stop.abort();
    expect(await watching).to.have.property('code', 'Aborted');
    expect(views.server.openWatches).to.equal(0);
  });
});

describe('A client with views', () => {
  let cluster: EmbeddedCluster;
  let views: Views;

  before(async () => {
    cluster = await EmbeddedCluster.start();
    views = await Views.start();
  });
  after(async () => {
    await views.stop();
    await cluster.stop();
  });

  clientContract({
    newClient: () => views.route(cluster.client()),
    skip: {
      'a token of a service account can be requested': 'no tokens yet',
      'a Pod can be evicted': 'no evictions yet',
      'a watch ends when its timeout expires': 'takes a second',
    },
  });
});
