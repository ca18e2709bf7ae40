import { expect } from 'chai';
import { Api, merge } from '../api.js';
import { causeMessages } from '../causes.js';
import { crds, version, widgetCrd } from './widgets.js';

const webhook = { conversionReviewVersions: ['v1'] };
const notWebhook = 'should not be set when strategy is not set to Webhook';
const notLabel = (name: string): string =>
  `Invalid value: "${name}": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`;
const wrongName = 'Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group';
const letters = Array.from('abcdefghi');
const formats = 'byte,date,date-time,double,float,int32,int64,password';
const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columns = (...additionalPrinterColumns: readonly object[]): object => ({
  versions: [{ ...version, additionalPrinterColumns }],
});
const scale = 'spec.subresources.scale';
const scaled = (scale: object): object => ({ versions: [{ ...version, subresources: { scale } }] });

// Messages of the real server (v1.36).
const refused: readonly (readonly [string, object, Readonly<Record<string, string>>])[] = [
  [
    'scale paths outside of spec and status',
    scaled({ specReplicasPath: 'spec', statusReplicasPath: '.x' }),
    {
      [`${scale}.specReplicasPath`]:
        'Invalid value: "spec": must be a simple json path starting with .',
      [`${scale}.statusReplicasPath`]: 'Invalid value: ".x": should be a json path under .status',
    },
  ],
  [
    'scale paths outside of their part of the object',
    scaled({
      specReplicasPath: '.specs.size',
      statusReplicasPath: '.spec.replicas',
      labelSelectorPath: '.metadata.labels',
    }),
    {
      [`${scale}.specReplicasPath`]:
        'Invalid value: ".specs.size": should be a json path under .spec',
      [`${scale}.statusReplicasPath`]:
        'Invalid value: ".spec.replicas": should be a json path under .status',
      [`${scale}.labelSelectorPath`]:
        'Invalid value: ".metadata.labels": should be a json path under either .spec or .status',
    },
  ],
  [
    'empty scale paths',
    scaled({ specReplicasPath: '', statusReplicasPath: '', labelSelectorPath: '' }),
    {
      [`${scale}.specReplicasPath`]: 'Required value',
      [`${scale}.statusReplicasPath`]: 'Required value',
    },
  ],
  [
    'scale paths without a leading dot',
    scaled({
      specReplicasPath: '.spec.size',
      statusReplicasPath: 'status.replicas',
      labelSelectorPath: 'status.selector',
    }),
    {
      [`${scale}.statusReplicasPath`]:
        'Invalid value: "status.replicas": must be a simple json path starting with .',
      [`${scale}.labelSelectorPath`]:
        'Invalid value: "status.selector": must be a simple json path starting with .',
    },
  ],
  [
    'printer columns with empty members, an unknown type or another form of path',
    columns(
      { name: '', type: '', jsonPath: '' },
      { name: 'a', type: 'text', jsonPath: '$.spec' },
      ...columnTypes.map((type) => ({ name: type, type, jsonPath: '.spec' })),
      ...formats.split(',').map((format) => {
        return { name: format, type: 'string', format, jsonPath: '.spec' };
      }),
    ),
    {
      'spec.additionalPrinterColumns[0].name': 'Required value',
      'spec.additionalPrinterColumns[0].type': `Required value: must be one of ${columnTypes.join()}`,
      'spec.additionalPrinterColumns[0].JSONPath': 'Required value',
      'spec.additionalPrinterColumns[1].type': `Invalid value: "text": must be one of ${columnTypes.join()}`,
      'spec.additionalPrinterColumns[1].JSONPath':
        'Invalid value: "$.spec": must be a simple json path starting with .',
    },
  ],
  [
    'printer columns without a type',
    columns({ name: 'a', jsonPath: '.spec' }),
    {
      'spec.additionalPrinterColumns[0].type':
        'Required value: must be one of boolean,date,integer,number,string',
    },
  ],
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
    'webhook settings of a conversion with another strategy',
    {
      conversion: {
        strategy: 'None',
        webhook: { clientConfig: { url: 'https://a.b' }, conversionReviewVersions: ['v1'] },
      },
    },
    {
      'spec.conversion.webhookClientConfig': `Forbidden: ${notWebhook}`,
      'spec.conversion.conversionReviewVersions': `Forbidden: ${notWebhook}`,
    },
  ],
  [
    'a conversion by a webhook with only unknown review versions',
    {
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { url: 'http://a.b' }, conversionReviewVersions: ['v2'] },
      },
    },
    {
      'spec.conversion.webhookClientConfig.url':
        'Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
      'spec.conversion.conversionReviewVersions':
        'Invalid value: ["v2"]: must include at least one of v1, v1beta1',
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
    'a warning that is empty',
    { versions: [{ ...version, deprecated: true, deprecationWarning: '' }] },
    { 'spec.versions[0].deprecationWarning': 'Invalid value: "": must not be an empty string' },
  ],
  [
    'a warning of two lines',
    { versions: [{ ...version, deprecated: true, deprecationWarning: 'é\nx' }] },
    {
      'spec.versions[0].deprecationWarning':
        'Invalid value: "é\\nx": must only contain printable UTF-8 characters; non-printable character found at index 2',
    },
  ],
  [
    'a version name in capitals, which is reported for spec.version as well',
    { versions: [{ ...version, name: 'V1' }] },
    { 'spec.version': notLabel('V1'), 'spec.versions[0].name': notLabel('V1') },
  ],
  [
    'short names and categories in capitals',
    { names: { plural: 'widgets', kind: 'Widget', shortNames: ['W'], categories: ['A'] } },
    { 'spec.names.shortNames[0]': notLabel('W'), 'spec.names.categories[0]': notLabel('A') },
  ],
  [
    'an unknown format of a column',
    columns({ name: 'a', type: 'string', format: 'zz', jsonPath: '.a' }),
    {
      'spec.additionalPrinterColumns[0].format': `Invalid value: "zz": must be one of ${formats}`,
    },
  ],
  [
    'selectable fields that are empty, objects, or metadata',
    {
      versions: [
        {
          ...version,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                metadata: { type: 'object', properties: { name: { type: 'string' } } },
                metadatas: { type: 'string' },
                spec: { type: 'object' },
              },
            },
          },
          selectableFields: ['', '.spec', '.metadata.name', '.metadatas'].map((jsonPath) => ({
            jsonPath,
          })),
        },
      ],
    },
    {
      'spec.selectableFields[0].jsonPath': 'Required value',
      'spec.selectableFields[1].jsonPath':
        'Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      'spec.selectableFields[2].jsonPath':
        'Invalid value: ".metadata.name": must not point to fields in metadata',
    },
  ],
  [
    'more than eight selectable fields',
    {
      versions: [
        {
          ...version,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: Object.fromEntries(letters.map((name) => [name, { type: 'string' }])),
            },
          },
          selectableFields: letters.map((name) => ({ jsonPath: `.${name}` })),
        },
      ],
    },
    { 'spec.selectableFields': 'Too many: 9: must have at most 8 items' },
  ],
  [
    'a kind of lists that is the kind itself',
    { names: { plural: 'widgets', kind: 'Widget', listKind: 'Widget' } },
    {
      'spec.names.listKind': 'Invalid value: "Widget": kind and listKind may not be the same',
    },
  ],
  [
    'an empty plural, singular and kind',
    { names: { plural: '', singular: '', kind: '', listKind: '-' } },
    {
      'spec.names.plural': 'Required value',
      'spec.names.singular': 'Required value',
      'spec.names.kind': 'Required value',
      'spec.names.listKind': notLabel('-').replace(
        'a DNS-1035',
        'may have mixed case, but should otherwise match: a DNS-1035',
      ),
      'metadata.name': wrongName,
    },
  ],
  ['an empty group', { group: '' }, { 'spec.group': 'Required value', 'metadata.name': wrongName }],
  [
    'a group in capitals',
    { group: 'Example.com' },
    {
      'spec.group': `Invalid value: "Example.com": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
      'metadata.name': wrongName,
    },
  ],
  [
    'a group without a dot',
    { group: 'example' },
    {
      'spec.group': 'Invalid value: "example": should be a domain with at least one dot',
      'metadata.name': wrongName,
    },
  ],
  [
    'selectable fields that repeat, or name items',
    {
      versions: [
        {
          ...version,
          selectableFields: ['.spec.code', '.spec.code', '.spec.tags[0]', 'spec', '.'].map(
            (jsonPath) => ({ jsonPath }),
          ),
        },
      ],
    },
    {
      'spec.selectableFields[1].jsonPath': 'Duplicate value: ".spec.code"',
      'spec.selectableFields[2].jsonPath':
        'Invalid value: ".spec.tags[0]": is an invalid path: array notation is not allowed',
      'spec.selectableFields[3].jsonPath':
        'Invalid value: "spec": is an invalid path: expected [ or . but got: spec',
      'spec.selectableFields[4].jsonPath':
        'Invalid value: ".": is an invalid path: unexpected end of JSON path',
    },
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

  it('refuse two versions with the same name, and preserveUnknownFields: true', async () => {
    const spec = {
      versions: [version, { ...version, storage: false }],
      preserveUnknownFields: true,
    };
    const { 'spec.versions': repeated, ...others } = causeMessages(
      await new Api().call('POST', crds, widgetCrd(spec)),
    );
    expect(repeated).to.match(/^Invalid value: \[.*\]: must contain unique version names$/);
    expect(others).to.deep.equal({
      'spec.preserveUnknownFields':
        'Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    });
  });

  it('refuse updates of group, names and scope, and the removal of stored versions', async () => {
    const api = new Api();
    await api.create(crds, widgetCrd());
    const names = { plural: 'gadgets', kind: 'Gadget' };
    const versions = [{ ...version, name: 'v2' }];
    const spec = { group: 'example.org', scope: 'Cluster', names, versions };
    const answer = await api.call('PATCH', `${crds}/widgets.example.com`, { spec }, merge);
    const immutable = (value: string) => `Invalid value: "${value}": field is immutable`;
    expect(causeMessages(answer)).to.deep.equal({
      'spec.scope': immutable('Cluster'),
      'spec.names.kind': immutable('Gadget'),
      'spec.group': immutable('example.org'),
      'spec.names.plural': immutable('gadgets'),
      'status.storedVersions[0]':
        'Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
    });
  });

  it('add the storage version to a status that has no stored versions', async () => {
    const api = new Api();
    await api.create(crds, widgetCrd());
    const path = `${crds}/widgets.example.com/status`;
    for (const storedVersions of [null, []]) {
      const { body } = await api.call('PATCH', path, { status: { storedVersions } }, merge);
      expect(body['status']).to.deep.include({ storedVersions: ['v1'] });
    }
  });

  it('run after the port of the Service of a conversion webhook is defaulted to 443', async () => {
    const service = { name: 's', namespace: 'n' };
    const conversion = { strategy: 'Webhook', webhook: { ...webhook, clientConfig: { service } } };
    const created = await new Api().create(crds, widgetCrd({ conversion }));
    expect(created).to.have.nested.property(
      'spec.conversion.webhook.clientConfig.service.port',
      443,
    );
  });
});
