import { expect } from 'chai';
import type { CustomResourceDefinition } from '../../../lib/object/kinds.js';
import { Api, merge } from '../api.js';
import { causeMessages } from '../causes.js';
import { crds, version, widgetCrd } from './widgets.js';

const versionWith = (schema: object): object => ({
  versions: [
    {
      ...version,
      subresources: {},
      selectableFields: [],
      schema: { openAPIV3Schema: { type: 'object', ...schema } },
    },
  ],
});
const root = 'spec.validation.openAPIV3Schema';
const onlyNames =
  'Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified';

// Messages of the real server (v1.36).
const refused: readonly (readonly [string, object, Readonly<Record<string, string>>])[] = [
  [
    'unsupported keywords, also within allOf, anyOf, oneOf and not',
    versionWith({
      allOf: [{ properties: { spec: { $ref: 'x' } } }, { id: 'x' }],
      anyOf: [{ definitions: { a: {} } }],
      oneOf: [{ patternProperties: { a: {} } }],
      not: { $ref: 'x', $schema: 'x' },
    }),
    {
      'spec.validation.openAPIV3Schema.allOf[0].properties[spec].$ref':
        'Forbidden: $ref is not supported',
      'spec.validation.openAPIV3Schema.allOf[1].id': 'Forbidden: id is not supported',
      'spec.validation.openAPIV3Schema.anyOf[0].definitions':
        'Forbidden: definitions is not supported',
      'spec.validation.openAPIV3Schema.oneOf[0].patternProperties':
        'Forbidden: patternProperties is not supported',
      'spec.validation.openAPIV3Schema.not.$ref': 'Forbidden: $ref is not supported',
    },
  ],
  [
    'empty dependencies',
    versionWith({ properties: { spec: { type: 'object', dependencies: {} } }, definitions: {} }),
    { [`${root}.properties[spec].dependencies`]: 'Forbidden: dependencies is not supported' },
  ],
  ...[
    { $schema: 'x' },
    { properties: { spec: { type: 'object', $schema: 'x' } } },
    { oneOf: [{ $schema: 'x' }] },
  ].map((schema): (typeof refused)[number] => [
    `the dialect of a schema in ${Object.keys(schema).join()}`,
    versionWith(schema),
    {
      'spec.validation.openAPIV3Schema':
        'Invalid value: "": OpenAPIV3Schema \'schema\' is not supported',
    },
  ]),
  [
    'labels in the metadata of a schema',
    versionWith({
      properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
    }),
    { [`${root}.properties[metadata]`]: onlyNames },
  ],
  [
    'other types of kind, apiVersion and metadata',
    versionWith({
      properties: {
        kind: { type: 'integer' },
        apiVersion: { type: 'boolean' },
        metadata: { type: 'string' },
      },
    }),
    {
      [`${root}.properties[kind].type`]: 'Invalid value: "integer": must be string',
      [`${root}.properties[apiVersion].type`]: 'Invalid value: "boolean": must be string',
      [`${root}.properties[metadata].type`]: 'Invalid value: "string": must be object',
    },
  ],
  [
    'another type of the kind of an embedded object',
    versionWith({
      properties: {
        a: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          properties: { kind: { type: 'integer' } },
        },
      },
    }),
    { [`${root}.properties[a].properties[kind].type`]: 'Invalid value: "integer": must be string' },
  ],
  [
    'a default of metadata',
    versionWith({ properties: { metadata: { type: 'object', default: {} } } }),
    {
      [`${root}.properties[metadata].default`]: 'Forbidden: must not be set in top-level metadata',
    },
  ],
  [
    'a nullable root',
    versionWith({ nullable: true }),
    { [`${root}.nullable`]: 'Forbidden: nullable cannot be true at the root' },
  ],
  [
    'a default of the whole object without its type',
    versionWith({ default: {} }),
    {
      [`${root}.default.apiVersion`]: 'Required value',
      [`${root}.default.kind`]: 'Required value',
    },
  ],
];

describe('checks of the schemas of custom resource definitions', () => {
  for (const [title, spec, causes] of refused) {
    it(`refuse ${title}`, async () => {
      const answer = await new Api().call('POST', crds, widgetCrd(spec));
      expect(answer.code).to.equal(422);
      expect(causeMessages(answer)).to.deep.equal(causes);
    });
  }

  it('refuse a root schema of another type than object, with a second cause if the version has the status subresource', async () => {
    const schema = { openAPIV3Schema: { type: 'string' } };
    const own = { ...version, schema, subresources: { status: {} }, selectableFields: [] };
    const answer = await new Api().call('POST', crds, widgetCrd({ versions: [own] }));
    const field = `${root}.type`;
    const reason = 'FieldValueInvalid';
    const onlyObject =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    expect(answer.body['details']).to.deep.include({
      causes: [onlyObject, 'must be object at the root'].map((why) => {
        return { field, reason, message: `Invalid value: "string": ${why}` };
      }),
    });
  });

  for (const keyword of [{ oneOf: [{ required: ['spec'] }] }, { minProperties: 1 }]) {
    it(`refuse ${Object.keys(keyword).join()} in the root schema only if the version has the status subresource`, async () => {
      const own = (subresources: object) => {
        const schema = {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
              },
            },
            ...keyword,
          },
        };
        return widgetCrd({
          versions: [{ ...version, schema, subresources, selectableFields: [] }],
        });
      };
      const answer = await new Api().call('POST', crds, own({ status: {} }));
      expect(answer.code).to.equal(422);
      const allowed =
        'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations';
      const why = `only [${allowed}] fields are allowed at the root of the schema if the status subresource is enabled`;
      expect(causeMessages(answer)[root]).to.match(/^Invalid value: \{.*\}: only/);
      expect(causeMessages(answer)[root]?.replace(/\{.*\}/, '')).to.equal(
        `Invalid value: : ${why}`,
      );
      expect(await new Api().call('POST', crds, own({}))).to.include({ code: 201 });
    });
  }

  it('accept a default that repeats an item of a set', async () => {
    const set = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' };
    const spec = versionWith({ properties: { a: { ...set, default: ['x', 'x'] } } });
    expect(await new Api().call('POST', crds, widgetCrd(spec))).to.include({ code: 201 });
  });

  it('apply to updates as well as to creations', async () => {
    const api = new Api();
    await api.create(crds, widgetCrd({}));
    const spec = versionWith({ nullable: true });
    const answer = await api.call('PATCH', `${crds}/widgets.example.com`, { spec }, merge);
    expect(causeMessages(answer)).to.deep.equal({
      [`${root}.nullable`]: 'Forbidden: nullable cannot be true at the root',
    });
  });

  describe('in a group of Kubernetes, such as example.k8s.io,', () => {
    const field = 'metadata.annotations[api-approved.kubernetes.io]';
    const required = 'protected groups must have approval annotation "api-approved.kubernetes.io"';
    const see = 'see https://github.com/kubernetes/enhancements/pull/1111';
    const approved = (text?: string, group = 'example.k8s.io') => ({
      metadata: {
        name: `widgets.${group}`,
        annotations: text === undefined ? {} : { 'api-approved.kubernetes.io': text },
      },
      spec: { ...(widgetCrd({}) as { spec: object }).spec, group },
    });

    it('require the annotation api-approved.kubernetes.io, but not in other groups', async () => {
      const answer = await new Api().call('POST', crds, approved());
      expect(causeMessages(answer)).to.deep.equal({
        [field]: `Required value: ${required}, ${see}`,
      });
      const other = await new Api().call('POST', crds, approved(undefined, 'example.x-k8s.io'));
      expect(other.code).to.equal(201);
    });

    it('refuse an annotation that is neither a URL nor "unapproved"', async () => {
      const answer = await new Api().call('POST', crds, approved('x'));
      expect(causeMessages(answer)).to.deep.equal({
        [field]: `Invalid value: "x": ${required} with either a URL or a reason starting with "unapproved", ${see}`,
      });
    });

    for (const [text, status, reason, message] of [
      ['unapproved', 'False', 'UnapprovedAnnotation', 'not approved: "unapproved"'],
      ['https://a.b/c', 'True', 'ApprovedAnnotation', 'approved in https://a.b/c'],
    ] as const) {
      it(`report the annotation ${text} in a condition, and serve the kind`, async () => {
        const api = new Api();
        await api.create(crds, approved(text));
        const { body } = await api.call('GET', `${crds}/widgets.example.k8s.io`);
        const { conditions = [] } = (body as unknown as CustomResourceDefinition).status ?? {};
        expect(conditions.map(({ type }) => type)).to.include('Established');
        const found = conditions.find(({ type }) => type.startsWith('KubernetesAPIApproval'));
        expect(found).to.include({ status, reason, message });
      });
    }

    it('refuse an update that removes the annotation', async () => {
      const api = new Api();
      const one = `${crds}/widgets.example.k8s.io`;
      await api.create(crds, approved('https://a.b/c'));
      const annotations = { 'api-approved.kubernetes.io': null };
      const answer = await api.call('PATCH', one, { metadata: { annotations } }, merge);
      expect(causeMessages(answer)).to.have.property(field);
    });
  });
});
