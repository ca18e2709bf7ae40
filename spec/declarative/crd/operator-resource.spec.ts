import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { parse } from 'yaml';
import { OperatorResource } from '../../../lib/declarative/crd/operator-resource.js';
import type { Client } from '../../../lib/client/index.js';
import { testCluster } from '../../../lib/testing/index.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';

const file = new URL('../../../samples/declarative/operator-crd.yaml', import.meta.url);

const base = {
  name: 'prices',
  sources: [{ apiGroup: '', kind: 'ConfigMap' }],
  pipeline: [{ '@project': { metadata: { name: '$.metadata.name' }, $: '$.data' } }],
  target: { kind: 'Price' },
};

describe('OperatorResource, the kind of Operator objects', () => {
  const cluster = testCluster({ crds: [OperatorResource.crd], shared: true });
  const create = (spec: object, name = 'shop'): Promise<UnstructuredObject> =>
    created(cluster().client(), spec, name);

  it('has the CRD that is in the file for kubectl', async () => {
    expect(parse(await readFile(file, 'utf8'))).to.deep.equal(OperatorResource.crd);
  });

  it('stores pipeline, predicate and parameters as written', async () => {
    const source = {
      ...{ apiGroup: '', kind: 'Pod', predicate: { and: ['LabelChanged', { not: 'x' }] } },
      parameters: { period: '5m', more: [1] },
    };
    const spec = { controllers: [{ ...base, sources: [source] }] };
    expect(await create(spec, 'free')).to.have.deep.property('spec', spec);
  });

  for (const [what, pipeline] of [
    ['a single stage', { '@select': true }],
    [
      'the form of earlier versions of dcontroller',
      { '@join': true, '@aggregate': [{ '@select': true }] },
    ],
    ['an empty list', []],
  ] as const) {
    it(`accepts ${what} as a pipeline`, async () => {
      const spec = { controllers: [{ ...base, pipeline }] };
      const name = what.replaceAll(' ', '-');
      expect(await create(spec, name)).to.have.deep.property('spec', spec);
    });
  }

  it('accepts a controller without a pipeline, and a label selector', async () => {
    const labelSelector = { matchLabels: { app: 'web' } };
    const { name, target } = base;
    const sources = [{ kind: 'Price', labelSelector }];
    const spec = { controllers: [{ name, sources, target }] };
    expect(await create(spec, 'through')).to.have.deep.property('spec', spec);
  });

  for (const [what, spec, field] of [
    ['an empty list of controllers', { controllers: [] }, 'spec.controllers'],
    ['a controller without a name', one({ name: '' }), 'spec.controllers[0].name'],
    ['a controller without sources', one({ sources: [] }), 'spec.controllers[0].sources'],
    ['a source without a kind', one({ sources: [{}] }), 'spec.controllers[0].sources[0].kind'],
    [
      'an unknown source type',
      one({ sources: [{ kind: 'Pod', type: 'Follower' }] }),
      'spec.controllers[0].sources[0].type',
    ],
    [
      'an unknown target type',
      one({ target: { kind: 'Pod', type: 'Writer' } }),
      'spec.controllers[0].target.type',
    ],
    ['256 controllers', { controllers: Array(256).fill(base) as unknown[] }, 'spec.controllers'],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const refused = await create(spec).catch((error: unknown) => error);
      expect(refused).to.have.property('code', 'ApiError');
      expect(refused).to.have.property('message').that.includes(field);
    });
  }

  it('stores the status fields of dcontroller, and observedGeneration', async () => {
    const client = cluster().client();
    const made = await create({ controllers: [base] }, 'told');
    const at = { observedGeneration: 1, lastTransitionTime: '2026-01-01T00:00:00Z' };
    const ready = { ...at, type: 'Ready', status: 'Unknown', reason: 'ReconciliationFailed' };
    const conditions = [{ ...ready, message: 'prices: no' }];
    const status = {
      observedGeneration: 1,
      conditions,
      controllers: [{ name: 'prices', conditions, lastErrors: ['no'] }],
    };
    const written = await client.update({ ...made, status }, { subresource: 'status' });
    expect(written).to.have.deep.property('status', status);
  });
});

function one(fields: object): object {
  return { controllers: [{ ...base, ...fields }] };
}

function created(client: Client, spec: object, name: string): Promise<UnstructuredObject> {
  const apiVersion = 'dcontroller.io/v1alpha1';
  return client.create<UnstructuredObject>(
    { apiVersion, kind: 'Operator', metadata: { name }, spec },
    { fieldValidation: 'Strict' },
  );
}
