import { expect } from 'chai';
import { lastAppliedAnnotation } from '../../lib/feed/object-news.js';
import { applyResource } from '../../lib/plan/applied-resource.js';
import type { ApplyingOptions } from '../../lib/plan/applied-resource.js';
import type { Client } from '../../lib/client/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import type { UnstructuredObject } from '../../lib/object/kubernetes-object.js';
import { Farm } from '../cli/project/farm/src/operator.js';

const namespace = 'default';
const key = { namespace, name: 'f' };

const farm = (spec: object, metadata: object = {}): UnstructuredObject => ({
  ...{ apiVersion: Farm.apiVersion, kind: 'Farm', metadata: { name: 'f', ...metadata } },
  spec,
});

describe('applyResource, the kubectl apply of a plan', () => {
  let cluster: EmbeddedCluster;
  let client: Client;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start({ crds: [Farm] });
    client = cluster.client();
  });

  afterEach(() => cluster.stop());

  function apply(
    object: UnstructuredObject,
    options: Partial<ApplyingOptions> = {},
  ): Promise<UnstructuredObject> {
    const { signal } = new AbortController();
    return applyResource(object, client, { namespace, signal, ...options });
  }

  const defaults = { image: 'farm:1', config: 'one', workers: true, restless: false };

  it('removes fields that the file no longer has, and keeps those of other field managers', async () => {
    await apply(farm({ migration: 'a', barn: 'red' }, { labels: { a: '1', b: '2' } }));
    const body = { spec: { config: 'theirs' }, metadata: { labels: { c: '3' } } };
    await client.patch(Farm, { namespace, name: 'f' }, { type: 'merge', body });
    const { spec, metadata } = await apply(farm({ barn: 'blue' }, { labels: { b: '2' } }));
    expect(spec).to.deep.equal({ ...defaults, config: 'theirs', barn: 'blue' });
    expect(metadata.labels).to.deep.equal({ b: '2', c: '3' });
  });

  it('writes the last-applied annotation like kubectl', async () => {
    const { metadata } = await apply(farm({ image: 'farm:2', barn: 'red' }));
    expect(metadata.annotations?.[lastAppliedAnnotation]).to.equal(
      '{"apiVersion":"farms.example/v1","kind":"Farm","metadata":{"annotations":{},"name":"f",' +
        '"namespace":"default"},"spec":{"barn":"red","image":"farm:2"}}\n',
    );
  });

  it('writes nothing for an unchanged resource', async () => {
    await apply(farm({ barn: 'red' }));
    const since = cluster.requests.mark();
    const { metadata } = await apply(farm({ barn: 'red' }));
    expect(cluster.requests.since(since).writes).to.equal(0);
    expect(metadata).to.deep.include(key);
  });

  it('keeps the order of lists in the last-applied annotation', async () => {
    const finalizers = ['farms.example/b', 'farms.example/a'];
    const { metadata } = await apply(farm({}, { finalizers }));
    const note = JSON.parse(metadata.annotations?.[lastAppliedAnnotation] ?? '') as object;
    expect(note).to.have.deep.nested.property('metadata.finalizers', finalizers);
  });

  for (const note of ['{', '1']) {
    it(`treats the invalid last-applied annotation ${note} as absent`, async () => {
      const annotations = { [lastAppliedAnnotation]: note };
      await client.create(farm({ migration: 'a' }, { namespace, annotations }));
      const { spec, metadata } = await apply(farm({ barn: 'blue' }));
      expect(spec).to.deep.equal({ ...defaults, migration: 'a', barn: 'blue' });
      expect(metadata.annotations?.[lastAppliedAnnotation]).to.match(/^\{"apiVersion"/);
    });
  }

  it('uses the field manager kubectl for the first server-side apply', async () => {
    const { metadata } = await apply(farm({ barn: 'red' }), { serverSide: true });
    expect(
      metadata.managedFields?.map(({ manager, operation }) => [manager, operation]),
    ).to.deep.equal([['kubectl', 'Apply']]);
  });

  for (const [what, managers, manager] of [
    ['kubectl if it is among several managers', ['gitops', 'kubectl'], 'kubectl'],
    ['no earlier manager if kubectl is not among several', ['gitops', 'other'], undefined],
  ] as const) {
    it(`continues the earlier applies of ${what}`, async () => {
      const [first, second] = managers;
      await client.apply(farm({ barn: 'red' }, { namespace }), { fieldManager: first });
      await client.apply(farm({ migration: 'a' }, { namespace }), { fieldManager: second });
      const { metadata } = await apply(farm({ migration: 'b' }), { forceConflicts: true });
      const note = metadata.annotations?.[lastAppliedAnnotation];
      expect(note === undefined).to.equal(manager !== undefined);
    });
  }

  for (const [how, options, isThere] of [
    ['created', {}, false],
    ['updated', {}, true],
    ['applied with server-side apply', { serverSide: true }, true],
  ] as const) {
    it(`refuses an unknown field if the resource is ${how}`, async () => {
      if (isThere) await apply(farm({ barn: 'red' }), options);
      const thrown = await apply(farm({ barm: 'blue' }), options).catch((error: unknown) => error);
      expect(thrown).to.be.an('error').with.property('message').that.includes('spec.barm');
    });
  }

  it('without a last-applied annotation, keeps fields that are not in the file', async () => {
    await client.create(farm({ migration: 'a' }, { namespace }));
    const { spec } = await apply(farm({ barn: 'blue' }));
    expect(spec).to.deep.equal({ ...defaults, migration: 'a', barn: 'blue' });
  });

  for (const fieldManager of ['kubectl', 'gitops']) {
    it(`uses server-side apply if ${fieldManager} has applied the resource in this way before`, async () => {
      const first = farm({ migration: 'a', barn: 'red' }, { namespace });
      await client.apply(first, { fieldManager });
      const { spec, metadata } = await apply(farm({ barn: 'blue' }));
      expect(spec).to.deep.equal({ ...defaults, barn: 'blue' });
      expect(metadata.annotations).to.equal(undefined);
    });
  }

  it('refuses to overwrite fields that others have applied, unless conflicts are forced', async () => {
    await client.apply(farm({ barn: 'red' }, { namespace }), { fieldManager: 'gitops' });
    const settings = { serverSide: true, fieldManager: 'kubectl' };
    const refused = await apply(farm({ barn: 'blue' }), settings).catch((error: unknown) => error);
    expect(refused).to.include({ status: 409 });
    const { spec } = await apply(farm({ barn: 'blue' }), { ...settings, forceConflicts: true });
    expect(spec).to.include({ barn: 'blue' });
  });
});
