import { expect } from 'chai';
import fc from 'fast-check';
import { expectTypeOf } from 'expect-type';
import {
  InvalidDefinitionError,
  defineResource,
  s,
  versionOfResource,
} from '../../lib/crd/index.js';
import type { ObjectOf, ResourceDefinition, VersionDefinition } from '../../lib/crd/index.js';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { isApiError } from '../../lib/object/api-error.js';
import type { ResourceType } from '../../lib/object/resource-type.js';
import { tries } from '../sample.js';

const CronTab = defineResource({
  group: 'example.com',
  kind: 'CronTab',
  shortNames: ['ct'],
  categories: ['all'],
  versions: [
    {
      name: 'v1',
      storage: true,
      schema: s.object({
        spec: s.object(
          {
            schedule: s.string({ maxLength: 50 }),
            mode: s.optional(s.string({ enum: ['Allow', 'Forbid'] })),
            replicas: s.defaulted(s.integer({ minimum: 0 }), 1),
            note: s.optional(s.nullable(s.string())),
            template: s.optional(s.builtIn('PodTemplateSpec')),
          },
          { rules: [{ rule: 'self.replicas < 5', message: 'at most four' }] },
        ),
      }),
      status: s.object({ replicas: s.optional(s.integer()), conditions: s.conditions() }),
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
      selectableFields: ['.spec.schedule'],
      printerColumns: [{ name: 'Schedule', type: 'string', jsonPath: '.spec.schedule' }],
    },
    { name: 'v1alpha1', schema: s.object({ spec: s.object({ cron: s.string() }) }) },
  ],
  conversion: {
    hub: 'v1',
    spokes: {
      v1alpha1: {
        toHub: (old) => ({ ...old, spec: { schedule: old.spec.cron, replicas: 1 } }),
        fromHub: (hub) => ({ ...hub, spec: { cron: hub.spec.schedule } }),
      },
    },
  },
});
type CronTab = ObjectOf<typeof CronTab>;

const metadata = { name: 'one', namespace: 'default' };

describe('defineResource', () => {
  it('infers the type of the objects', () => {
    expectTypeOf<CronTab['spec']['replicas']>().toEqualTypeOf<number>();
    expectTypeOf<CronTab['spec']['mode']>().toEqualTypeOf<'Allow' | 'Forbid' | undefined>();
    expectTypeOf<CronTab['spec']['note']>().toEqualTypeOf<string | null | undefined>();
    expectTypeOf<NonNullable<CronTab['status']>['replicas']>().toEqualTypeOf<number | undefined>();
    expectTypeOf(CronTab).toExtend<ResourceType<CronTab>>();
  });

  it('derives the names of the CRD from the kind, and includes given short names and categories', () => {
    const { metadata: named, spec } = CronTab.crd;
    expect(named.name).to.equal('crontabs.example.com');
    expect(spec.names).to.deep.equal({
      ...{ kind: 'CronTab', listKind: 'CronTabList', plural: 'crontabs', singular: 'crontab' },
      ...{ shortNames: ['ct'], categories: ['all'] },
    });
  });

  it('marks a deprecated version, and warns of it with the given text', () => {
    const schema = s.object({});
    const { crd } = defineResource({
      ...{ group: 'example.com', kind: 'Old', conversion: 'prune' },
      versions: [
        { name: 'v1', schema, storage: true },
        { name: 'v1beta1', schema, deprecated: 'use v1' },
        { name: 'v1alpha1', schema, deprecated: true },
      ],
    });
    const marks = crd.spec.versions.map(({ deprecated, deprecationWarning }) => ({
      ...{ deprecated, deprecationWarning },
    }));
    expect(marks).to.deep.equal([
      { deprecated: undefined, deprecationWarning: undefined },
      { deprecated: true, deprecationWarning: 'use v1' },
      { deprecated: true, deprecationWarning: undefined },
    ]);
  });

  it('builds objects with defaults, and does not change the object that it gets', () => {
    const input = { metadata, spec: { schedule: '* * * * *' } };
    expect(CronTab.object(input).spec).to.deep.equal({ schedule: '* * * * *', replicas: 1 });
    expect(input.spec).to.deep.equal({ schedule: '* * * * *' });
  });

  it('treats a field with the value undefined as absent', () => {
    const left = { replicas: undefined, mode: undefined };
    const one = CronTab.object({ metadata, spec: { schedule: '* * * * *', ...left } });
    expect(one.spec).to.deep.equal({ schedule: '* * * * *', replicas: 1 });
    expect(CronTab.validate(one)).to.deep.equal([]);
  });

  it('prunes unknown fields, and returns them', () => {
    const object = CronTab.object({ metadata, spec: { schedule: 'x' } });
    const { value, unknownFields } = CronTab.prune({ ...object, spec: { ...object.spec, odd: 1 } });
    expect(value).to.deep.equal(object);
    expect(unknownFields).to.deep.equal(['spec.odd']);
  });

  it('gives the kind an assertValid that throws the errors that validate returns', () => {
    const object = CronTab.object({ metadata, spec: { schedule: 'x', replicas: 7 } });
    const assert = () => CronTab.assertValid(object);
    expect(assert).to.throw('CronTab default/one is invalid: spec: Invalid value: at most four');
  });

  it('copies the schemas of built-in types into the CRD with metadata and defaults of list keys, but without descriptions', () => {
    const text = JSON.stringify(CronTab.crd);
    const { spec } = CronTab.schema().properties ?? {};
    expect(JSON.stringify(spec)).not.to.contain('description');
    expect(text).to.match(/"protocol":\{[^}]*"default":"TCP"/);
    expect(text).to.contain('"annotations":{"type":"object","additionalProperties"');
  });

  it('keeps formats, enums, required fields and merge strategies of built-in types', () => {
    const Thing = defineResource({
      ...{ group: 'example.com', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          schema: s.object({
            port: s.builtIn('ServicePort'),
            key: s.builtIn('SecretKeySelector'),
            resources: s.builtIn('ResourceRequirements'),
          }),
        },
      ],
    });
    const { port, key, resources } = Thing.schema().properties ?? {};
    expect(port?.required).to.deep.equal(['port']);
    expect(port?.properties).to.deep.include({
      port: { type: 'integer', format: 'int32' },
      protocol: { type: 'string', enum: ['SCTP', 'TCP', 'UDP'], default: 'TCP' },
    });
    expect(key).to.include({ type: 'object', 'x-kubernetes-map-type': 'atomic' });
    expect(resources?.properties?.['claims']).to.deep.include({
      ...{ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
    });
  });

  it('defines a kind that the API server serves with its types and subresources', async () => {
    const cluster = await EmbeddedCluster.start({ crds: [CronTab] });
    const client = cluster.client();
    const made = await client.create(CronTab.object({ metadata, spec: { schedule: 'x' } }));
    const found = await client.get(CronTab, metadata);
    expect(found.spec.replicas).to.equal(made.spec.replicas);
    const { items } = await client.list(CronTab, { fieldSelector: 'spec.schedule=x' });
    expect(items).to.have.length(1);
    await cluster.stop();
  });

  it('converts from an older version to the hub version and back', () => {
    const old = {
      apiVersion: 'example.com/v1alpha1',
      kind: 'CronTab',
      metadata,
      spec: { cron: 'x' },
    };
    const hub = CronTab.convert(old, 'example.com/v1');
    expect(hub).to.deep.equal({
      ...{ apiVersion: 'example.com/v1', kind: 'CronTab', metadata },
      spec: { schedule: 'x', replicas: 1 },
    });
    expect(CronTab.convert(hub, 'example.com/v1alpha1')).to.deep.equal(old);
    expect(() => CronTab.convert(old, 'example.com/v2')).to.throw('is not a version of CronTab');
  });

  it('converts an object that is nested too deeply for recursive functions', () => {
    const cron: unknown = JSON.parse(`${'['.repeat(9_000)}${']'.repeat(9_000)}`);
    const old = { apiVersion: 'example.com/v1alpha1', kind: 'CronTab', metadata, spec: { cron } };
    const { spec } = CronTab.convert(old, 'example.com/v1') as { spec?: { schedule?: unknown } };
    expect(spec?.schedule).to.be.an('array');
    expect(CronTab.convert(old, old.apiVersion)).to.have.property('kind', 'CronTab');
  });

  it('refuses objects of versions and kinds that it does not define', () => {
    expect(() => versionOfResource(CronTab as never, 'v9'))
      .to.throw(/^CronTab has no version v9: it has v1/)
      .with.property('code', 'InvalidOption');
    const object = { apiVersion: 'example.com/v1', kind: 'CronTab', metadata };
    const convert = (given: object, apiVersion: string) => () =>
      CronTab.convert({ ...object, ...given }, apiVersion);
    expect(convert({}, 'example.com/v9')).to.throw('example.com/v9 is not a version of CronTab');
    expect(convert({}, 'other.com/v1')).to.throw('other.com/v1 is not a version of CronTab');
    expect(convert({ kind: 'Job' }, object.apiVersion)).to.throw('is not a CronTab');
    for (const other of [{ kind: 'Job' }, { apiVersion: 'other.com/v1' }]) {
      expect(() => CronTab.validate({ ...object, ...other })).to.throw(
        'is not a CronTab of example.com',
      );
    }
  });

  it('refuses a conversion that changes the metadata', () => {
    const Odd = defineResource({
      ...{ group: 'example.com', kind: 'Odd' },
      versions: [
        { name: 'v1', storage: true, schema: s.object({}) },
        { name: 'v2', schema: s.object({}) },
      ],
      conversion: {
        hub: 'v1',
        spokes: {
          v2: {
            toHub: (object) => ({ ...object, metadata: { name: 'other' } }),
            fromHub: () => {
              throw new Error('broken');
            },
          },
        },
      },
    });
    const object = { apiVersion: 'example.com/v2', kind: 'Odd', metadata };
    expect(() => Odd.convert(object, 'example.com/v1')).to.throw('changed the metadata (');
    const back = () => Odd.convert({ ...object, apiVersion: 'example.com/v1' }, 'example.com/v2');
    expect(back).to.throw('failed: broken').with.property('code', 'InvalidObject');
  });

  for (const [what, toHub] of [
    ['is async', async (object: object) => object],
    ['returns nothing', () => undefined],
    ['returns a list', () => []],
  ] as const) {
    it(`throws an error that names a converter that ${what}`, () => {
      const schema = s.object({});
      const Odd = defineResource({
        ...{ group: 'example.com', kind: 'Odd' },
        versions: [
          { name: 'v1', storage: true, schema },
          { name: 'v2', schema },
        ],
        conversion: { hub: 'v1', spokes: { v2: { toHub: toHub as never, fromHub: (hub) => hub } } },
      });
      const object = { apiVersion: 'example.com/v2', kind: 'Odd', metadata };
      expect(() => Odd.convert(object, 'example.com/v1'))
        .to.throw('its conversion of v2 returned no object')
        .with.property('code', 'InvalidObject');
    });
  }

  const schema = s.object({ spec: s.object({ text: s.string() }) });
  const v1: VersionDefinition = { name: 'v1', schema };
  const same = { toHub: (object: object) => object, fromHub: (object: object) => object };
  type Bad = Partial<ResourceDefinition<readonly VersionDefinition[], string>>;
  const bad: readonly [string, Bad, string][] = [
    ['an empty list of versions', { versions: [] }, 'versions: give at least one'],
    ['a group without a dot', { group: 'example' }, 'group: has no dot'],
    ['a lower-case kind', { kind: 'thing' }, 'kind: must begin with a capital'],
    ['a list kind that is the kind', { listKind: 'Thing' }, 'listKind: must not be the kind'],
    ['an upper-case group', { group: 'Example.com' }, 'group: '],
    ['a version name with a dot', { versions: [{ ...v1, name: 'v1.1' }] }, 'versions[0].name: '],
    [
      'a schema that is not an object',
      { versions: [{ name: 'v1', schema: s.string() as never }] },
      'versions[0].schema: must be an object: use s.object({ spec })',
    ],
    [
      'versions of which none is served',
      { versions: [{ ...v1, served: false }] },
      'versions: no version is served: leave out served: false',
    ],
    [
      'a conversion with an unknown hub and needless spokes',
      {
        versions: [{ ...v1, storage: true }],
        conversion: { hub: 'v3', spokes: { v1: same, v2: same, v3: same } },
      },
      'conversion.hub: v3 is not a version: use one of v1; conversion.spokes.v2: is not a version: remove it; conversion.spokes.v3: is the hub: remove it',
    ],
    [
      'two storage versions',
      {
        versions: [
          { ...v1, storage: true },
          { ...v1, name: 'v2', storage: true },
        ],
      },
      'versions: exactly one version must have storage: true, v1 and v2 have',
    ],
    ['versions without a storage version', { versions: [v1, { ...v1, name: 'v2' }] }, 'none has'],
    ['a duplicate version', { versions: [{ ...v1, storage: true }, v1] }, 'versions[1].name: v1'],
    ['a missing schema', { versions: [{ name: 'v1' } as never] }, 'versions[0].schema: is missing'],
    [
      'a status in the schema',
      { versions: [{ name: 'v1', schema: s.object({ status: s.object({}) }) }] },
      'define it as status',
    ],
    [
      'an unknown scale path',
      { scale: { specReplicasPath: '.spec.nope', statusReplicasPath: '.status.replicas' } },
      'versions[0].scale.specReplicasPath: .spec.nope is not a field of the schema',
    ],
    [
      'scale paths outside spec and status',
      {
        scale: {
          ...{ specReplicasPath: '.status.replicas', statusReplicasPath: '.spec.text' },
          labelSelectorPath: '.metadata.name',
        },
      },
      [
        'versions[0].scale.specReplicasPath: .status.replicas must begin with .spec.',
        'versions[0].scale.statusReplicasPath: .spec.text must begin with .status.',
        'versions[0].scale.labelSelectorPath: .metadata.name must begin with .spec. or .status.',
      ].join('; '),
    ],
    [
      'scale paths to fields of other types',
      {
        versions: [{ ...v1, status: s.object({ replicas: s.number() }) }],
        scale: {
          ...{ specReplicasPath: '.spec.text', statusReplicasPath: '.status.replicas' },
          labelSelectorPath: '.status.replicas',
        },
      },
      [
        'versions[0].scale.specReplicasPath: .spec.text must be of type integer',
        'versions[0].scale.statusReplicasPath: .status.replicas must be of type integer',
        'versions[0].scale.labelSelectorPath: .status.replicas must be of type string',
      ].join('; '),
    ],
    [
      'an unknown selectable field',
      { selectableFields: ['.spec.nope'] },
      'versions[0].selectableFields[0]: .spec.nope is not a field',
    ],
    [
      'a spoke without functions',
      {
        versions: [
          { ...v1, storage: true },
          { ...v1, name: 'v2' },
        ],
        conversion: { hub: 'v1', spokes: {} },
      },
      'conversion.spokes.v2: is missing',
    ],
    [
      'served versions with different fields and no conversion',
      {
        versions: [
          { ...v1, storage: true },
          { name: 'v2', schema: s.object({ spec: s.object({ label: s.string() }) }) },
        ],
      },
      'conversion: is missing, and .spec.text differs between the served versions v1 and v2',
    ],
    [
      'served versions with and without a status and no conversion',
      {
        versions: [
          { ...v1, storage: true, status: s.object({}) },
          { ...v1, name: 'v2' },
        ],
      },
      'conversion: is missing, and .status differs between the served versions v1 and v2',
    ],
    [
      'pruning of required fields',
      {
        versions: [
          { ...v1, storage: true },
          {
            name: 'v2',
            schema: s.object({ spec: s.object({ text: s.string(), label: s.string() }) }),
          },
        ],
        conversion: 'prune',
      },
      "conversion: is 'prune', and .spec.label differs between the served versions v1 and v2",
    ],
    [
      'pruning between different types of a field',
      {
        versions: [
          { ...v1, storage: true },
          { name: 'v2', schema: s.object({ spec: s.object({ text: s.integer() }) }) },
        ],
        conversion: 'prune',
      },
      "conversion: is 'prune', and .spec.text differs",
    ],
  ];
  for (const [title, change, message] of bad) {
    it(`refuses ${title}`, () => {
      const define = () =>
        defineResource({ group: 'example.com', kind: 'Thing', versions: [v1], ...change });
      expect(define).to.throw(InvalidDefinitionError, message);
      expect(define).to.throw().with.property('code', 'InvalidDefinition');
    });
  }

  for (const [title, one, other] of [
    ['type', s.string(), s.integer()],
    ['type, one of them unknown', s.intOrString(), s.unknown()],
    ['type, one of them without declared fields', s.object({}), s.unknownObject()],
    ['type, one of them a whole object', s.embeddedResource(), s.unknownObject()],
    ['type, one of them with null', s.string(), s.nullable(s.string())],
    ['built-in type', s.builtIn('EnvVar'), s.builtIn('ServicePort')],
  ] as const) {
    it(`refuses served versions with fields of different ${title}`, () => {
      const define = () =>
        defineResource({
          ...{ group: 'example.com', kind: 'Thing' },
          versions: [
            { name: 'v1', storage: true, schema: s.object({ spec: s.object({ a: one }) }) },
            { name: 'v2', schema: s.object({ spec: s.object({ a: other }) }) },
          ],
        });
      expect(define).to.throw(InvalidDefinitionError, '.spec.a differs between');
    });
  }

  it('accepts paths of the scale subresource to fields of an object without a schema or of a built-in type', () => {
    const define = () =>
      defineResource({
        ...{ group: 'example.com', kind: 'Thing' },
        versions: [
          {
            name: 'v1',
            schema: s.object({ spec: s.unknownObject() }),
            status: s.object({ pods: s.builtIn('PodTemplateSpec'), selector: s.string() }),
          },
        ],
        scale: {
          ...{ specReplicasPath: '.spec.any.count', statusReplicasPath: '.status.pods.count' },
          labelSelectorPath: '.status.selector',
        },
      });
    expect(define).not.to.throw();
  });

  it('accepts optional fields that only some versions have with the conversion "prune"', () => {
    const more = s.object({
      spec: s.object({
        text: s.string(),
        label: s.optional(s.string()),
        size: s.defaulted(s.integer(), 1),
      }),
    });
    const Thing = defineResource({
      group: 'example.com',
      kind: 'Thing',
      versions: [
        { ...v1, storage: true },
        { name: 'v2', schema: more, status: s.object({}) },
      ],
      conversion: 'prune',
    });
    expect(Thing.crd.spec).not.to.have.property('conversion');
    const metadata = { name: 'a' };
    const object = { apiVersion: 'example.com/v2', kind: 'Thing', metadata, spec: { text: 'a' } };
    expect(Thing.convert(object, 'example.com/v1')).to.deep.equal({
      ...object,
      apiVersion: 'example.com/v1',
    });
  });

  it('requires no conversion if versions differ only in validation or are not served', () => {
    const stricter = s.object({ spec: s.object({ text: s.string({ minLength: 1 }) }) });
    const other = s.object({ spec: s.object({ label: s.string() }) });
    const { versions } = defineResource({
      ...{ group: 'example.com', kind: 'Thing' },
      versions: [
        { name: 'v1', storage: true, schema },
        { name: 'v2', schema: stricter },
        { name: 'v3', schema: other, served: false },
      ],
    });
    expect(versions).to.deep.equal(['v1', 'v2', 'v3']);
  });

  it('refuses an invalid rule when the CRD is first used', () => {
    const Wrong = defineResource({
      ...{ group: 'example.com', kind: 'Wrong' },
      versions: [
        { name: 'v1', schema: s.object({ spec: s.object({}, { rules: ['self.nope'] }) }) },
      ],
    });
    const field = 'versions[0].schema.properties[spec].x-kubernetes-validations[0].rule';
    expect(() => Wrong.crd).to.throw(InvalidDefinitionError, field);
    expect(() => Wrong.crd).to.throw("undefined field 'nope'");
  });

  it('gives the kind a validate that accepts exactly the objects that the API server accepts', async () => {
    const cluster = await EmbeddedCluster.start({ crds: [CronTab] });
    const client = cluster.client();
    const value = fc.oneof(
      fc.integer({ min: -1, max: 9 }),
      fc.constantFrom('x', null, true),
      fc.array(fc.string()),
    );
    const spec = fc.record(
      {
        schedule: value,
        mode: fc.constantFrom('Allow', 'Deny', 1),
        replicas: value,
        note: value,
        odd: value,
      },
      { requiredKeys: [] },
    );
    const property = fc.asyncProperty(spec, async (given) => {
      const object = { apiVersion: 'example.com/v1', kind: 'CronTab', metadata, spec: given };
      const causes = CronTab.validate(object);
      const answer = await client.create(object, { dryRun: true }).then(
        () => [],
        (error: unknown) => (isApiError(error) ? error.causes : [error]),
      );
      // A server sorts the members of an object before it checks them.
      expect(answer).to.have.deep.members(causes);
    });
    await fc.assert(property, { numRuns: tries(200) });
    await cluster.stop();
  });
});
