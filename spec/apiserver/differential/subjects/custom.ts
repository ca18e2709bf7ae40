import { apply, get, patch, post, put, remove, representations, watch } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';
import { definitionScenarios } from './definitions.js';
import { features, number, pair, rules, syntaxes, text } from './custom-values.js';
import type { Schema } from './custom-values.js';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const all = '/apis/{{ns}}.example.com/v1/namespaces/{{ns}}/widgets';

/** Returns a definition of Widgets whose `spec` has the schema. */
function widgets(spec: Schema, version: object = {}, more: object = {}): Schema {
  const openAPIV3Schema = {
    type: 'object',
    properties: { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  };
  const v1 = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, ...version };
  return {
    metadata: { name: 'widgets.{{ns}}.example.com' },
    spec: {
      ...{ group: '{{ns}}.example.com', scope: 'Namespaced', versions: [v1] },
      ...{ names: { plural: 'widgets', kind: 'Widget' }, ...more },
    },
  };
}

const widget = (spec: unknown, name = 'one'): Schema => ({
  ...{ apiVersion: '{{ns}}.example.com/v1', kind: 'Widget', metadata: { name }, spec },
});

/** A definition in a watch: its names are accepted, then it is established. */
function establishing(): readonly Request[] {
  const one = `${crds}/widgets.{{ns}}.example.com`;
  const only = '&fieldSelector=metadata.name=widgets.{{ns}}.example.com';
  const definition = widgets({ type: 'object' });
  return [
    post(crds, definition, { as: 'crd' }),
    watch(crds, '{{crd.metadata.resourceVersion}}', only),
    remove(one),
  ];
}

/** Definitions of Widgets by title. The server refuses most of them. */
const definitions: readonly (readonly [string, Schema])[] = [
  ['no schema', widgets({}, { schema: undefined })],
  ['no type', widgets({ properties: { a: {} } })],
  ['bad type', widgets({ type: 'text' })],
  ['bad pattern', widgets({ ...text, pattern: '[' })],
  ['bad default', widgets({ ...number, default: 'x' })],
  ['default in a rule', widgets({ ...pair, anyOf: [{ properties: { a: { default: 'x' } } }] })],
  ['list without items', widgets({ type: 'array' })],
  ['map without keys', widgets({ type: 'array', items: pair, 'x-kubernetes-list-type': 'map' })],
  ['set of objects', widgets({ type: 'array', items: pair, 'x-kubernetes-list-type': 'set' })],
  ['unknown list type', widgets({ type: 'array', items: text, 'x-kubernetes-list-type': 'bag' })],
  ['properties and additional', widgets({ ...pair, additionalProperties: text })],
  ['uniqueItems', widgets({ type: 'array', items: text, uniqueItems: true })],
  ['reference', widgets({ $ref: '#/x' })],
  ['nested metadata', widgets({ type: 'object', properties: { metadata: pair } })],
  ['nullable default', widgets({ ...pair, nullable: true, default: null })],
  ['no version', widgets({ type: 'object' }, {}, { versions: [] })],
  ['not stored', widgets({ type: 'object' }, { storage: false })],
  ['bad version', widgets({ type: 'object' }, { name: 'V1!' })],
  ['bad scope', widgets({ type: 'object' }, {}, { scope: 'Galactic' })],
  ['other group', widgets({ type: 'object' }, {}, { group: 'other.example.com' })],
  [
    'bad names',
    widgets(
      { type: 'object' },
      {},
      { names: { plural: 'Widgets', kind: 'widget!', shortNames: ['A'] } },
    ),
  ],
  ['no names', widgets({ type: 'object' }, {}, { names: {} })],
  [
    'bad columns',
    widgets(
      { type: 'object' },
      {
        additionalPrinterColumns: [
          { name: 'A', type: 'text', jsonPath: 'a' },
          { name: '', type: 'string', jsonPath: '.a[' },
        ],
      },
    ),
  ],
  [
    'bad scale',
    widgets(
      { type: 'object' },
      {
        subresources: {
          scale: { specReplicasPath: 'spec', statusReplicasPath: '.x', labelSelectorPath: '.y' },
        },
      },
    ),
  ],
  [
    'bad selectable',
    widgets(pair, {
      selectableFields: [
        { jsonPath: '.spec.none' },
        { jsonPath: '.spec' },
        { jsonPath: '.metadata.name' },
      ],
    }),
  ],
  [
    'conversion without webhook',
    widgets({ type: 'object' }, {}, { conversion: { strategy: 'Webhook' } }),
  ],
  ['bad conversion', widgets({ type: 'object' }, {}, { conversion: { strategy: 'Magic' } })],
  [
    'conversion by a service',
    widgets(
      { type: 'object' },
      {},
      {
        conversion: {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: { service: { name: 's', namespace: 'n' } },
          },
        },
      },
    ),
  ],
  [
    'conversion by a URL',
    widgets(
      { type: 'object' },
      {},
      {
        conversion: {
          strategy: 'Webhook',
          webhook: { conversionReviewVersions: ['v2', 'v1'], clientConfig: { url: 'http://x' } },
        },
      },
    ),
  ],
  ['preserved', widgets({ type: 'object' }, {}, { preserveUnknownFields: true })],
  ['deprecated', widgets({ type: 'object' }, { deprecated: true, deprecationWarning: 'old' })],
  ['warning alone', widgets({ type: 'object' }, { deprecationWarning: 'old' })],
  [
    'costly rule',
    widgets({
      type: 'object',
      properties: {
        l: {
          type: 'array',
          items: {
            type: 'array',
            items: { ...text, 'x-kubernetes-validations': [{ rule: "self.matches('a*')" }] },
          },
        },
      },
    }),
  ],
  [
    'costly product',
    widgets({
      type: 'object',
      properties: { l: { type: 'array', items: text } },
      'x-kubernetes-validations': [
        { rule: 'self.l.all(x, self.l.all(y, self.l.all(z, x != y + z)))' },
      ],
    }),
  ],
  [
    'too many rules',
    widgets({
      type: 'object',
      properties: {
        l: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              m: {
                type: 'array',
                items: { ...text, 'x-kubernetes-validations': [{ rule: 'self.size() < 5' }] },
              },
            },
          },
        },
      },
    }),
  ],
  [
    'rule on a list',
    widgets({
      type: 'array',
      items: text,
      maxItems: 5,
      'x-kubernetes-validations': [{ rule: "self[0] == 'a'" }],
    }),
  ],
];

/** Definitions of kinds, each feature of schemas, CEL rules, and the subresources. */
export const custom: readonly Scenario[] = [
  {
    title: 'definitions',
    requests: definitions.flatMap(([, body]) => [
      post(`${crds}?dryRun=All`, body),
      post(`${crds}?dryRun=All&fieldValidation=Strict`, body),
    ]),
  },
  ...features.map(({ title, schema, values: list }) => ({
    title: `schema feature ${title}`,
    requests: featureRequests(
      { type: 'object', properties: { f: schema } },
      list.map((f) => ({ f })),
    ),
  })),
  ...rules.map(([schema, list]) => ({
    title: `rule ${JSON.stringify(schema['x-kubernetes-validations'])}`,
    requests: featureRequests(schema, list),
  })),
  ...definitionScenarios,
  { title: 'establishing of a definition', requests: establishing() },
  {
    title: 'syntax of rules',
    requests: syntaxes.map((rule) =>
      post(
        `${crds}?dryRun=All`,
        widgets({
          type: 'object',
          properties: Object.fromEntries(
            ['a', 'in', 'true', 'if', 'namespace'].map((name) => [name, text]),
          ),
          'x-kubernetes-validations': [{ rule }],
        }),
      ),
    ),
  },
  { title: 'life of a custom resource', requests: lifeOfWidget() },
  { title: 'objects that are older than their schema', requests: schemaChanges() },
  { title: 'empty metadata in applies', requests: emptyMetadata() },
];

/** Creates the kind, then an object with each value, and updates one object from value to value. */
function featureRequests(spec: Schema, list: readonly unknown[]): Request[] {
  return [
    post(crds, widgets(spec)),
    get(all, { whileStatus: 404 }),
    ...list.map((value) => post(`${all}?dryRun=All&fieldValidation=Strict`, widget(value))),
    ...list.map((value, index) => post(all, widget(value, `w${index}`))),
    ...list.map((value) => apply('m', `${all}/applied`, widget(value, 'applied'), true)),
    ...list
      .slice(0, 4)
      .map((_, index) => patch('merge', `${all}/w${index}`, { spec: list[index + 1] })),
    get(all),
    remove(`${crds}/widgets.{{ns}}.example.com`),
  ];
}

function lifeOfWidget(): Request[] {
  const columns = [
    { name: 'A', type: 'string', jsonPath: '.spec.a' },
    { name: 'B', type: 'integer', jsonPath: '.spec.b', priority: 1, description: 'the B' },
    { name: 'When', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'List', type: 'string', jsonPath: '.spec.list[*]' },
  ];
  const scale = {
    specReplicasPath: '.spec.b',
    statusReplicasPath: '.status.b',
    labelSelectorPath: '.status.s',
  };
  const version = {
    subresources: { status: {}, scale },
    ...{ additionalPrinterColumns: columns, selectableFields: [{ jsonPath: '.spec.a' }] },
  };
  const spec = {
    type: 'object',
    properties: { a: text, b: { ...number, minimum: 0 }, list: { type: 'array', items: text } },
  };
  const one = `${all}/one`;
  const { table, partial, partialList } = representations;
  return [
    post(crds, widgets(spec, version)),
    get(all, { whileStatus: 404 }),
    get(`${crds}/widgets.{{ns}}.example.com`),
    get('/apis/{{ns}}.example.com', { whileStatus: 404 }),
    get('/apis/{{ns}}.example.com/v1', { whileStatus: 404 }),
    post(all, { ...widget({ a: 'x', b: 1, list: ['p', 'q'] }), status: { b: 9 } }),
    post(all, widget({ a: 'x', c: 1 })),
    ...[undefined, table, partial].map((accept) =>
      get(one, accept === undefined ? {} : { accept }),
    ),
    ...[undefined, table, partialList].map((accept) =>
      get(all, accept === undefined ? {} : { accept }),
    ),
    ...['spec.a=x', 'spec.a!=x', 'spec.b=1', 'metadata.name=one'].map((by) =>
      get(`${all}?fieldSelector=${encodeURIComponent(by)}`),
    ),
    patch('merge', one, { spec: { b: 2 } }),
    patch('merge', one, { status: { b: 3 } }),
    patch('merge', `${one}/status`, { status: { b: 3, s: 'a=b' }, spec: { b: 7 } }),
    patch('strategic', one, { spec: { b: 3 } }),
    patch('json', one, [{ op: 'replace', path: '/spec/b', value: -1 }]),
    put(`${one}/status`, { ...widget({ a: 'x' }), status: 'x' }),
    get(`${one}/scale`),
    patch('merge', `${one}/scale`, { spec: { replicas: 5 } }),
    patch('merge', `${one}/scale`, { spec: { replicas: -5 } }),
    put(`${one}/scale`, { metadata: { name: 'one' }, spec: { replicas: 6 } }),
    patch('merge', one, { spec: null }),
    patch('merge', `${one}/scale`, { spec: { replicas: 7 } }),
    patch('merge', one, { spec: 'x' }),
    put(one, widget('x')),
    post(all, widget('x', 'wrong')),
    apply('a', one, widget({ a: 'y', b: 1 })),
    apply('b', one, widget({ a: 'z' })),
    apply('b', `${one}/status`, { ...widget(undefined), status: { b: 4 } }),
    get(one),
    remove(one, { propagationPolicy: 'Foreground' }),
    get(one),
    remove(all),
    patch('merge', `${crds}/widgets.{{ns}}.example.com`, {
      spec: { names: { shortNames: ['wd'] } },
    }),
    patch('merge', `${crds}/widgets.{{ns}}.example.com`, { spec: { scope: 'Cluster' } }),
    patch('merge', `${crds}/widgets.{{ns}}.example.com`, { spec: { names: { kind: 'Other' } } }),
  ];
}

/** Applies of empty lists and maps, which a server may store, and updates without changes. */
function emptyMetadata(): Request[] {
  const empties = [
    { finalizers: [] },
    { labels: {} },
    { annotations: {} },
    { ownerReferences: [] },
  ];
  return [
    post(crds, widgets({ type: 'object' })),
    get(all, { whileStatus: 404 }),
    ...empties.flatMap((empty, index) => {
      const one = `${all}/e${index}`;
      const applied = { ...widget({}), metadata: { name: `e${index}`, ...empty } };
      const unchanged = patch('merge', one, {});
      return [
        ...[apply('m', one, applied), unchanged, unchanged],
        ...[apply('m', one, applied), apply('m', one, applied), unchanged, unchanged],
        patch('merge', one, { metadata: empty }),
      ];
    }),
  ];
}

/** Writes without changes to objects that the present schema prunes, or gives defaults. */
function schemaChanges(): Request[] {
  const crd = `${crds}/widgets.{{ns}}.example.com`;
  const versions = (properties: Schema): readonly Schema[] =>
    ['v1', 'v2'].map((name) => ({
      ...{ name, served: true, storage: name === 'v1' },
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', properties },
            status: { type: 'object', properties },
          },
        },
      },
      subresources: { status: {} },
    }));
  const before = versions({ a: text, b: number });
  const after = versions({ a: text, c: { ...number, default: 7 } });
  const v2 = all.replace('/v1/', '/v2/');
  const names = [
    'patched',
    'patched-v2',
    'json',
    'put',
    'status',
    'applied',
    'finalized',
    'dry',
    'again',
  ];
  const patched = (name: string, path = all): Request =>
    patch('merge', `${path}/${name}`, { spec: { a: 'x' } });
  return [
    post(crds, widgets({}, {}, { versions: before })),
    get(all, { whileStatus: 404 }),
    get(v2, { whileStatus: 404 }),
    ...names.map((name) => post(all, widget({ a: 'x', b: 1 }, name), { as: name })),
    apply('m', `${all}/applied`, widget({ a: 'x' }, 'applied'), true),
    patch('merge', crd, { spec: { versions: after } }),
    // The new schema is in use once it refuses a field of the old one.
    post(`${all}?dryRun=All&fieldValidation=Strict`, widget({ b: 1 }), { whileStatus: 201 }),
    get(v2, { whileStatus: 404 }),
    patched('patched'),
    patched('patched'),
    patched('patched-v2', v2),
    patched('again', v2),
    patched('again'),
    patch('json', `${all}/json`, []),
    put(`${all}/put`, {
      ...widget({ a: 'x' }, 'put'),
      metadata: { name: 'put', resourceVersion: '{{put.metadata.resourceVersion}}' },
    }),
    patch('merge', `${all}/status/status`, { status: {} }),
    apply('m', `${all}/applied`, widget({ a: 'x' }, 'applied'), true),
    patch('merge', `${all}/finalized`, { metadata: { finalizers: [] } }),
    patch('merge', `${all}/dry?dryRun=All`, { spec: { a: 'x' } }),
    // A conflict shows that the previous write of the object has changed it.
    ...names.map((name) =>
      patch('merge', `${all}/${name}`, {
        metadata: { resourceVersion: `{{${name}.metadata.resourceVersion}}`, labels: { a: 'b' } },
      }),
    ),
    get(all),
    get(v2),
  ];
}
