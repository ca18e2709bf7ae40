import type { CustomResourceDefinition, Schema } from '../../../lib/object/index.js';

type Spec = CustomResourceDefinition['spec'];
type Version = Spec['versions'][number];

/** A definition with a problem. */
export interface LintCase {
  readonly rule: string;
  readonly path: string;
  readonly crd: CustomResourceDefinition;
}

const described = (schema: Schema): Schema => ({ description: 'It has one.', ...schema });
const text: Schema = { type: 'string' };
const object = (properties: Record<string, Schema>, rest: Schema = {}): Schema => ({
  ...{ type: 'object', properties, ...rest },
});
const note = described(text);
const item = (rest: Schema = {}): Schema =>
  object({ name: note, value: note }, { required: ['name'], ...rest });

/** Returns a definition with these fields of the spec, which is otherwise flawless. */
export function widget(
  fields: Record<string, Schema>,
  version: Partial<Version> = {},
  spec: Partial<Spec> = {},
) {
  const properties = {
    spec: described(object(fields)),
    status: described(object({ ready: described({ type: 'integer' }) })),
  };
  const schema = { openAPIV3Schema: described(object(properties)) as object };
  const names = { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' };
  const versions = [
    { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema, ...version },
  ];
  const crd = {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: 'widgets.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions, ...spec },
  };
  return crd as CustomResourceDefinition;
}

const names = { kind: 'Widget', plural: 'widgets', singular: 'widget' };
const rule = (given: string): Schema => ({ 'x-kubernetes-validations': [{ rule: given }] });
const loop = (count: number): Schema =>
  described({
    ...{ type: 'array', items: { type: 'string', maxLength: 100 }, maxItems: count },
    ...rule('self.all(a, self.all(b, a == b || a.startsWith(b)))'),
  });
const column = (jsonPath: string) => ({ name: 'C', type: 'string', jsonPath });
const conditions = (rest: Schema): Partial<Version> => ({
  schema: {
    openAPIV3Schema: described(
      object({
        spec: described(object({})),
        status: described(
          object({
            conditions: described({
              type: 'array',
              items: object({ type: note, status: note }, { required: ['type', 'status'] }),
              ...rest,
            }),
          }),
        ),
      }),
    ) as object,
  },
});
const whole = (properties: Record<string, Schema>, rest: Schema = {}): Partial<Version> => ({
  schema: { openAPIV3Schema: described(object(properties, rest)) as object },
});

/** A case of each rule. */
export const lintCases: readonly LintCase[] = [
  { rule: 'invalid-schema', path: 'spec.a.type', crd: widget({ a: described({}) }) },
  {
    rule: 'invalid-schema',
    path: 'spec.a',
    crd: widget({ a: described({ ...text, ...rule('self > 1') }) }),
  },
  {
    ...{ rule: 'conversion-loses-fields', path: 'spec.a' },
    crd: withVersion(widget({ a: note }), 'v2', {}),
  },
  {
    rule: 'printer-column',
    path: 'spec.b',
    crd: widget({}, { additionalPrinterColumns: [column('.spec.b')] }),
  },
  {
    rule: 'selectable-field',
    path: 'spec.b',
    crd: widget({}, { selectableFields: [{ jsonPath: '.spec.b' }] }),
  },
  {
    rule: 'name-clash',
    path: 'spec.names.shortNames',
    crd: widget({}, {}, { names: { ...names, shortNames: ['po'] } }),
  },
  { rule: 'conditions', path: 'status.conditions', crd: widget({}, conditions({})) },
  {
    rule: 'kind-name',
    path: 'spec.names.kind',
    crd: widget({}, {}, { names: { ...names, kind: 'widget' } }),
  },
  { rule: 'version-name', path: '', crd: widget({}, { name: 'one' }) },
  { rule: 'top-level-fields', path: '', crd: widget({}, whole({ data: note })) },
  { rule: 'status-subresource', path: 'status', crd: widget({}, { subresources: {} }) },
  { rule: 'field-name', path: 'spec.max_size', crd: widget({ max_size: note }) },
  { rule: 'no-floats', path: 'spec.share', crd: widget({ share: described({ type: 'number' }) }) },
  {
    rule: 'unit-in-name',
    path: 'spec.timeout',
    crd: widget({ timeout: described({ type: 'integer' }) }),
  },
  { rule: 'time-name', path: 'spec.startTimestamp', crd: widget({ startTimestamp: note }) },
  {
    rule: 'enum-case',
    path: 'spec.level',
    crd: widget({ level: described({ ...text, enum: ['low', 'High'] }) }),
  },
  {
    rule: 'enum-case',
    path: 'spec.level',
    crd: widget({ level: described({ ...text, nullable: true, allOf: [{ enum: ['low'] }] }) }),
  },
  {
    rule: 'list-type',
    path: 'spec.parts',
    crd: widget({ parts: described({ type: 'array', items: item() }) }),
  },
  {
    rule: 'map-of-objects',
    path: 'spec.parts',
    crd: widget({ parts: described({ type: 'object', additionalProperties: item() }) }),
  },
  {
    ...{ rule: 'required-default', path: 'spec.part.a' },
    crd: widget({
      part: described(object({ a: described({ ...text, default: 'x' }) }, { required: ['a'] })),
    }),
  },
  {
    ...{ rule: 'preserve-unknown-fields', path: 'spec.part' },
    crd: widget({
      part: described(object({ a: note }, { 'x-kubernetes-preserve-unknown-fields': true })),
    }),
  },
  {
    ...{ rule: 'preserve-unknown-fields', path: '' },
    crd: widget({}, whole({}, { 'x-kubernetes-preserve-unknown-fields': true })),
  },
  { rule: 'rule-cost', path: 'spec.texts', crd: widget({ texts: loop(300) }) },
  { rule: 'description', path: '', crd: widget({ a: text }) },
];

/** A case of each optional rule. */
export const optionalCases: readonly LintCase[] = [
  { rule: 'no-booleans', path: 'spec.on', crd: widget({ on: described({ type: 'boolean' }) }) },
  { rule: 'bounds', path: 'spec.a', crd: widget({ a: note }) },
  {
    rule: 'no-phase',
    path: 'status.phase',
    crd: widget({}, whole({ status: described(object({ phase: note })) })),
  },
];

/** Definitions without problems. */
export const flawless: readonly (readonly [what: string, crd: CustomResourceDefinition])[] = [
  ['plain fields', widget({ a: note, timeoutSeconds: described({ type: 'integer' }) })],
  [
    'a keyed list',
    widget({
      parts: described({
        type: 'array',
        items: item(),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
    }),
  ],
  [
    'an atomic list',
    widget({
      parts: described({ type: 'array', items: item(), 'x-kubernetes-list-type': 'atomic' }),
    }),
  ],
  [
    'a list of references',
    widget({
      refs: described({
        type: 'array',
        items: object(
          {
            name: note,
            kind: note,
          },
          { required: ['name', 'kind'] },
        ),
      }),
    }),
  ],
  [
    'keyed conditions',
    widget(
      {},
      conditions({
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      }),
    ),
  ],
  ['a map of texts', widget({ labels: described({ type: 'object', additionalProperties: text }) })],
  [
    'enums of names and numbers',
    widget({ a: described({ ...text, enum: ['', 'Fast', 'TCP', 'HTTP-01', '=~', 'V1.0'] }) }),
  ],
  [
    'free values in a field of their own',
    widget({ values: described({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }) }),
  ],
  [
    'columns of metadata, lists and conditions',
    widget(
      { list: described({ type: 'array', items: text }) },
      {
        additionalPrinterColumns: [
          '.metadata.creationTimestamp',
          '.spec.list[0]',
          '{.status.ready}',
        ].map(column),
      },
    ),
  ],
  [
    'selectable fields of each type that may be selected',
    widget(
      {
        a: note,
        b: described({ type: 'integer' }),
        c: described({ type: 'boolean' }),
      },
      { selectableFields: ['a', 'b', 'c'].map((name) => ({ jsonPath: `.spec.${name}` })) },
    ),
  ],
  [
    'lists that only look like conditions',
    widget(
      {},
      whole({
        spec: described(
          object({
            conditions: described({ type: 'array', items: object({ type: note, status: note }) }),
          }),
        ),
        status: described(
          object({
            conditions: described({ type: 'array', items: object({ type: note }) }),
            steps: described({ type: 'array', items: object({ type: note, status: note }) }),
          }),
        ),
      }),
    ),
  ],
  [
    'the fields that every object has',
    widget({}, whole({ apiVersion: note, kind: note, metadata: { type: 'object' } })),
  ],
  ['a cheap rule', widget({ texts: loop(20) })],
  [
    'a type of Kubernetes',
    widget({
      ref: described(
        object(
          {
            ...{ name: text, key: text, optional: { type: 'boolean' } },
          },
          { required: ['key'] },
        ),
      ),
    }),
  ],
  [
    'a type of Kubernetes without some of its fields',
    widget({ get: described(object({ host: text, path: text, scheme: text })) }),
  ],
  ['versions with a webhook', withVersion(widget({ a: note }), 'v2', { strategy: 'Webhook' })],
];

function withVersion(
  crd: CustomResourceDefinition,
  name: string,
  conversion: object,
): CustomResourceDefinition {
  const [other] = widget({}, { name, storage: false }).spec.versions as [Version];
  const versions = [...crd.spec.versions, other];
  return {
    ...crd,
    spec: {
      ...crd.spec,
      versions,
      ...('strategy' in conversion && { conversion: conversion as { strategy: string } }),
    },
  };
}
