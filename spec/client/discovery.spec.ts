import { expect } from 'chai';
import { ConfigMap } from '../../lib/object/kinds.js';
import { failureOf, refusal, scripted } from './scripted-transport.js';
import type { ScriptedAnswer } from './scripted-transport.js';

const widget = { apiVersion: 'example.com/v1', kind: 'Widget' };

/** Returns aggregated discovery of one group, `example.com/v1`, with these kinds. */
function aggregated(
  kinds: Readonly<Record<string, 'Namespaced' | 'Cluster'>>,
  version: object = {},
): ScriptedAnswer {
  const resources = Object.entries(kinds).map(([kind, scope]) => ({
    ...{ resource: `${kind.toLowerCase()}s`, scope },
    responseKind: { group: '', version: '', kind },
  }));
  const versions = [{ version: 'v1', resources, ...version }];
  const items = [{ metadata: { name: 'example.com' }, versions }];
  return { json: { kind: 'APIGroupDiscoveryList', items }, headers: { etag: '"1"' } };
}

describe('discovery', () => {
  it('is not queried for built-in kinds, nor for types whose plural the caller gives', async () => {
    const { client, transport } = scripted(() => new Error('not asked'));
    expect(await client.resourceType({ apiVersion: 'v1', kind: 'ConfigMap' })).to.deep.equal(
      ConfigMap,
    );
    const type = { group: 'x', version: 'v1', kind: 'Y', plural: 'ys', namespaced: true };
    expect(await client.resourceType(type)).to.equal(type);
    expect(transport.calls).to.deep.equal([]);
  });

  it('is queried once for all groups, and cached', async () => {
    const { client, transport } = scripted(() =>
      aggregated({ Widget: 'Namespaced', Zone: 'Cluster' }),
    );
    expect(await client.resourceType(widget)).to.deep.equal({
      ...{ group: 'example.com', version: 'v1', kind: 'Widget' },
      ...{ plural: 'widgets', namespaced: true },
    });
    expect(await client.resourceType({ ...widget, kind: 'Zone' })).to.include({
      namespaced: false,
    });
    expect(transport.calls).to.deep.equal(['GET /apis']);
    expect(transport.requests[0]?.headers['accept']).to.contain('as=APIGroupDiscoveryList');
  });

  it('rejects the calls whose signal aborts, and still answers the other calls that wait for it', async () => {
    let respond: (answer: ScriptedAnswer) => void = () => undefined;
    const { client, transport } = scripted(({ path }) => {
      if (path !== '/apis') return { json: { metadata: {}, items: [] } };
      return new Promise((resolve) => (respond = resolve));
    });
    const stop = new AbortController();
    const { signal } = stop;
    const object = { ...widget, metadata: { name: 'a', namespace: 'default' } };
    const calls = [
      client.list(widget, { signal }),
      client.get(widget, object.metadata, { signal }),
      client.create(object, { signal }),
      client.watch(widget, { signal })[Symbol.asyncIterator]().next(),
    ].map(failureOf);
    const other = client.list(widget);
    const reason = new Error('enough');
    stop.abort(reason);
    for (const error of await Promise.all(calls)) {
      expect(error).to.include({
        code: 'Aborted',
        message: 'discover /apis: aborted',
        cause: reason,
      });
    }
    respond(aggregated({ Widget: 'Namespaced' }));
    expect((await other).items).to.deep.equal([]);
    expect(transport.calls).to.deep.equal([
      'GET /apis',
      'GET /apis/example.com/v1/widgets?limit=500',
    ]);
  });

  it('is queried for the core group when the kind belongs to it', async () => {
    const items = [
      {
        versions: [
          {
            version: 'v1',
            resources: [
              { resource: 'endpoints', scope: 'Namespaced', responseKind: { kind: 'Endpoints' } },
            ],
          },
        ],
      },
    ];
    const { client, transport } = scripted(() => ({
      json: { kind: 'APIGroupDiscoveryList', items },
    }));
    const type = await client.resourceType({ apiVersion: 'v1', kind: 'Endpoints' });
    expect(type).to.include({ group: '', version: 'v1', plural: 'endpoints' });
    expect(transport.calls).to.deep.equal(['GET /api']);
  });

  it('is queried again with the ETag of its last response for an unknown kind, and finds a kind installed since', async () => {
    const answers = [aggregated({}), { status: 304, text: '' }, aggregated({ Widget: 'Cluster' })];
    const { client, transport } = scripted((_, nth) => answers[nth - 1] ?? new Error('too many'));
    expect(await failureOf(client.resourceType(widget))).to.have.property('code', 'UnknownKind');
    expect(await failureOf(client.resourceType(widget))).to.have.property('code', 'UnknownKind');
    expect(await client.resourceType(widget)).to.have.property('plural', 'widgets');
    const sent = transport.requests.map(({ headers }) => headers['if-none-match']);
    expect(sent).to.deep.equal([undefined, '"1"', '"1"']);
  });

  it('is queried again with the ETag of its last response after a 404 that is not about an object', async () => {
    const key = { namespace: 'default', name: 'a' };
    const unserved = { status: 404, text: '404 page not found' };
    const answers = [
      ...[aggregated({ Widget: 'Namespaced' }), unserved, { status: 304, text: '' }, unserved],
      ...[refusal(500, 'InternalError'), aggregated({ Widget: 'Cluster' })],
      ...[refusal(404, 'NotFound'), refusal(404, 'NotFound')],
    ];
    const { client, transport } = scripted((_, nth) => answers[nth - 1] ?? new Error('too many'));
    for (const status of [404, 404, 500, 404, 404]) {
      expect(await failureOf(client.get(widget, key))).to.have.property('status', status);
    }
    expect(transport.calls).to.deep.equal([
      ...['GET /apis', 'GET /apis/example.com/v1/namespaces/default/widgets/a'],
      ...['GET /apis', 'GET /apis/example.com/v1/namespaces/default/widgets/a'],
      ...['GET /apis', 'GET /apis'],
      ...['GET /apis/example.com/v1/widgets/a', 'GET /apis/example.com/v1/widgets/a'],
    ]);
  });

  it('is not queried again after a 404 of a kind that it does not list', async () => {
    const monitor = {
      ...{ group: 'monitoring.example.com', version: 'v1', kind: 'Monitor' },
      ...{ plural: 'monitors', namespaced: true },
    };
    const { client, transport } = scripted(({ path }) => {
      if (path === '/apis') return aggregated({ Widget: 'Namespaced' });
      return path.includes('/widgets/')
        ? { json: {} }
        : { status: 404, text: '404 page not found' };
    });
    const key = { namespace: 'default', name: 'a' };
    for (let n = 0; n < 3; n++) {
      await client.get(widget, key);
      expect(await failureOf(client.get(monitor, key))).to.have.property('status', 404);
      expect(await failureOf(client.get(ConfigMap, key))).to.have.property('status', 404);
    }
    expect(transport.calls.filter((call) => call === 'GET /apis')).to.have.length(1);
  });

  it('is queried again if an object lacks the namespace that its kind needs', async () => {
    const answers = [aggregated({ Widget: 'Namespaced' }), aggregated({ Widget: 'Cluster' })];
    const { client, transport } = scripted((_, nth) => answers[nth - 1] ?? { json: {} });
    await client.get(widget, { name: 'a' });
    await client.get(widget, { name: 'b' });
    expect(transport.calls).to.deep.equal([
      ...['GET /apis', 'GET /apis'],
      ...['GET /apis/example.com/v1/widgets/a', 'GET /apis/example.com/v1/widgets/b'],
    ]);
  });

  it('is queried once for concurrent lookups', async () => {
    const { client, transport } = scripted(() => aggregated({ Widget: 'Cluster' }));
    await Promise.all([1, 2, 3].map(() => client.resourceType(widget)));
    expect(transport.calls).to.have.length(1);
  });

  for (const reference of [widget, { group: 'example.com', kind: 'Widget' }]) {
    const how = 'group' in reference ? 'by group and kind' : 'by apiVersion and kind';
    it(`does not use the response to an earlier request for a lookup ${how}`, async () => {
      let answerFirst: (answer: ScriptedAnswer) => void = () => undefined;
      const { client, transport } = scripted((_, nth) =>
        nth === 1
          ? new Promise((resolve) => (answerFirst = resolve))
          : aggregated({ Widget: 'Cluster', Zone: 'Cluster' }),
      );
      const early = failureOf(client.resourceType({ ...widget, kind: 'Unknown' }));
      await new Promise((resolve) => setImmediate(resolve));
      const late = client.resourceType(reference);
      answerFirst(aggregated({}));
      expect(await late).to.have.property('plural', 'widgets');
      expect(await early).to.have.property('code', 'UnknownKind');
      expect(transport.calls).to.have.length(2);
    });
  }

  it('is queried only for the version of the kind when the server has no aggregated discovery', async () => {
    const resources = [
      { name: 'widgets', kind: 'Widget', namespaced: true },
      { name: 'widgets/status', kind: 'Widget', namespaced: false },
    ];
    const { client, transport } = scripted(({ path }) => ({
      json: path === '/apis' ? { kind: 'APIGroupList', groups: [] } : { resources },
    }));
    const type = await client.resourceType(widget);
    expect(type).to.include({ plural: 'widgets', namespaced: true });
    expect(transport.calls).to.deep.equal(['GET /apis', 'GET /apis/example.com/v1']);
    expect(transport.requests[0]?.headers['accept']).to.match(/,application\/json$/);
    expect(transport.requests[1]?.headers['accept']).to.equal('application/json');
  });

  it('rejects with the error of a group version that is unavailable instead of UnknownKind', async () => {
    const { client } = scripted(({ path }) =>
      path === '/apis'
        ? aggregated({}, { freshness: 'Stale' })
        : refusal(503, 'ServiceUnavailable'),
    );
    expect(await failureOf(client.resourceType(widget))).to.have.property('status', 503);
  });

  it('lists the served versions of a kind, or suggests to install its CRD', async () => {
    const { client } = scripted(({ path }) =>
      path === '/apis' ? aggregated({ Widget: 'Cluster' }) : { status: 404, text: 'not found' },
    );
    const other = await failureOf(client.resourceType({ ...widget, apiVersion: 'example.com/v2' }));
    expect(other.message).to.contain('Widget of example.com/v2').and.to.contain('example.com/v1');
    const none = await failureOf(client.resourceType({ ...widget, kind: 'Gadget' }));
    expect(none.message).to.contain('install its CustomResourceDefinition');
  });

  it('finds a kind in the preferred version among those that serve it', async () => {
    const { client } = scripted(() => {
      const resource = (kind: string) => ({ resource: kind, responseKind: { kind } });
      const versions = [
        { version: 'v2', resources: [resource('Widget')] },
        { version: 'v1', resources: [resource('Widget'), resource('Gadget')] },
      ];
      const items = [{ metadata: { name: 'example.com' }, versions }];
      return { json: { kind: 'APIGroupDiscoveryList', items } };
    });
    const group = 'example.com';
    expect(await client.resourceType({ group, kind: 'Widget' })).to.include({ version: 'v2' });
    expect(await client.resourceType({ group, kind: 'Gadget' })).to.include({ version: 'v1' });
    const error = await failureOf(client.resourceType({ group, kind: 'Gizmo' }));
    expect(error).to.have.property('code', 'UnknownKind');
    expect(error).to.have.property('message').that.contains('Gizmo of example.com');
  });

  it('finds the preferred version without aggregated discovery', async () => {
    const { client, transport } = scripted(({ path }) => {
      const served = [{ name: 'widgets', kind: 'Widget', namespaced: true }];
      if (path === '/apis') return { json: { kind: 'APIGroupList', groups: [] } };
      if (path !== '/apis/example.com') return { json: { resources: served } };
      const versions = [{ groupVersion: 'example.com/v1' }, { groupVersion: 'example.com/v2' }];
      return { json: { preferredVersion: versions[1], versions } };
    });
    const found = await client.resourceType({ group: 'example.com', kind: 'Widget' });
    expect(found).to.include({ version: 'v2', plural: 'widgets', namespaced: true });
    expect(transport.calls.slice(0, 2)).to.deep.equal(['GET /apis', 'GET /apis/example.com']);
    expect(transport.requests[1]?.headers['accept']).to.equal('application/json');
  });

  it('rejects with the error of the server when the server refuses the query', async () => {
    const { client } = scripted(() => refusal(403, 'Forbidden'));
    expect(await failureOf(client.resourceType(widget))).to.have.property('status', 403);
  });
});
