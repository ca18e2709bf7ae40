import { expect } from 'chai';
import { s } from '../../../lib/crd/index.js';
import { createCrd, openApi } from '../../../lib/lifecycle/index.js';

describe('createCrd', () => {
  const status = {
    type: 'object',
    properties: {
      phase: {
        ...{ type: 'string', description: 'Phase of the lifecycle.' },
        enum: ['', 'Deploying', 'Deployed', 'Upgrading', 'Error', 'Deleting', 'Deleted'],
      },
      conditions: {
        ...{ type: 'array', 'x-kubernetes-list-type': 'map' },
        'x-kubernetes-list-map-keys': ['type'],
        items: {
          ...{ type: 'object', description: 'A condition of the system.' },
          required: ['type', 'status'],
          properties: {
            type: {
              ...{ type: 'string', description: 'Type of the condition, for example Available.' },
            },
            status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
            reason: { type: 'string', description: 'Machine-readable reason of the status.' },
            message: { type: 'string', description: 'Human-readable explanation of the status.' },
            lastHeartbeatTime: { type: 'string', format: 'date-time' },
            lastTransitionTime: { type: 'string', format: 'date-time' },
          },
        },
      },
      operatorVersion: {
        type: 'string',
        description: 'Version of the operator that last reconciled this resource.',
      },
      targetVersion: {
        type: 'string',
        description: 'Version that is being deployed or was deployed last.',
      },
      observedVersion: { type: 'string', description: 'Version that is deployed.' },
    },
  };
  const version = {
    ...{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } },
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          status,
        },
      },
    },
    additionalPrinterColumns: [
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    ],
  };
  const whole = {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: 'sampleconfigs.example.com' },
    spec: {
      ...{ group: 'example.com', scope: 'Cluster', versions: [version] },
      names: {
        ...{ kind: 'SampleConfig', listKind: 'SampleConfigList' },
        ...{ plural: 'sampleconfigs', singular: 'sampleconfig' },
      },
    },
  };

  it('defines a cluster-scoped kind with the status of a lifecycle, and prints the phase', () => {
    expect(createCrd({ group: 'example.com', kind: 'SampleConfig' })).to.deep.equal(whole);
  });

  it('describes the status for definitions that are written by hand', () => {
    const described = openApi.lifecycleStatus('Shop');
    expect(JSON.parse(JSON.stringify(described))).to.deep.equal({
      ...status,
      description: 'The state of the Shop.',
    });
  });

  it('accepts version, plural, scope, the schema of the spec and a pattern for names', () => {
    const spec = s.object({ size: s.integer() });
    const options = { version: 'v2', plural: 'samples', scope: 'Namespaced', spec } as const;
    const kind = { group: 'example.com', kind: 'SampleConfig' };
    const { names } = whole.spec;
    const properties = {
      spec: { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] },
      status,
    };
    const crdWith = (more: object): object => ({
      ...whole,
      metadata: { name: 'samples.example.com' },
      spec: {
        ...{ ...whole.spec, scope: 'Namespaced', names: { ...names, plural: 'samples' } },
        versions: [
          {
            ...{ ...version, name: 'v2' },
            schema: {
              openAPIV3Schema: { type: 'object', properties: { ...properties, ...more } },
            },
          },
        ],
      },
    });
    expect(createCrd(kind, options)).to.deep.equal(crdWith({}));
    const metadata = {
      type: 'object',
      properties: { name: { type: 'string', pattern: '^shop$' } },
    };
    expect(createCrd(kind, { ...options, nameRegex: '^shop$' })).to.deep.equal(
      crdWith({ metadata }),
    );
  });

  it('rejects unknown options, and names them', () => {
    const options = { scop: 'Namespaced' } as object;
    const create = () => createCrd({ group: 'example.com', kind: 'X' }, options);
    expect(create)
      .to.throw(/createCrd: .*scop.*scope/)
      .with.property('code', 'InvalidOption');
  });

  it('rejects an invalid regular expression', () => {
    const create = () => createCrd({ group: 'example.com', kind: 'X' }, { nameRegex: '(' });
    expect(create).to.throw('is not a regular expression').with.property('code', 'InvalidOption');
  });
});
