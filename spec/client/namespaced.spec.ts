import { expect } from 'chai';
import { namespaced } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { ConfigMap, Namespace } from '../../lib/object/kinds.js';
import { failureOf, scripted } from './scripted-transport.js';

const patch = { type: 'merge', body: {} } as const;
const path = '/api/v1/namespaces/shop/configmaps';

const configMap = (namespace?: string): ConfigMap => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap' },
  metadata: { name: 'web', ...(namespace !== undefined && { namespace }) },
});

async function drain(events: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const event of events) count += event === undefined ? 0 : 1;
  return count;
}

describe('namespaced', () => {
  type Call = (client: Client, namespace?: string) => Promise<unknown>;
  const calls: readonly (readonly [string, Call, string])[] = [
    ['get', (c, namespace) => c.get(ConfigMap, { name: 'web', namespace }), `GET ${path}/web`],
    ['list', (c, namespace) => c.list(ConfigMap, { namespace }), `GET ${path}?limit=500`],
    ['pages', (c, namespace) => drain(c.pages(ConfigMap, { namespace })), `GET ${path}?limit=500`],
    [
      'watch',
      (c, namespace) => drain(c.watch(ConfigMap, { namespace })),
      `GET ${path}?watch=true&allowWatchBookmarks=true`,
    ],
    [
      'stream',
      (c, namespace) =>
        drain(c.stream(ConfigMap, { name: 'web', namespace }, { subresource: 'log' })),
      `GET ${path}/web/log`,
    ],
    ['create', (c, namespace) => c.create(configMap(namespace)), `POST ${path}`],
    ['update', (c, namespace) => c.update(configMap(namespace)), `PUT ${path}/web`],
    [
      'patch',
      (c, namespace) => c.patch(ConfigMap, { name: 'web', namespace }, patch),
      `PATCH ${path}/web`,
    ],
    [
      'apply',
      (c, namespace) => c.apply(configMap(namespace), { fieldManager: 'me' }),
      `PATCH ${path}/web?fieldManager=me`,
    ],
    [
      'delete',
      (c, namespace) => c.delete(ConfigMap, { name: 'web', namespace }),
      `DELETE ${path}/web`,
    ],
    [
      'deleteCollection',
      (c, namespace) => c.deleteCollection(ConfigMap, { namespace }),
      `DELETE ${path}`,
    ],
  ];
  for (const [verb, call, expected] of calls) {
    it(`limits ${verb} to its namespace, and rejects another`, async () => {
      const { client, transport } = scripted(({ path }) =>
        path.includes('watch') ? { text: '' } : { json: { ...configMap(), items: [] } },
      );
      const scoped = namespaced(client, 'shop');
      await call(scoped);
      await call(scoped, 'shop');
      expect(transport.calls).to.deep.equal([expected, expected]);
      const error = await failureOf(call(scoped, 'other'));
      expect(error).to.have.property('code', 'InvalidObject');
      expect(error.message).to.contain('stays in namespace shop');
      expect(transport.calls).to.have.length(2);
    });
  }

  it('sets its namespace on a copy of the object', async () => {
    const { client, transport } = scripted(() => ({ json: {} }));
    const object = Object.freeze(configMap());
    await namespaced(client, 'shop').create(object);
    const sent: unknown = JSON.parse(transport.requests[0]?.body as string);
    expect(sent).to.have.nested.property('metadata.namespace', 'shop');
    expect(object.metadata).not.to.have.property('namespace');
  });

  it('does not affect cluster-scoped kinds', async () => {
    const { client, transport } = scripted(() => ({ json: { metadata: {}, items: [] } }));
    const scoped = namespaced(client, 'shop');
    await scoped.list(Namespace);
    await scoped.get(Namespace, { name: 'other' });
    await scoped.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } });
    expect(transport.calls).to.deep.equal([
      'GET /api/v1/namespaces?limit=500',
      'GET /api/v1/namespaces/other',
      'POST /api/v1/namespaces',
    ]);
    expect(transport.requests[2]?.body).not.to.contain('shop');
  });
});
