import { expect } from 'chai';
import { Api, apply, merge } from '../api.js';
import type { Answer } from '../api.js';
import type { Schema } from '../../../lib/object/schema.js';
import { crds, installed } from './widgets.js';

const path = (name: string, served = 'v1'): string =>
  `/apis/example.com/${served}/namespaces/default/widgets/${name}`;

function versionOf(name: string, storage: boolean, properties: Record<string, Schema>): object {
  const spec: Schema = { type: 'object', properties };
  // Like generated CRDs, the schema declares `metadata` without its fields.
  const metadata: Schema = { type: 'object' };
  const schema = { openAPIV3Schema: { type: 'object', properties: { metadata, spec } } };
  return { name, served: true, storage, schema };
}

const integer: Schema = { type: 'integer' };
const text: Schema = { type: 'string' };
const defaulted: Schema = {
  type: 'object',
  default: {},
  properties: { z: { type: 'integer', default: 3 } },
};
const oldV1 = { x: integer, s: text };
const newV1 = { y: { ...integer, default: 2 }, s: text, o: defaulted };
const v2 = { y: { ...integer, default: 7 }, w: { ...text, default: 'q' }, x: integer };

/** Returns a server with the object `a`, stored with the old v1 schema. */
async function withOldObject(): Promise<Api> {
  const api = new Api();
  await installed(api, { versions: [versionOf('v1', true, oldV1)] });
  const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } };
  await api.create('/apis/example.com/v1/namespaces/default/widgets', {
    ...object,
    spec: { x: 1, s: 'old' },
  });
  return api;
}

function upgrade(api: Api, ...versions: object[]): Promise<Answer> {
  return api.call('PATCH', `${crds}/widgets.example.com`, { spec: { versions } }, merge);
}

const specOf = async (api: Api, at: string): Promise<unknown> => (await api.get(at)).body['spec'];

describe('custom resources that were stored before a change of their schema', () => {
  it('are read without removed fields and with new defaults', async () => {
    const api = await withOldObject();
    await upgrade(api, versionOf('v1', true, newV1));
    const wanted = { s: 'old', y: 2, o: { z: 3 } };
    expect(await specOf(api, path('a'))).to.deep.equal(wanted);
    const { body } = await api.get('/apis/example.com/v1/namespaces/default/widgets');
    expect(body.items.map(({ spec }) => spec)).to.deep.equal([wanted]);
  });

  it('keep their metadata when they are read', async () => {
    const api = await withOldObject();
    const { body: before } = await api.get(path('a'));
    await upgrade(api, versionOf('v1', true, newV1));
    const { body } = await api.get(path('a'));
    expect(body.metadata.name).to.equal('a');
    expect(body.metadata).to.deep.equal(before.metadata);
  });

  it('are read in another version with the defaults of their stored version', async () => {
    const api = await withOldObject();
    await upgrade(api, versionOf('v1', false, newV1), versionOf('v2', true, v2));
    expect(await specOf(api, path('a', 'v2'))).to.deep.equal({ y: 2 });
    expect(await specOf(api, path('a'))).to.deep.equal({ s: 'old', y: 2, o: { z: 3 } });
  });

  it('are stored in the storage version by a write that does not change the spec', async () => {
    const api = await withOldObject();
    await upgrade(api, versionOf('v1', false, newV1), versionOf('v2', true, v2));
    const labels = { metadata: { labels: { a: 'b' } } };
    const { body } = await api.call('PATCH', path('a'), labels, merge);
    expect([body['spec'], body.metadata.generation]).to.deep.equal([{ y: 2 }, 1]);
    expect(await specOf(api, path('a', 'v2'))).to.deep.equal({ y: 2, w: 'q' });
  });

  it('are stored again by the first patch without changes, but not by the second', async () => {
    const api = await withOldObject();
    await upgrade(api, versionOf('v1', true, newV1));
    const versionAfterPatch = async (): Promise<unknown> =>
      (await api.call('PATCH', path('a'), {}, merge)).body.metadata.resourceVersion;
    const { body: before } = await api.get(path('a'));
    const stored = await versionAfterPatch();
    expect(stored).not.to.equal(before.metadata.resourceVersion);
    expect(await versionAfterPatch()).to.equal(stored);
  });

  it('are read without fields that the requested version lacks', async () => {
    const api = await withOldObject();
    await upgrade(api, versionOf('v1', false, newV1), versionOf('v2', true, v2));
    const all = '/apis/example.com/v2/namespaces/default/widgets';
    const object = { apiVersion: 'example.com/v2', kind: 'Widget', metadata: { name: 'b' } };
    const created = await api.create(all, { ...object, spec: {} });
    expect(created['spec']).to.deep.equal({ y: 7, w: 'q' });
    expect(await specOf(api, path('b'))).to.deep.equal({ y: 7 });
  });

  it('are read with the defaults of the new schema after a restore, in the same server and in another one', async () => {
    const api = await withOldObject();
    await upgrade(api, versionOf('v1', true, newV1));
    const snapshot = api.server.snapshot();
    await api.call('PATCH', path('a'), { spec: { s: 'new' } }, merge);
    const other = new Api();
    for (const restored of [api, other]) {
      restored.server.restore(snapshot);
      expect(await specOf(restored, path('a'))).to.deep.equal({ s: 'old', y: 2, o: { z: 3 } });
    }
  });

  it('have the same form in a watch as in a read', async () => {
    const api = await withOldObject();
    await upgrade(api, versionOf('v1', true, newV1));
    const watch = await api.watch('/apis/example.com/v1/namespaces/default/widgets?watch=1');
    const event = await watch.next();
    expect(event?.object['spec']).to.deep.equal({ s: 'old', y: 2, o: { z: 3 } });
    await watch.stop();
  });

  it('are stored again by each apply of empty labels and finalizers, and by the next update, as on a real server', async () => {
    const api = await withOldObject();
    const applied = {
      ...{ apiVersion: 'example.com/v1', kind: 'Widget' },
      metadata: { finalizers: [], labels: {} },
    };
    const send = async (body: object, type: string): Promise<string | undefined> => {
      const answer = await api.call('PATCH', `${path('a')}?fieldManager=m`, body, type);
      expect(answer.code, answer.text).to.equal(200);
      return answer.body.metadata.resourceVersion;
    };
    await api.call('PATCH', path('a'), { metadata: { annotations: { a: 'b' } } }, merge);
    await send({ ...applied, metadata: { annotations: {} } }, apply);
    const versions = [
      ...[await send(applied, apply), await send(applied, apply)],
      ...[await send({}, merge), await send({}, merge)],
    ];
    expect(versions.map((version) => versions.indexOf(version))).to.deep.equal([0, 1, 2, 2]);
  });
});
