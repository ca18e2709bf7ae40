import { expect } from 'chai';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { Watch, apply, jsonPatch, merge } from '../api.js';
import { ConversionApi, definition, shop, v1, v2 } from './conversion-api.js';
import type { Definition, Shop } from './conversion-api.js';
import { crds } from './widgets.js';

describe('conversion webhooks', () => {
  it('convert objects between versions for every write verb', async () => {
    const { api } = await new ConversionApi().start();
    expect((await api.create(v1, shop('a', { size: '3' })))['spec']).to.deep.equal({ size: '3' });
    expect((await api.get(`${v2}/a`)).body['spec']).to.deep.equal({ count: 3 });
    const patched = await api.call('PATCH', `${v1}/a`, { spec: { size: '4' } }, merge);
    expect(patched.body['spec']).to.deep.equal({ size: '4' });
    expect((await api.get(`${v2}/a`)).body['spec']).to.deep.equal({ count: 4 });
    const live = (await api.get(`${v1}/a`)).body as UnstructuredObject;
    await api.call('PUT', `${v1}/a`, { ...live, spec: { size: '5' } });
    expect((await api.get(`${v2}/a`)).body['spec']).to.deep.equal({ count: 5 });
    const applied = shop('b', { count: 6 }, 'v2');
    await api.call('PATCH', `${v2}/b?fieldManager=x`, applied, apply);
    const asV1 = await api.call(
      'PATCH',
      `${v1}/b?fieldManager=y&force=true`,
      shop('b', { size: '7' }),
      apply,
    );
    expect(asV1.body['spec']).to.deep.equal({ size: '7' });
    await api.call('DELETE', `${v1}/a`);
    expect((await api.get(v2)).body.items.map(({ spec }) => spec)).to.deep.equal([{ count: 7 }]);
  });

  it('convert the applied fields of a manager without defaults, so that an apply in another version can remove fields', async () => {
    const conversions = await new ConversionApi().start();
    const { api } = conversions;
    const crd = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/shops.acme.com';
    const path = '/spec/versions/1/schema/openAPIV3Schema/properties/spec/properties/count/default';
    await api.call('PATCH', crd, [{ op: 'add', path, value: 1 }], jsonPatch);
    const send = (at: string, body: object) =>
      api.call('PATCH', `${at}/a?fieldManager=m`, body, apply);
    const first = (await send(v1, shop('a', { size: '9' }))).body;
    expect(first['spec']).to.deep.equal({ size: '9' });
    const second = await send(v2, shop('a', {}, 'v2'));
    expect(second.body['spec'], second.text).to.deep.equal({ count: 1 });
  });

  it('receive the object without the fields that an apply removes, and their error fails the apply', async () => {
    const conversions = await new ConversionApi().start();
    const { api } = conversions;
    const labelled = (label: string, version: string) => ({
      ...{ apiVersion: `acme.com/${version}`, kind: 'Shop' },
      metadata: { name: 'a', labels: { label } },
    });
    const send = (at: string, body: object) =>
      api.call('PATCH', `${at}/a?fieldManager=m`, body, apply);
    conversions.change = (response) => response;
    await send(v1, labelled('one', 'v1'));
    for (const [metadata, why] of [
      [undefined, 'missing metadata'],
      [null, 'invalid metadata of type <nil>'],
      ['x', 'invalid metadata of type string'],
    ] as const) {
      conversions.change = (response) => {
        const objects = response['convertedObjects'] as Partial<Shop>[];
        const convertedObjects = objects.map((one) => ({ ...{ metadata }, ...one }));
        return { ...response, convertedObjects };
      };
      const refused = await send(v2, labelled('two', 'v2'));
      expect(refused.code).to.equal(500);
      expect(refused.body.message).to.equal(
        `failed to prune fields: failed add back owned items: failed to convert pruned object at version acme.com/v2: conversion webhook for acme.com/v1, Kind=Shop returned invalid metadata: ${why} in converted object`,
      );
    }
    conversions.change = (response) => {
      const objects = response['convertedObjects'] as Partial<Shop>[];
      const convertedObjects = objects.map((one) => ({ metadata: {}, ...one }));
      return { ...response, convertedObjects };
    };
    const { body } = await send(v2, labelled('two', 'v2'));
    expect(body.metadata.labels).to.deep.equal({ label: 'two' });
  });

  it('receive new objects without a resourceVersion', async () => {
    const conversions = await new ConversionApi().start();
    const created = await conversions.api.create(v1, shop('a', { size: '3' }));
    expect(created.metadata.resourceVersion).to.match(/^\d+$/);
    const objects = conversions.requests.flatMap((request) => request.objects);
    expect(objects).not.to.deep.equal([]);
    for (const { metadata } of objects) expect(metadata).not.to.have.property('resourceVersion');
  });

  it('are called once per list', async () => {
    const conversions = await new ConversionApi().start();
    const { api } = conversions;
    for (const name of ['a', 'b', 'c']) await api.create(v2, shop(name, { count: 1 }, 'v2'));
    expect(conversions.requests).to.have.length(0);
    const { items } = (await api.get(v1)).body;
    expect(items.map(({ spec, apiVersion }) => [apiVersion, spec])).to.deep.equal(
      Array.from({ length: 3 }, () => ['acme.com/v1', { size: '1' }]),
    );
    expect(conversions.requests.map(({ objects }) => objects.length)).to.deep.equal([3]);
  });

  it('convert a collection in one request before its objects are deleted', async () => {
    const conversions = await new ConversionApi().start();
    const { api } = conversions;
    for (const name of ['a', 'b', 'c']) await api.create(v2, shop(name, { count: 1 }, 'v2'));
    const before = conversions.requests.length;
    expect((await api.call('DELETE', v1)).code).to.equal(200);
    expect(conversions.requests[before]?.objects).to.have.length(3);
    expect((await api.get(v2)).body.items).to.deep.equal([]);
  });

  it('convert the events of a watch', async () => {
    const { api } = await new ConversionApi().start();
    await api.create(v2, shop('a', { count: 1 }, 'v2'));
    const watch = await api.watch(`${v1}?watch=true`);
    expect((await watch.next())?.object['spec']).to.deep.equal({ size: '1' });
    await api.create(v2, shop('b', { count: 2 }, 'v2'));
    const event = await watch.next();
    expect([event?.type, event?.object['spec']]).to.deep.equal(['ADDED', { size: '2' }]);
    await watch.stop();
  });

  it('are called once for the existing objects of a watch, and not again when a later watch starts with the same objects', async () => {
    const conversions = await new ConversionApi().start();
    const { api } = conversions;
    for (const name of ['a', 'b', 'c']) await api.create(v2, shop(name, { count: 1 }, 'v2'));
    for (let round = 0; round < 2; round++) {
      const watch = await api.watch(`${v1}?watch=true`);
      expect(await watch.names(3)).to.deep.equal(['ADDED a', 'ADDED b', 'ADDED c']);
      await watch.stop();
    }
    expect(conversions.requests.map(({ objects }) => objects.length)).to.deep.equal([3]);
  });

  for (const start of ['objects', 'changes']) {
    it(`end a watch that starts with ${start} if they fail, and serve the next watch when they work again`, async () => {
      const conversions = await new ConversionApi().start();
      const { api } = conversions;
      const { change: working } = conversions;
      const { metadata } = (await api.get(v2)).body;
      for (const name of ['a', 'b']) await api.create(v2, shop(name, { count: 1 }, 'v2'));
      const version = start === 'objects' ? '' : `&resourceVersion=${metadata.resourceVersion}`;
      conversions.change = (response) => ({ ...response, result: { status: 'Failure' } });
      const failing = await api.watch(`${v1}?watch=true${version}`);
      expect(await failing.names(2)).to.deep.equal(['ERROR', 'end']);
      conversions.change = working;
      const next = await api.watch(`${v1}?watch=true${version}`);
      expect(await next.names(2)).to.deep.equal(['ADDED a', 'ADDED b']);
      await next.stop();
    });
  }

  it('convert the other events of a watch if a fault drops one event', async () => {
    const { api } = await new ConversionApi().start();
    const { metadata } = (await api.get(v2)).body;
    for (const name of ['a', 'b', 'c']) await api.create(v2, shop(name, { count: 1 }, 'v2'));
    const since = `${v1}?watch=true&resourceVersion=${metadata.resourceVersion}`;
    api.server.faults.add({
      match: { resource: 'shops', name: 'b' },
      effect: { type: 'dropEvent' },
      times: 1,
    });
    const watch = await api.watch(since);
    expect(await watch.names(2)).to.deep.equal(['ADDED a', 'ADDED c']);
    await watch.stop();
  });

  it('convert the events of a table watch, whose first event has the column definitions', async () => {
    const { api } = await new ConversionApi().start();
    const { metadata } = (await api.get(v2)).body;
    for (const name of ['a', 'b']) await api.create(v2, shop(name, { count: 1 }, 'v2'));
    const path = `${v1}?watch=true&resourceVersion=${metadata.resourceVersion}`;
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    const watch = new Watch(await api.raw({ path, headers }));
    const columns = async () => (await watch.next())?.object['columnDefinitions'];
    expect([await columns(), await columns()].map(Array.isArray)).to.deep.equal([true, false]);
    await watch.stop();
  });

  it('convert the last matching state of an object that leaves the selection of a watch', async () => {
    const { api } = await new ConversionApi().start();
    const labelled = { metadata: { name: 'a', labels: { app: 'x' } } };
    await api.create(v2, { ...shop('a', { count: 1 }, 'v2'), ...labelled });
    const watch = await api.watch(`${v1}?watch=true&labelSelector=app=x`);
    expect(await watch.names(1)).to.deep.equal(['ADDED a']);
    const change = { metadata: { labels: null }, spec: { count: 2 } };
    await api.call('PATCH', `${v2}/a`, change, merge);
    const event = await watch.next();
    expect([event?.type, event?.object['spec']]).to.deep.equal(['DELETED', { size: '1' }]);
    await watch.stop();
  });

  it('are not called when a definition is deleted whose objects are stored in a version that is not served', async () => {
    const conversions = await new ConversionApi().start();
    const { api } = conversions;
    await api.create(v2, shop('a', { count: 1 }, 'v2'));
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/shops.acme.com';
    const storage = [
      { op: 'replace', path: '/spec/versions/0/storage', value: true },
      { op: 'replace', path: '/spec/versions/1/storage', value: false },
      { op: 'replace', path: '/spec/versions/1/served', value: false },
    ];
    expect((await api.call('PATCH', path, storage, jsonPatch)).code).to.equal(200);
    await api.call('DELETE', path);
    expect((await api.get(path)).code).to.equal(404);
    expect(conversions.requests).to.deep.equal([]);
  });

  it('convert objects before a field selector of the requested version is applied', async () => {
    const conversions = await new ConversionApi().start();
    const { api } = conversions;
    const [oldest, ...others] = (definition() as Definition).spec.versions;
    const versions = [{ ...oldest, selectableFields: [{ jsonPath: '.spec.size' }] }, ...others];
    await api.call('PATCH', `${crds}/shops.acme.com`, { spec: { versions } }, merge);
    for (const count of [1, 2, 3]) await api.create(v2, shop(`s${count}`, { count }, 'v2'));
    const before = conversions.requests.length;
    const firstPage = await api.get(`${v1}?fieldSelector=spec.size!=5&limit=1`);
    const { continue: token } = firstPage.body.metadata as { continue?: string };
    await api.get(`${v1}?fieldSelector=spec.size!=5&limit=1&continue=${token ?? ''}`);
    const selected = `${v1}?fieldSelector=spec.size=2`;
    const { body } = await api.get(selected);
    expect(body.items.map(({ metadata }) => metadata.name)).to.deep.equal(['s2']);
    expect(conversions.requests.slice(before).map(({ objects }) => objects.length)).to.deep.equal([
      3,
    ]);
    const watch = await api.watch(`${selected}&watch=true`);
    expect(await watch.names(1)).to.deep.equal(['ADDED s2']);
    for (const [name, count] of [
      ['s3', 2],
      ['s2', 5],
    ] as const)
      await api.call('PATCH', `${v2}/${name}`, { spec: { count } }, merge);
    expect(await watch.names(2)).to.deep.equal(['ADDED s3', 'DELETED s2']);
    await watch.stop();
    expect((await api.call('DELETE', selected)).body.items).to.have.length(1);
    expect((await api.get(v2)).body.items.map(({ metadata }) => metadata.name)).to.deep.equal([
      's1',
      's2',
    ]);
  });

  it('may change labels and annotations, and no other metadata', async () => {
    const conversions = await new ConversionApi().start();
    await conversions.api.create(v2, shop('a', { count: 1 }, 'v2'));
    conversions.change = (response) => {
      const [first] = response['convertedObjects'] as Shop[];
      const metadata = { ...first!.metadata, labels: { by: 'webhook' }, generation: 99 };
      return { ...response, convertedObjects: [{ ...first, metadata }] };
    };
    const { metadata } = (await conversions.api.get(`${v1}/a`)).body;
    expect(metadata).to.deep.include({ labels: { by: 'webhook' }, generation: 1 });
  });
});
