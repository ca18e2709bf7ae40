import { defineResource, s } from '../../../lib/crd/index.js';
import type {
  CustomResourceDefinition,
  KubernetesObject,
  Schema,
} from '../../../lib/object/index.js';

/** A change of the schema of `spec.field`, and the effect on an object stored before it. */
export interface SchemaCase {
  /** The rules that report the change. */
  readonly rules: readonly string[];
  readonly before: Schema;
  readonly after: Schema;
  /** A stored value of the field. */
  readonly stored: unknown;
  readonly effect: 'refused' | 'changed' | 'none';
}

const text: Schema = { type: 'string' };
const whole: Schema = { type: 'integer' };
const list = (rest: Schema): Schema => ({ type: 'array', items: { type: 'string' }, ...rest });
const object = (properties: Record<string, Schema>, rest: Schema = {}): Schema => ({
  ...{ type: 'object', properties, ...rest },
});
const open: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const keyed = (key: string): Schema => ({
  type: 'array',
  items: object({ a: text, b: text }, { required: ['a', 'b'] }),
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [key],
});
const map = (additionalProperties: Schema): Schema => ({ type: 'object', additionalProperties });
const intOrString: Schema = { 'x-kubernetes-int-or-string': true };
/** The schema that `s.nullable` returns for an enum. */
const nullableEnum = (...values: string[]): Schema => ({
  ...{ ...text, nullable: true, allOf: [{ enum: values }] },
});
const rules = (...given: string[]): Schema => ({
  ...whole,
  'x-kubernetes-validations': given.map((rule) => ({ rule })),
});

/** Changes with the rule that reports each. */
export const schemaCases: readonly SchemaCase[] = [
  change(['field-removed'], object({ a: text, b: text }), object({ a: text }), {
    stored: { a: 'x', b: 'y' },
    effect: 'changed',
  }),
  change(['unknown-fields-pruned'], map(text), object({}), {
    stored: { a: 'x' },
    effect: 'changed',
  }),
  change(['unknown-fields-pruned'], { type: 'object', additionalProperties: true }, object({}), {
    stored: { a: 1 },
    effect: 'changed',
  }),
  change(['unknown-fields-pruned'], open, object({}), { stored: { a: 1 }, effect: 'changed' }),
  change(['unknown-fields-pruned'], open, object({ a: text }), {
    stored: { b: 1 },
    effect: 'changed',
  }),
  change(['unknown-fields-pruned'], open, map(text), { stored: { a: 1 }, effect: 'refused' }),
  change(
    ['unknown-fields-pruned'],
    open,
    { ...open, properties: { a: text } },
    {
      stored: { a: 1 },
      effect: 'refused',
    },
  ),
  change(['type-changed'], text, whole, { stored: 'x', effect: 'refused' }),
  change(['type-changed'], { type: 'number' }, whole, { stored: 1.5, effect: 'refused' }),
  change(['type-changed'], whole, { type: 'number' }, { stored: 1, effect: 'none' }),
  change(['type-changed'], whole, intOrString, { stored: 1, effect: 'none' }),
  change(['type-changed'], text, intOrString, { stored: 'x', effect: 'none' }),
  change(['type-changed'], intOrString, whole, { stored: '1', effect: 'refused' }),
  change(['required-added'], object({ a: text }), object({ a: text }, { required: ['a'] }), {
    stored: {},
    effect: 'refused',
  }),
  change(['required-added'], object({}), object({ a: text }, { required: ['a'] }), {
    stored: {},
    effect: 'refused',
  }),
  change(
    ['enum-narrowed'],
    { ...text, enum: ['A', 'B'] },
    { ...text, enum: ['A'] },
    {
      stored: 'B',
      effect: 'refused',
    },
  ),
  change(['enum-narrowed'], text, { ...text, enum: ['A'] }, { stored: 'B', effect: 'refused' }),
  change(
    ['enum-widened'],
    { ...text, enum: ['A'] },
    { ...text, enum: ['A', 'B'] },
    {
      stored: 'A',
      effect: 'none',
    },
  ),
  change(['enum-narrowed'], nullableEnum('A', 'B'), nullableEnum('A'), {
    stored: 'B',
    effect: 'refused',
  }),
  change(['enum-widened'], nullableEnum('A'), nullableEnum('A', 'B'), {
    stored: 'A',
    effect: 'none',
  }),
  ...bound(whole, { minimum: 2 }, 1),
  ...bound(whole, { maximum: 2 }, 3),
  ...bound({ type: 'number' }, { minimum: 1, exclusiveMinimum: true }, 1, { minimum: 1 }),
  ...bound({ type: 'number' }, { maximum: 1, exclusiveMaximum: true }, 1, { maximum: 1 }),
  ...bound(whole, { multipleOf: 4 }, 2, { multipleOf: 2 }),
  ...bound(text, { minLength: 2 }, 'x'),
  ...bound(text, { maxLength: 1 }, 'xy', { maxLength: 2 }),
  ...bound(list({}), { minItems: 1 }, []),
  ...bound(list({}), { maxItems: 1 }, ['a', 'b']),
  ...bound(map(text), { minProperties: 1 }, {}),
  ...bound(map(text), { maxProperties: 1 }, { a: 'x', b: 'y' }),
  change(
    ['pattern-changed'],
    text,
    { ...text, pattern: '^a$' },
    { stored: 'b', effect: 'refused' },
  ),
  change(
    ['pattern-changed'],
    { ...text, pattern: 'b' },
    { ...text, pattern: 'a' },
    {
      stored: 'b',
      effect: 'refused',
    },
  ),
  change(
    ['format-changed'],
    text,
    { ...text, format: 'date-time' },
    {
      stored: 'today',
      effect: 'refused',
    },
  ),
  change(['nullable-removed'], { ...whole, nullable: true }, whole, {
    stored: null,
    effect: 'changed',
  }),
  change(['rule-added'], rules('self > 0'), rules('self > 0', 'self > 5'), {
    stored: 3,
    effect: 'refused',
  }),
  change(
    ['validation-changed'],
    text,
    { ...text, not: { enum: ['a'] } },
    {
      stored: 'a',
      effect: 'refused',
    },
  ),
  change(
    ['validation-changed'],
    text,
    { ...text, allOf: [{ maxLength: 1 }] },
    {
      stored: 'ab',
      effect: 'refused',
    },
  ),
  change(
    ['validation-changed'],
    text,
    { ...text, oneOf: [{ maxLength: 1 }, { minLength: 4 }] },
    {
      stored: 'ab',
      effect: 'refused',
    },
  ),
  change(
    ['validation-changed'],
    { ...text, anyOf: [{ maxLength: 1 }, { minLength: 4 }] },
    { ...text, anyOf: [{ maxLength: 1 }] },
    { stored: 'abcd', effect: 'refused' },
  ),
  change(
    ['validation-changed'],
    open,
    { ...open, 'x-kubernetes-embedded-resource': true },
    {
      stored: {},
      effect: 'refused',
    },
  ),
  change(['default-added'], object({ a: text }), object({ a: { ...text, default: 'x' } }), {
    stored: {},
    effect: 'changed',
  }),
  change(
    ['default-changed'],
    object({ a: { ...text, default: 'x' } }),
    object({ a: { ...text, default: 'y' } }),
    { stored: {}, effect: 'none' },
  ),
  change(['list-type-changed'], list({}), list({ 'x-kubernetes-list-type': 'set' }), {
    stored: ['a', 'a'],
    effect: 'refused',
  }),
  change(['list-type-changed'], keyed('a'), keyed('b'), {
    stored: [
      { a: '1', b: '1' },
      { a: '2', b: '1' },
    ],
    effect: 'refused',
  }),
  change(['list-type-changed'], list({ 'x-kubernetes-list-type': 'set' }), list({}), {
    stored: ['a'],
    effect: 'none',
  }),
  change(
    ['map-type-changed'],
    map(text),
    { ...map(text), 'x-kubernetes-map-type': 'atomic' },
    {
      stored: { a: 'x' },
      effect: 'none',
    },
  ),
];

/** Changes that break nothing. */
export const harmlessCases: readonly (readonly [what: string, before: Schema, after: Schema])[] = [
  ['a description', text, { ...text, description: 'a text' }],
  ['a new optional field', object({}), object({ a: text })],
  [
    'a new required field with a default',
    object({}),
    object({ a: { ...text, default: 'x' } }, { required: ['a'] }),
  ],
  [
    'a field that is no longer required',
    object({ a: text }, { required: ['a'] }),
    object({ a: text }),
  ],
  ['wider bounds', { ...whole, minimum: 2, maximum: 3 }, { ...whole, minimum: 1, maximum: 4 }],
  ['a bound that allows all values', text, { ...text, minLength: 0 }],
  [
    'a bound that was exclusive before',
    { ...whole, minimum: 1, exclusiveMinimum: true },
    { ...whole, minimum: 1, exclusiveMinimum: true, description: 'more than 1' },
  ],
  ['a bound that is not exclusive', { ...whole, minimum: 1, maximum: 9 }, { ...whole, minimum: 1 }],
  ['an enum that is gone', { ...text, enum: ['A'] }, text],
  ['nulls of an enum', { ...text, enum: ['A'] }, nullableEnum('A')],
  ['an enum that accepts null', { ...text, enum: ['A'], nullable: true }, nullableEnum('A')],
  ['a pattern that is gone', { ...text, pattern: 'a' }, text],
  ['a rule that is gone', rules('self > 0', 'self > 5'), rules('self > 0')],
  ['a rule with other spaces', rules('self > 0'), rules(' self  > 0 ')],
  ['a multiple that divides the old one', { ...whole, multipleOf: 4 }, { ...whole, multipleOf: 2 }],
  ['nulls', text, { ...text, nullable: true }],
  [
    'an alternative',
    { ...text, anyOf: [{ maxLength: 1 }] },
    { ...text, anyOf: [{ maxLength: 1 }, { minLength: 4 }] },
  ],
  ['unknown fields that are kept', object({}), open],
  [
    'a field of an object that gets unknown fields',
    object({}),
    { ...open, properties: { a: text } },
  ],
  [
    'an embedded resource with another description',
    { ...open, 'x-kubernetes-embedded-resource': true },
    { ...open, 'x-kubernetes-embedded-resource': true, description: 'A resource.' },
  ],
  ['the default list type, written out', list({}), list({ 'x-kubernetes-list-type': 'atomic' })],
];

function change(
  rulesOf: readonly string[],
  before: Schema,
  after: Schema,
  rest: Pick<SchemaCase, 'stored' | 'effect'>,
): SchemaCase {
  return { rules: rulesOf, before, after, ...rest };
}

function bound(
  base: Schema,
  limits: Schema,
  stored: unknown,
  old: Schema = {},
): readonly SchemaCase[] {
  const [before, after] = [
    { ...base, ...old },
    { ...base, ...limits },
  ];
  return [{ rules: ['bounds-tightened'], before, after, stored, effect: 'refused' }];
}

/** Defines the kind Thing with a schema of `spec.field`. */
export function thingWith(field: Schema) {
  const schema: Schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { field } } },
  };
  return defineResource({
    group: 'example.com',
    kind: 'Thing',
    versions: [{ name: 'v1', schema: s.typed<{ spec: { field?: unknown } }>(schema) }],
  });
}

/** The definition of {@link thingWith}. */
export function crdWith(field: Schema): CustomResourceDefinition {
  return thingWith(field).crd;
}

/** An object of {@link thingWith}. */
export function thing(field: unknown, name = 'a'): KubernetesObject {
  const metadata = { name, namespace: 'default' };
  return {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata,
    spec: { field },
  } as KubernetesObject;
}
