import { expect } from 'chai';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { Api, apply, merge } from '../api.js';
import { crds, installed } from '../custom/widgets.js';

const widgets = '/apis/example.com/v1/widgets';
const manager = 'views';

/** A server with a kind whose objects may have any content. */
async function started(): Promise<Api> {
  const api = new Api({ looseCustomResources: true });
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await api.create(crds, {
    metadata: { name: 'widgets.example.com' },
    spec: {
      ...{ group: 'example.com', scope: 'Namespaced' },
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  });
  return api;
}

function object(fields: object, metadata: object = {}): UnstructuredObject {
  const type = { apiVersion: 'example.com/v1', kind: 'Widget' };
  return { ...type, metadata: { name: 'a', ...metadata }, ...fields };
}

function put(api: Api, given: UnstructuredObject, options: object = {}) {
  return api.server.loopback.put(given, { manager, bytes: 100, ...options });
}

/** Returns the object of the server without the fields that differ between servers. */
async function stored(api: Api): Promise<object> {
  const { body } = await api.get(`${widgets}/a`);
  const { uid, resourceVersion, ...metadata } = body.metadata;
  expect([uid, resourceVersion]).to.not.include(undefined);
  return { ...body, metadata };
}

const labels = { app: 'a' };
const first = object({ spec: { size: 1, list: [{ a: 1 }] } }, { labels });

/** The object that is put after the first one. */
const changes: Readonly<Record<string, UnstructuredObject>> = {
  'nothing else': first,
  'another value': object({ spec: { size: 2, list: [{ a: 1 }] } }, { labels }),
  'another list': object({ spec: { size: 1, list: [{ a: 2 }, { b: 1 }] } }, { labels }),
  'another member': object({ spec: { size: 1, color: 'red', list: [{ a: 1 }] } }, { labels }),
  'one member in place of another': object(
    { spec: { color: 'red', list: [{ a: 1 }] } },
    { labels },
  ),
  'a member less': object({ spec: { size: 1 } }, { labels }),
  'a map in place of a value': object({ spec: { size: { a: 1 }, list: [{ a: 1 }] } }, { labels }),
  'a value in place of a map': object({ spec: 1 }, { labels }),
  'a status': object(
    { spec: { size: 1, list: [{ a: 1 }] }, status: { phase: 'Ready' } },
    { labels },
  ),
  'another label': object({ spec: { size: 1, list: [{ a: 1 }] } }, { labels: { app: 'b' } }),
  'more labels': object({ spec: { size: 1, list: [{ a: 1 }] } }, { labels: { app: 'a', b: 'c' } }),
  'no labels': object({ spec: { size: 1, list: [{ a: 1 }] } }),
  'an annotation': object(
    { spec: { size: 1, list: [{ a: 1 }] } },
    { labels, annotations: { a: 'b' } },
  ),
};

describe('loopback.put of a custom resource with the option looseCustomResources', () => {
  for (const [title, next] of Object.entries(changes)) {
    it(`stores the same object as a forced apply, for ${title}`, async () => {
      const [api, other] = [await started(), await started()];
      const query = `?fieldManager=${manager}&force=true`;
      const results: unknown[] = [];
      for (const given of [first, next]) {
        const done = put(api, given);
        await other.call('PATCH', `${widgets}/a${query}`, given, apply);
        expect(await stored(api)).to.deep.equal(await stored(other));
        results.push(done?.live, done?.stored);
        for (const { clock } of [api, other]) await clock.advance(60_000);
      }
      const [none, created, live, last] = results as (UnstructuredObject | undefined)[];
      expect(none).to.equal(undefined);
      expect(live).to.equal(created);
      expect(last === live).to.equal(next === first);
    });
  }

  it('stores nothing in a dry run, but returns what it would store', async () => {
    const api = await started();
    const made = put(api, first, { dryRun: true });
    expect(made?.live).to.equal(undefined);
    expect(made?.stored.metadata).to.deep.include({ name: 'a', labels, generation: 1 });
    expect((await api.get(`${widgets}/a`)).code).to.equal(404);
    const live = put(api, first)?.stored;
    const changed = put(api, object({ spec: { size: 5 } }), { dryRun: true });
    expect(changed?.live).to.equal(live);
    expect(changed?.stored).to.deep.include({ spec: { size: 5 } });
    expect(changed?.stored.metadata).to.include({ generation: 2 });
    expect((await api.get(`${widgets}/a`)).body).to.deep.equal(live);
  });

  const held: Readonly<Record<string, (api: Api) => Promise<unknown>>> = {
    'another manager applied it': async (api) => {
      await api.call('PATCH', `${widgets}/a?fieldManager=other`, first, apply);
    },
    'another manager owns fields': async (api) => {
      put(api, first);
      await api.call('PATCH', `${widgets}/a`, { spec: { other: 1 } }, merge);
    },
    'the manager owns fields by an update': async (api) => {
      await api.call('POST', `${widgets}?fieldManager=${manager}`, first);
    },
    'the manager owns the status by an apply': async (api) => {
      const status = { ...first, status: { a: 1 } };
      await api.call('POST', `${widgets}?fieldManager=${manager}`, status);
    },
    'it has a finalizer': async (api) => {
      const query = `?fieldManager=${manager}`;
      const finalizers = ['a/b'];
      await api.call('PATCH', `${widgets}/a${query}`, object({}, { finalizers }), apply);
    },
    'it has an owner': async (api) => {
      const query = `?fieldManager=${manager}`;
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'u' }];
      await api.call('PATCH', `${widgets}/a${query}`, object({}, { ownerReferences }), apply);
    },
    'its definition is being deleted': async (api) => {
      const metadata = { name: 'b', finalizers: ['a/b'] };
      await api.create(widgets, object({}, metadata));
      await api.call('DELETE', `${crds}/widgets.example.com`);
    },
    'its kind is unknown': (api) => api.call('DELETE', `${crds}/widgets.example.com`),
  };
  for (const [title, given] of Object.entries(held)) {
    it(`writes nothing and returns undefined if ${title}`, async () => {
      const api = await started();
      await given(api);
      const before = (await api.get(widgets)).text;
      expect(put(api, object({ spec: { size: 7 } }))).to.equal(undefined);
      expect((await api.get(widgets)).text).to.equal(before);
    });
  }

  for (const [title, given, options] of [
    ['an invalid name', object({}, { name: 'a/b' }), {}],
    ['no manager', first, { manager: '' }],
  ] as const) {
    it(`writes nothing and returns undefined for ${title}`, async () => {
      const api = await started();
      expect(put(api, given, options)).to.equal(undefined);
      expect((await api.get(widgets)).body.items).to.deep.equal([]);
    });
  }

  it('writes nothing and returns undefined without the option looseCustomResources', async () => {
    const api = new Api();
    await installed(api);
    expect(put(api, object({}, { namespace: 'default' }))).to.equal(undefined);
  });
});
