import { expect } from 'chai';
import { Api } from '../api.js';
import { causeMessages } from '../causes.js';
import { crds, version, widgetCrd } from './widgets.js';

const webhook = { conversionReviewVersions: ['v1'] };

const notLabel = (name: string): string =>
  `Invalid value: "${name}": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`;

const versionWith = (schema: object): object => ({
  versions: [{ ...version, schema: { openAPIV3Schema: { type: 'object', ...schema } } }],
});

// Messages of the real server (v1.36).
const refused: readonly (readonly [string, object, Readonly<Record<string, string>>])[] = [
  [
    'scale paths outside of spec and status',
    {
      versions: [
        {
          ...version,
          subresources: { scale: { specReplicasPath: 'spec', statusReplicasPath: '.x' } },
        },
      ],
    },
    {
      'spec.subresources.scale.specReplicasPath':
        'Invalid value: "spec": must be a simple json path starting with .',
      'spec.subresources.scale.statusReplicasPath':
        'Invalid value: ".x": should be a json path under .status',
    },
  ],
  [
    'printer columns without a type',
    { versions: [{ ...version, additionalPrinterColumns: [{ name: 'a', jsonPath: '.spec' }] }] },
    {
      'spec.additionalPrinterColumns[0].type':
        'Required value: must be one of boolean,date,integer,number,string',
    },
  ],
  [
    'unsupported keywords also in junctors',
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
    'selectable fields that do not exist or are objects',
    { versions: [{ ...version, selectableFields: [{ jsonPath: '.spec.none' }] }] },
    {
      'spec.selectableFields[0].jsonPath':
        'Invalid value: ".spec.none": is an invalid path: does not refer to a valid field',
    },
  ],
  [
    'a conversion by a webhook without an address',
    { conversion: { strategy: 'Webhook' } },
    {
      'spec.conversion.webhookClientConfig':
        'Required value: required when strategy is set to Webhook',
      'spec.conversion.conversionReviewVersions': 'Required value',
    },
  ],
  [
    'an unknown conversion',
    { conversion: { strategy: 'Magic' } },
    {
      'spec.conversion.strategy': 'Unsupported value: "Magic": supported values: "None", "Webhook"',
    },
  ],
  [
    'a warning about a version that is not deprecated',
    { versions: [{ ...version, deprecationWarning: 'old' }] },
    {
      'spec.versions[0].deprecationWarning':
        'Invalid value: "old": can only be set for deprecated versions',
    },
  ],
  [
    'the name of a version in capitals, as a part of the old form too',
    { versions: [{ ...version, name: 'V1' }] },
    { 'spec.version': notLabel('V1'), 'spec.versions[0].name': notLabel('V1') },
  ],
  [
    'short names and categories in capitals',
    { names: { plural: 'widgets', kind: 'Widget', shortNames: ['W'], categories: ['A'] } },
    { 'spec.names.shortNames[0]': notLabel('W'), 'spec.names.categories[0]': notLabel('A') },
  ],
  [
    'no versions',
    { versions: [] },
    {
      'spec.versions': 'Invalid value: []: must have exactly one version marked as storage version',
      'status.storedVersions': 'Invalid value: null: must have at least one stored version',
    },
  ],
];

describe('checks of custom resource definitions', () => {
  for (const [title, spec, causes] of refused) {
    it(`refuse ${title}`, async () => {
      const answer = await new Api().call('POST', crds, widgetCrd(spec));
      expect(answer.code).to.equal(422);
      expect(causeMessages(answer)).to.deep.equal(causes);
    });
  }

  for (const type of ['string', 'boolean', 'integer', 'number']) {
    const isAllowed = type !== 'number';
    it(`${isAllowed ? 'allow' : 'refuse'} a selectable field of type ${type}`, async () => {
      const spec = { type: 'object', properties: { chosen: { type } } };
      const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
      const own = { ...version, schema, selectableFields: [{ jsonPath: '.spec.chosen' }] };
      const { code } = await new Api().call('POST', crds, widgetCrd({ versions: [own] }));
      expect(code).to.equal(isAllowed ? 201 : 422);
    });
  }

  it('follow the default port of the Service of a conversion', async () => {
    const service = { name: 's', namespace: 'n' };
    const conversion = { strategy: 'Webhook', webhook: { ...webhook, clientConfig: { service } } };
    const created = await new Api().create(crds, widgetCrd({ conversion }));
    expect(created).to.have.nested.property(
      'spec.conversion.webhook.clientConfig.service.port',
      443,
    );
  });
});
