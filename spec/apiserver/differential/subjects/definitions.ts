import { get, patch, post } from '../scenario.js';
import type { Request, Scenario } from '../scenario.js';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

type Part = Readonly<Record<string, unknown>>;

const text: Part = { type: 'string' };
/** Returns the schema of an object with these properties. */
export const whole = (properties: Part, more: Part = {}): Part => ({
  ...{ type: 'object', properties },
  ...more,
});

/** Returns a definition of Gadgets with the schema of a whole object. */
export function gadgets(openAPIV3Schema: Part, version: Part = {}): Part {
  const v1 = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } };
  return {
    metadata: { name: 'gadgets.{{ns}}.example.com' },
    spec: {
      ...{ group: '{{ns}}.example.com', scope: 'Namespaced' },
      ...{ names: { plural: 'gadgets', kind: 'Gadget' }, versions: [{ ...v1, ...version }] },
    },
  };
}

const status: Part = { subresources: { status: {} } };
const embedded = (properties: Part): Part => ({
  a: whole(properties, { 'x-kubernetes-embedded-resource': true }),
});
const set: Part = { type: 'array', items: text, 'x-kubernetes-list-type': 'set' };

/** Schemas of a whole object with unusual keywords, and schemas of `apiVersion`, `kind` and `metadata`. */
const roots: readonly Part[] = [
  ...[
    { oneOf: [{ required: ['a'] }] },
    { minProperties: 1 },
    { enum: [{}] },
    { nullable: true },
    { default: { apiVersion: 'v1', kind: 'A', a: 'x' } },
    { title: 'x', description: 'y', format: 'z', example: {}, externalDocs: { url: 'x' } },
    { 'x-kubernetes-preserve-unknown-fields': true },
    { 'x-kubernetes-validations': [{ rule: 'has(self.a)' }] },
    { 'x-kubernetes-embedded-resource': true },
    { 'x-kubernetes-map-type': 'granular' },
    { type: 'array', items: text },
    { type: '' },
    { nullable: false, uniqueItems: false, title: '' },
  ].flatMap((more) => [
    gadgets(whole({ a: text }, more), status),
    gadgets(whole({ a: text }, more)),
  ]),
  ...[
    { type: 'string' },
    {},
    { type: 'object', properties: { labels: { type: 'object' } } },
    { type: 'object', properties: { name: { ...text, maxLength: 5 } } },
    { type: 'object', properties: { name: text, generateName: text } },
    { type: 'object', properties: { name: text, labels: { type: 'object' } } },
    { type: 'object', properties: {} },
    { type: 'object', minProperties: 3 },
    { type: 'object', required: ['name'] },
    { type: 'object', description: 'x' },
    { type: 'object', title: 'x' },
    { type: 'object', example: {} },
    { type: 'object', nullable: true },
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    { type: 'object', 'x-kubernetes-embedded-resource': true },
    { type: 'object', default: {} },
    { type: 'object', default: { name: 'x' } },
    { type: 'object', properties: { name: { ...text, default: 'x' } } },
    { type: 'object', additionalProperties: { ...text, default: 'x' } },
    { type: 'array', items: text },
  ].flatMap((metadata) => [
    gadgets(whole({ metadata })),
    gadgets(whole(embedded({ metadata }))),
    gadgets(whole({ a: whole({ metadata }) })),
  ]),
  ...[{ type: 'integer' }, {}, { ...text, enum: ['A'] }, { ...text, default: 'A' }].flatMap(
    (kind) =>
      ['kind', 'apiVersion'].flatMap((name) => [
        gadgets(whole({ [name]: kind })),
        gadgets(whole(embedded({ [name]: kind }))),
        gadgets(whole({ a: whole({ [name]: kind }) })),
      ]),
  ),
];

/** Nine names: a version may have at most eight selectable fields. */
const nine = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];

const others: readonly Part[] = [
  ...['definitions', 'patternProperties'].flatMap((keyword) => [
    gadgets(whole({}, { [keyword]: {} })),
    gadgets(whole({ a: whole({}, { [keyword]: {} }) })),
    gadgets(whole({ a: text }, { allOf: [{ [keyword]: {} }] })),
  ]),
  ...['int32', 'date', 'zz', ''].map((format) =>
    gadgets(whole({}), {
      additionalPrinterColumns: [{ name: 'a', type: 'string', format, jsonPath: '.a' }],
    }),
  ),
  ...[
    ['.a', '.a'],
    ['.b[0]'],
    ['.a[0]'],
    ["['a']"],
    ['.none[0]'],
    ['a'],
    ['.'],
    [''],
    ['.metadata.name'],
    ['.m.x'],
    ['.c.d', '.c.d', '.a'],
    nine.map((name) => `.n.${name}`),
  ].map((paths) =>
    gadgets(
      whole({
        ...{ a: text, b: { type: 'array', items: text }, c: whole({ d: text }) },
        metadata: whole({ name: text }),
        m: { type: 'object', additionalProperties: text },
        n: whole(Object.fromEntries(nine.map((name) => [name, text]))),
      }),
      { selectableFields: paths.map((jsonPath) => ({ jsonPath })) },
    ),
  ),
  gadgets(whole({ a: { ...set, default: ['x', 'x'] } })),
  gadgets(whole({ a: { ...set, default: ['x', 1] } })),
  gadgets(whole({}, { default: {} })),
  gadgets(whole({ a: text }, { default: { apiVersion: 'v1', kind: 'A', b: 'x' } })),
  gadgets(whole(embedded({ b: text }), { properties: {} })),
  ...[{}, { apiVersion: 'v1' }, { apiVersion: 'v1', kind: 'A' }].map((value) =>
    gadgets(whole({ a: { ...(embedded({ b: text })['a'] as Part), default: value } })),
  ),
];

/** A definition in a group of Kubernetes, with the annotation. */
function approved(group: string, value?: string): Part {
  const { spec } = gadgets(whole({})) as { readonly spec: Part };
  const annotations = value === undefined ? {} : { 'api-approved.kubernetes.io': value };
  return { metadata: { name: `gadgets.${group}`, annotations }, spec: { ...spec, group } };
}

const values = [
  undefined,
  '',
  'x',
  '/x',
  'x:y',
  'unapproved',
  'unapproved, "experimental"',
  'https://example.com/1',
];

function approvals(): Request[] {
  const group = '{{ns}}.k8s.io';
  const one = `${crds}/gadgets.${group}`;
  const annotated = (value: string | null): Request =>
    patch('merge', one, { metadata: { annotations: { 'api-approved.kubernetes.io': value } } });
  return [
    ...values.map((value) => post(`${crds}?dryRun=All`, approved(group, value))),
    ...['{{ns}}.x-k8s.io', '{{ns}}.kubernetes.io', '{{ns}}.k8s.io.example.com'].map((other) =>
      post(`${crds}?dryRun=All`, approved(other)),
    ),
    post(crds, approved(group, 'unapproved')),
    // The servers refuse these changes. An accepted one would show conditions that controllers write at any time.
    ...[null, 'x'].map(annotated),
  ];
}

/** Reads deprecated versions, whose warnings name a better one, if there is one. */
function deprecations(): Request[] {
  const { metadata, spec } = gadgets(whole({})) as {
    readonly metadata: Part;
    readonly spec: { readonly versions: readonly Part[] };
  };
  const more = { ...spec.versions[0], storage: false };
  const versions = [
    ...[...spec.versions, { ...more, name: 'v1beta2' }, { ...more, name: 'v2', served: false }],
    ...['v1beta1', 'v3', 'old'].map((name) => ({ ...more, name, deprecated: true })),
  ];
  return [
    post(crds, { metadata, spec: { ...spec, versions } }),
    ...['v1beta1', 'v3', 'old', 'v1beta2'].map((version) =>
      get(`/apis/{{ns}}.example.com/${version}/namespaces/{{ns}}/gadgets`, { whileStatus: 404 }),
    ),
  ];
}

/** Definitions that a server refuses as a whole, when they are created and when they are updated. */
export const definitionScenarios: readonly Scenario[] = [
  {
    title: 'roots of schemas',
    requests: roots.map((definition) => post(`${crds}?dryRun=All`, definition)),
  },
  {
    title: 'parts of definitions',
    requests: others.map((definition) => post(`${crds}?dryRun=All`, definition)),
  },
  {
    title: 'updates of definitions',
    requests: [
      post(crds, gadgets(whole({ a: text }))),
      ...[...roots, ...others].map(({ spec }) =>
        patch('merge', `${crds}/gadgets.{{ns}}.example.com?dryRun=All`, { spec }),
      ),
    ],
  },
  { title: 'groups of Kubernetes', requests: approvals() },
  { title: 'deprecated versions', requests: deprecations() },
];
