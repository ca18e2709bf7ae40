import { expect } from 'chai';
import { bearerToken } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { ApiError } from '../../lib/object/api-error.js';
import { ConfigMap, Deployment, Node, Pod } from '../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { ConnectionError } from '../../lib/system/operator-error.js';
import { failureOf, scripted } from './scripted-transport.js';
import type { ScriptedAnswer } from './scripted-transport.js';

const key = { namespace: 'shop', name: 'web' };
const configMap: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key } };
const eviction: UnstructuredObject = {
  ...{ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { ...key } },
};
const scale: UnstructuredObject = {
  ...{ apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { ...key }, spec: { replicas: 3 } },
};
const ok: ScriptedAnswer = { json: { ...configMap, items: [] } };

const one = '/api/v1/namespaces/shop/configmaps/web';
const all = '/api/v1/namespaces/shop/configmaps';

type Call = (client: Client) => Promise<unknown>;

async function first(pages: AsyncIterable<unknown>): Promise<unknown> {
  for await (const page of pages) return page;
  return undefined;
}

describe('the HTTP client', () => {
  const requests: readonly (readonly [string, Call, string])[] = [
    ['get', (c) => c.get(ConfigMap, key), `GET ${one}`],
    [
      'get a subresource',
      (c) => c.get(Deployment, key, { subresource: 'scale', resourceVersion: '0' }),
      'GET /apis/apps/v1/namespaces/shop/deployments/web/scale?resourceVersion=0',
    ],
    [
      'get of a cluster-scoped kind with a namespace, which is ignored',
      (c) => c.get(Node, key),
      'GET /api/v1/nodes/web',
    ],
    ['list', (c) => c.list(ConfigMap, { namespace: 'shop' }), `GET ${all}?limit=500`],
    ['list of all namespaces', (c) => c.list(ConfigMap), 'GET /api/v1/configmaps?limit=500'],
    [
      'list with every option',
      (c) =>
        c.list(ConfigMap, {
          ...{ labelSelector: 'app=web,tier in (a,b)', fieldSelector: 'metadata.name=web' },
          ...{ limit: 7, resourceVersion: '5', resourceVersionMatch: 'NotOlderThan' },
        }),
      'GET /api/v1/configmaps?labelSelector=app%3Dweb%2Ctier%20in%20(a%2Cb)' +
        '&fieldSelector=metadata.name%3Dweb&limit=7&resourceVersion=5' +
        '&resourceVersionMatch=NotOlderThan',
    ],
    ['pages', (c) => first(c.pages(ConfigMap, { limit: 2 })), 'GET /api/v1/configmaps?limit=2'],
    ['create', (c) => c.create(configMap), `POST ${all}`],
    [
      'create with every option',
      (c) => c.create(configMap, { dryRun: true, fieldManager: 'me', fieldValidation: 'Strict' }),
      `POST ${all}?fieldManager=me&fieldValidation=Strict&dryRun=All`,
    ],
    [
      'create of an Eviction',
      (c) => c.create(eviction, { subresource: 'eviction' }),
      'POST /api/v1/namespaces/shop/pods/web/eviction',
    ],
    ['update', (c) => c.update(configMap), `PUT ${one}`],
    [
      'update of the status',
      (c) => c.update(configMap, { subresource: 'status' }),
      `PUT ${one}/status`,
    ],
    [
      'update of a Scale',
      (c) => c.update(scale, { subresource: 'scale', parent: Deployment }),
      'PUT /apis/apps/v1/namespaces/shop/deployments/web/scale',
    ],
    [
      'patch',
      (c) => c.patch(ConfigMap, key, { type: 'merge', body: {} }, { subresource: 'status' }),
      `PATCH ${one}/status`,
    ],
    [
      'apply',
      (c) => c.apply(configMap, { fieldManager: 'me', force: true }),
      `PATCH ${one}?fieldManager=me&force=true`,
    ],
    ['delete', (c) => c.delete(ConfigMap, key), `DELETE ${one}`],
    [
      'deleteCollection',
      (c) => c.deleteCollection(ConfigMap, { namespace: 'shop', labelSelector: 'a=b' }),
      `DELETE ${all}?labelSelector=a%3Db`,
    ],
  ];
  for (const [title, call, expected] of requests) {
    it(`sends the expected request for: ${title}`, async () => {
      const { client, transport } = scripted(() => ok);
      await call(client);
      expect(transport.calls).to.deep.equal([expected]);
    });
  }

  const bodies: readonly (readonly [string, Call, string, unknown])[] = [
    ['create', (c) => c.create(configMap), 'application/json', configMap],
    [
      'a JSON patch',
      (c) => c.patch(ConfigMap, key, { type: 'json', operations: [{ op: 'remove', path: '/a' }] }),
      'application/json-patch+json',
      [{ op: 'remove', path: '/a' }],
    ],
    [
      'a merge patch',
      (c) => c.patch(ConfigMap, key, { type: 'merge', body: { data: null } }),
      'application/merge-patch+json',
      { data: null },
    ],
    [
      'a strategic patch',
      (c) => c.patch(ConfigMap, key, { type: 'strategic', body: { data: null } }),
      'application/strategic-merge-patch+json',
      { data: null },
    ],
    [
      'apply',
      (c) => c.apply(configMap, { fieldManager: 'me' }),
      'application/apply-patch+yaml',
      configMap,
    ],
    [
      'delete',
      (c) =>
        c.delete(ConfigMap, key, {
          ...{ propagationPolicy: 'Foreground', gracePeriodSeconds: 0, dryRun: true },
          preconditions: { uid: 'u' },
        }),
      'application/json',
      {
        ...{ apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Foreground' },
        ...{ gracePeriodSeconds: 0, preconditions: { uid: 'u' }, dryRun: ['All'] },
      },
    ],
  ];
  for (const [title, call, contentType, body] of bodies) {
    it(`sends the body of ${title} as ${contentType}`, async () => {
      const { client, transport } = scripted(() => ok);
      await call(client);
      const [request] = transport.requests;
      expect(request?.headers['content-type']).to.equal(contentType);
      expect(JSON.parse(request?.body as string)).to.deep.equal(body);
    });
  }

  const wrong: readonly (readonly [string, Call, string])[] = [
    ['no namespace', (c) => c.get(ConfigMap, { name: 'web' }), 'InvalidObject'],
    [
      'an empty namespace',
      (c) => c.get(ConfigMap, { namespace: '', name: 'web' }),
      'InvalidObject',
    ],
    [
      'no namespace for a new object',
      (c) => c.create({ ...configMap, metadata: { name: 'web' } }),
      'InvalidObject',
    ],
    ['no object', (c) => c.create(null as never), 'InvalidObject'],
    [
      'an object without metadata',
      (c) => c.apply({ ...configMap, metadata: null } as never),
      'InvalidObject',
    ],
    ['no patch', (c) => c.patch(Node, { name: 'a' }, null as never), 'InvalidPatch'],
    [
      'a patch of an unknown type',
      (c) => c.patch(Node, { name: 'a' }, { type: 'x' } as never),
      'InvalidPatch',
    ],
    ['no type', (c) => c.get(undefined as never, { name: 'a' }), 'InvalidOption'],
    ['no type to list', (c) => c.list(undefined as never), 'InvalidOption'],
    ['no key', (c) => c.get(Node, undefined as never), 'InvalidObject'],
    ['a read without a name, which would list', (c) => c.get(Node, {} as never), 'InvalidObject'],
    [
      'a delete without a name, which would delete the collection',
      (c) => c.delete(ConfigMap, { namespace: 'shop' } as never),
      'InvalidObject',
    ],
    [
      'a misspelt selector, which would delete the collection',
      (c) => c.deleteCollection(ConfigMap, { namespace: 'shop', labelselector: 'a=b' } as never),
      'InvalidOption',
    ],
    ['options of another call', (c) => c.list(Node, { force: true } as never), 'InvalidOption'],
    ['an empty name', (c) => c.delete(ConfigMap, { namespace: 'shop', name: '' }), 'InvalidObject'],
    ['a name that is a parent path', (c) => c.delete(Node, { name: '..' }), 'InvalidObject'],
    ['a name with a slash', (c) => c.get(Node, { name: 'a/../b' }), 'InvalidObject'],
    ['a namespace with a slash', (c) => c.list(Pod, { namespace: 'a/b' }), 'InvalidObject'],
    [
      'no name to update',
      (c) => c.update({ ...configMap, metadata: { namespace: 'shop' } }),
      'InvalidObject',
    ],
    ['no field manager to apply with', (c) => c.apply(configMap), 'InvalidOption'],
    [
      'an update of a Scale without an object',
      (c) => c.update(scale, { subresource: 'scale' }),
      'InvalidOption',
    ],
    ['pages of no items', (c) => c.list(ConfigMap, { limit: 0 }), 'InvalidOption'],
  ];
  for (const [title, call, code] of wrong) {
    it(`rejects ${title} without a request`, async () => {
      const { client, transport } = scripted(() => ok);
      expect(await failureOf(call(client))).to.have.property('code', code);
      expect(transport.calls).to.deep.equal([]);
    });
  }

  it('sends a create of an object with generateName instead of a name', async () => {
    const { client, transport } = scripted(() => ok);
    await client.create({ ...configMap, metadata: { namespace: 'shop', generateName: 'web-' } });
    expect(transport.calls).to.deep.equal([`POST ${all}`]);
  });

  it('returns the response unchanged, with unknown fields', async () => {
    const json = {
      ...configMap,
      data: { a: 'é' },
      future: { _from: 1, when: '2026-01-01T00:00:00Z' },
    };
    const { client } = scripted(() => ({ json }));
    expect(await client.get(ConfigMap, key)).to.deep.equal(json);
  });

  it('derives from the status code whether apply created the object', async () => {
    const { client } = scripted((_, nth) => ({ ...ok, status: nth === 1 ? 201 : 200 }));
    const apply = () => client.apply(configMap, { fieldManager: 'me' });
    expect(await apply()).to.have.property('created', true);
    expect(await apply()).to.have.property('created', false);
  });

  it('adds the missing apiVersion and kind to the items of a list', async () => {
    const items = [
      { metadata: { name: 'a' } },
      { kind: 'Other', apiVersion: 'x/v1', metadata: {} },
    ];
    const { client } = scripted(() => ({ json: { kind: 'ConfigMapList', metadata: {}, items } }));
    const list = await client.list(ConfigMap);
    expect(list.items).to.deep.equal([
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
      items[1],
    ]);
  });

  it('treats a list without items as empty', async () => {
    const { client } = scripted(() => ({ json: { kind: 'X', metadata: {}, items: null } }));
    expect((await client.list(ConfigMap)).items).to.deep.equal([]);
  });

  it("requests metadata only with metadataOnly, and keeps the object's kind", async () => {
    const partial = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata: key };
    const json = { ...partial, items: [partial] };
    const { client, transport } = scripted(() => ({ json }));
    const expected = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };
    expect((await client.list(ConfigMap, { metadataOnly: true })).items).to.deep.equal([expected]);
    expect(await client.get(ConfigMap, key, { metadataOnly: true })).to.deep.include(expected);
    expect(transport.requests.map(({ headers }) => headers['accept'])).to.deep.equal([
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json',
      'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
    ]);
  });

  it('filters a list by the controller of its items', async () => {
    const owned = (name: string, uid: string, controller: boolean) => ({
      metadata: { name, ownerReferences: [{ uid, controller }] },
    });
    const items = [owned('a', 'u1', true), owned('b', 'u1', false), owned('c', 'u2', true)];
    const { client } = scripted(() => ({ json: { metadata: {}, items } }));
    const list = await client.list(ConfigMap, { controllerUid: 'u1' });
    expect(list.items.map(({ metadata }) => metadata.name)).to.deep.equal(['a']);
  });

  it('rejects a list by index, since it has no cache', async () => {
    const { client, transport } = scripted(() => ok);
    const error = await failureOf(client.list(ConfigMap, { index: { node: 'n1' } }));
    expect(error).to.have.property('code', 'InvalidOption');
    expect(error.message).to.equal(
      'list ConfigMap: index node: this client has no cache, thus no indexes; ' +
        'use the client of a manager or reconcile, or cachedClient',
    );
    expect(transport.requests).to.deep.equal([]);
  });

  it('throws an ApiError that names the request and the response, and says how to correct the problem', async () => {
    const json = {
      ...{ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 403, reason: 'Forbidden' },
      ...{ message: 'no', details: { causes: [{ reason: 'NamespaceTerminating' }] } },
    };
    const { client } = scripted(() => ({ status: 403, json }));
    const error = await failureOf(client.get(ConfigMap, key));
    expect(error).to.be.instanceOf(ApiError).and.to.have.deep.property('body', json);
    const remedy = 'check the RBAC rules of this operator';
    expect(error.message).to.equal(`get ConfigMap shop/web: 403 Forbidden: no (${remedy})`);
  });

  it('reports a response that is not JSON without its text, which may contain a Secret', async () => {
    const text = '{"kind":"Secret","data":{"password":"aHVudGVyMg=';
    const { client } = scripted(() => ({ text }));
    const error = await failureOf(client.get(ConfigMap, key));
    expect(error.message).to.contain('get ConfigMap shop/web').and.to.contain('not whole JSON');
    expect(JSON.stringify(error) + error.message).not.to.contain('aHVudGVyMg');
  });

  it('posts to a Service through the API server, and posts again after a broken connection', async () => {
    const { client, transport } = scripted(
      (_, nth) =>
        nth === 1 ? new ConnectionError('reset', { requestSent: true }) : { text: 'ok' },
      { credentials: bearerToken('abc') },
    );
    const answer = await client.postToService(
      { namespace: 'shop', name: 'https:till:443' },
      {
        ...{ path: '/open', query: { drawer: '1', coins: undefined }, body: '{"a":1}' },
        ...{ headers: { 'x-drawer': 'one' }, credentialsHeader: 'x-till' },
      },
    );
    expect(answer).to.equal('ok');
    const path = '/api/v1/namespaces/shop/services/https%3Atill%3A443/proxy/open?drawer=1';
    expect(transport.calls).to.deep.equal([`POST ${path}`, `POST ${path}`]);
    expect(transport.requests[1]).to.include({ body: '{"a":1}' });
    expect(transport.requests[1]?.headers).to.include({
      ...{ 'content-type': 'application/json', 'x-drawer': 'one' },
      ...{ authorization: 'Bearer abc', 'x-till': 'Bearer abc' },
    });
  });

  it('closes its transport', async () => {
    const { client, transport } = scripted(() => ok);
    await client.close();
    expect(transport.closed).to.equal(true);
  });
});

describe('the response to a delete', () => {
  const answers: readonly (readonly [string, object, boolean])[] = [
    [
      'returns undefined for a Status',
      { kind: 'Status', apiVersion: 'v1', status: 'Success' },
      false,
    ],
    ['returns undefined for the last state of the object', { ...configMap }, false],
    [
      'returns undefined for a Pod without a grace period',
      { metadata: { deletionTimestamp: 't', deletionGracePeriodSeconds: 0 } },
      false,
    ],
    [
      'returns a Pod with a grace period',
      { metadata: { deletionTimestamp: 't', deletionGracePeriodSeconds: 30 } },
      true,
    ],
    [
      'returns an object with finalizers',
      { metadata: { deletionTimestamp: 't', finalizers: ['a'] } },
      true,
    ],
    [
      'returns a Namespace that is being emptied',
      { metadata: { deletionTimestamp: 't' }, spec: { finalizers: ['kubernetes'] } },
      true,
    ],
  ];
  for (const [title, json, remains] of answers) {
    it(title, async () => {
      const { client } = scripted(() => ({ json }));
      const object = await client.delete(ConfigMap, key);
      expect(object).to.deep.equal(remains ? json : undefined);
    });
  }
});
