import { expect } from 'chai';
import fc from 'fast-check';
import isNull from 'lodash/isNull.js';
import mapValues from 'lodash/mapValues.js';
import pick from 'lodash/pick.js';
import omitBy from 'lodash/omitBy.js';
import { z } from 'zod';
import { defineResource, s } from '../../lib/crd/index.js';
import { isJsonObject } from '../../lib/object/index.js';
import type { Schema } from '../../lib/object/index.js';

const git = z.object({ type: z.literal('git'), url: z.string() });
const image = z.object({ type: z.literal('image'), tag: z.string().max(3) });
const item = z.object({ name: z.string().min(1), weight: z.number().gt(0).optional() });

const shopSpec = z.object({
  size: z.enum(['small', 'large']),
  replicas: z.int32().min(0).default(1),
  owner: z.string().nullable().optional(),
  tier: z.enum(['a', 'git']).nullable().optional(),
  tags: z.record(z.string(), z.string().max(3)).optional(),
  source: z.discriminatedUnion('type', [git, image]).optional(),
  port: z.union([z.int().min(1), z.string()]).optional(),
  either: z.union([z.object({ a: z.string() }), z.object({ b: z.int() })]).optional(),
  items: z
    .array(item)
    .max(3)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
    .optional(),
});

const shop = defineResource({
  ...{ group: 'example.com', kind: 'Shop' },
  versions: [{ name: 'v1', schema: s.object({ spec: s.fromStandard(shopSpec) }) }],
});

function shopOf(spec: unknown): never {
  const type = { apiVersion: 'example.com/v1', kind: 'Shop', metadata: { name: 'a' } };
  return { ...type, spec } as never;
}

describe('schemas of libraries such as zod in defineResource', () => {
  it('give objects of the kind the types that zod infers', () => {
    const { spec } = shop.object({ metadata: { name: 'a' }, spec: { size: 'small' } });
    const replicas: number = spec.replicas;
    const owner: string | null | undefined = spec.owner;
    expect([replicas, owner]).to.deep.equal([1, undefined]);
    // @ts-expect-error: not one of the enum
    shop.object({ metadata: { name: 'a' }, spec: { size: 'huge' } });
  });

  it('accept and refuse the same values as zod', () => {
    const text = fc.constantFrom('', 'a', 'git', 'image', 'toolong');
    const number = fc.constantFrom(-1, 0, 1, 1.5, 2 ** 31);
    const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null));
    const record = (...names: readonly string[]): fc.Arbitrary<object> =>
      fc.record(Object.fromEntries(names.map((name) => [name, scalar])), { requiredKeys: [] });
    const wild = <T>(likely: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
      fc.oneof({ weight: 12, arbitrary: likely }, { weight: 1, arbitrary: scalar });
    // Items of a list map differ in their key, which zod does not check.
    const items = fc.uniqueArray(record('name', 'weight'), {
      selector: (one) => JSON.stringify((one as { name?: unknown }).name),
      maxLength: 4,
    });
    const all = fc.record({
      size: wild(fc.constantFrom('small', 'large')),
      replicas: wild(fc.constantFrom(0, 3)),
      owner: wild(text),
      tier: wild(text),
      tags: wild(record('a', 'b')),
      // A field has the same type in all alternatives, so `url` and `tag` are checked whichever alternative applies.
      source: wild(fc.record({ type: scalar, url: text, tag: text }, { requiredKeys: [] })),
      port: wild(fc.constantFrom(80, 'http')),
      either: wild(fc.oneof(record('a'), record('b'))),
      items: wild(items),
    });
    // Few fields at once: most values with all fields would be invalid.
    const some = fc.subarray(
      ['size', 'replicas', 'owner', 'tier', 'tags', 'source', 'port', 'either', 'items'],
      { maxLength: 2 },
    );
    const values = fc
      .tuple(all, some)
      .map(([value, names]) => ({ size: 'small', ...pick(value, names) }));
    const verdicts = { valid: 0, invalid: 0 };
    fc.assert(
      fc.property(values, (value) => {
        const isValid = shopSpec.safeParse(withoutDroppedNulls(value)).success;
        verdicts[isValid ? 'valid' : 'invalid']++;
        expect(shop.validate(shopOf(value)), JSON.stringify(value)).to.satisfy(
          (causes: readonly unknown[]) => (causes.length === 0) === isValid,
        );
      }),
      { numRuns: 1_000 },
    );
    expect(Math.min(verdicts.valid, verdicts.invalid)).to.be.greaterThan(50);
  });

  it('keep x-kubernetes keywords and nullable', () => {
    const { properties = {} } = shop.schema().properties?.['spec'] ?? {};
    expect(properties['items']).to.include({ 'x-kubernetes-list-type': 'map' });
    expect(properties['port']).to.include({ 'x-kubernetes-int-or-string': true });
    expect(properties['owner']).to.deep.equal({ type: 'string', nullable: true });
  });

  it('are refused if they transform values when they parse them', () => {
    for (const schema of [z.date(), z.string().transform(Number), z.coerce.bigint()]) {
      expect(() => s.fromStandard(schema)).to.throw(/zod has no JSON Schema for it/);
    }
  });

  it('are refused if they change the type of a value', () => {
    const flags = z.object({ flag: z.stringbool().optional() });
    expect(() => s.fromStandard(flags)).to.throw(/zod: it changes the type of flag, but/);
    expect(() => s.fromStandard(z.array(z.stringbool()))).to.throw(/changes the type of \[\]/);
    expect(() => s.fromStandard(z.record(z.string(), z.stringbool()))).to.throw(/type of \.\*/);
    expect(() => s.fromStandard(z.stringbool())).to.throw(/changes the type of values/);
  });

  it('are refused if a field has the default null, which nothing fills in', () => {
    const owner = z.string().nullable().default(null);
    expect(() => s.fromStandard(z.object({ owner }))).to.throw(
      /at properties\.owner: the API server does not fill in the default null: make it optional/,
    );
  });

  const typed = (type: string, own: object, required = ['type']) => {
    return { type: 'object', properties: { type: { const: type }, ...own }, required };
  };
  const byDefault = (value: number) => ({ type: 'integer', default: value });
  const sized = { size: { type: 'integer', minimum: 1 } };
  const named = { name: { type: 'string', minLength: 2 } };
  /** Returns a schema of two alternatives, one for each of `types`. The restrictions of each are in `junctor`. */
  const alternatives = (
    junctor: 'anyOf' | 'oneOf',
    types: readonly string[],
    required = ['type'],
  ) => {
    const [one, other] = types.map((type) => ({ type: { enum: [type] } }));
    return {
      type: 'object',
      properties: { type: { type: 'string' }, size: { type: 'integer' }, name: { type: 'string' } },
      [junctor]: [
        { required: ['type'], properties: { ...one, size: { minimum: 1 } } },
        { required, properties: { ...other, name: { minLength: 2 } } },
      ],
    } as Schema;
  };
  const either: Schema = {
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
  };
  const converted: Record<string, readonly [json: object | boolean, schema: Schema]> = {
    'a reference': [
      { $ref: '#/$defs/Port', $defs: { Port: { type: 'integer', maximum: 9 } }, title: 'Port' },
      { type: 'integer', maximum: 9, description: 'Port' },
    ],
    'a constant': [{ const: 'a' }, { type: 'string', enum: ['a'] }],
    'an exclusive limit': [
      { type: 'number', exclusiveMinimum: 1 },
      { type: 'number', minimum: 1, exclusiveMinimum: true },
    ],
    'null among the types': [{ type: ['string', 'null'] }, { type: 'string', nullable: true }],
    'an alternative of null': [
      { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      { type: 'integer', nullable: true },
    ],
    'a set': [
      { type: 'array', items: { type: 'string' }, uniqueItems: true },
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    ],
    'any value': [true, { 'x-kubernetes-preserve-unknown-fields': true }],
    'any object': [
      { type: 'object' },
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    ],
    'a map': [
      { type: 'object', additionalProperties: { type: 'string' } },
      { type: 'object', additionalProperties: { type: 'string' } },
    ],
    'schemas of allOf that all hold': [
      { allOf: [{ type: 'string', minLength: 1 }, { pattern: '^a' }] },
      { type: 'string', allOf: [{ minLength: 1 }, { pattern: '^a' }] },
    ],
    'schemas of allOf whose type is beside allOf': [
      { type: 'number', allOf: [{ minimum: 1 }, { enum: [1, 2] }] },
      { type: 'number', allOf: [{ minimum: 1 }, { enum: [1, 2] }] },
    ],
    'schemas of allOf without a type': [
      { allOf: [{ minLength: 1 }, { pattern: '^a' }] },
      {
        'x-kubernetes-preserve-unknown-fields': true,
        allOf: [{ minLength: 1 }, { pattern: '^a' }],
      },
    ],
    'schemas of allOf of which one restricts no value': [
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } } },
          { type: 'object', properties: { b: { type: 'string' } }, minProperties: 1 },
        ],
      },
      {
        ...{ type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
        allOf: [{ minProperties: 1 }],
      },
    ],
    'alternatives that a required constant tells apart': [
      { oneOf: [typed('a', sized), typed('b', named)] },
      alternatives('oneOf', ['a', 'b']),
    ],
    'alternatives of which several may hold': [
      { anyOf: [typed('a', sized), typed('b', named)] },
      alternatives('anyOf', ['a', 'b']),
    ],
    'alternatives with an optional constant': [
      { oneOf: [typed('a', sized), typed('b', named, [])] },
      alternatives('anyOf', ['a', 'b'], []),
    ],
    'alternatives with the same constant': [
      { oneOf: [typed('a', sized), typed('a', named)] },
      alternatives('anyOf', ['a', 'a']),
    ],
    'lists as alternatives': [
      {
        anyOf: [
          { type: 'array', items: { type: 'string', minLength: 1 } },
          { type: 'array', items: { type: 'string', pattern: '^x' } },
        ],
      },
      {
        ...{ type: 'array', items: { type: 'string' } },
        anyOf: [{ items: { minLength: 1 } }, { items: { pattern: '^x' } }],
      },
    ],
    'restrictions beside alternatives': [
      {
        default: 'ab',
        minLength: 2,
        anyOf: [
          { type: 'string', pattern: '^a' },
          { type: 'string', pattern: '^b' },
        ],
      },
      {
        ...{ type: 'string', default: 'ab' },
        allOf: [{ minLength: 2 }, { anyOf: [{ pattern: '^a' }, { pattern: '^b' }] }],
      },
    ],
    'constants as alternatives': [
      { anyOf: [{ const: 'a' }, { enum: ['b', 'a'] }] },
      { type: 'string', enum: ['a', 'b'] },
    ],
    'an integer or a constant text': [
      { anyOf: [{ type: 'integer', minimum: 1 }, { const: 'auto' }] },
      { ...either, minimum: 1 },
    ],
    'constants of both types': [
      { anyOf: [{ const: 1 }, { const: 'auto' }] },
      { ...either, enum: [1, 'auto'] },
    ],
    'constant integers': [{ enum: [1, 2] }, { type: 'integer', enum: [1, 2] }],
    'an integer or a text': [
      { type: ['integer', 'string'] },
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    ],
    'constants of two types': [
      { enum: [1, 'auto'] },
      {
        ...{ enum: [1, 'auto'], 'x-kubernetes-int-or-string': true },
        anyOf: [{ type: 'integer' }, { type: 'string' }],
      },
    ],
    'a constant fraction': [{ const: 1.5 }, { type: 'number', enum: [1.5] }],
    'a constant list': [
      { const: ['a'] },
      {
        ...{ type: 'array', enum: [['a']] },
        items: { 'x-kubernetes-preserve-unknown-fields': true },
      },
    ],
    'null among the constants': [
      { enum: [null, 'a'] },
      { type: 'string', nullable: true, allOf: [{ enum: ['a'] }] },
    ],
    'a nullable enum of OpenAPI': [
      { type: 'string', enum: ['a'], nullable: true },
      { type: 'string', nullable: true, allOf: [{ enum: ['a'] }] },
    ],
    'an exclusive limit beside a stricter one': [
      { type: 'number', minimum: 5, exclusiveMinimum: 3, maximum: 6, exclusiveMaximum: 8 },
      { type: 'number', minimum: 5, maximum: 6 },
    ],
    'an exclusive limit beside a weaker one': [
      { type: 'number', minimum: 3, exclusiveMinimum: 3, maximum: 9, exclusiveMaximum: 8 },
      {
        ...{ type: 'number', minimum: 3, exclusiveMinimum: true },
        ...{ maximum: 8, exclusiveMaximum: true },
      },
    ],
    'alternatives that only require fields': [
      {
        ...{ type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      {
        ...{ type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
        allOf: [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }],
      },
    ],
    'alternatives of which one names no field': [
      {
        anyOf: [
          { type: 'object', minProperties: 1 },
          { type: 'object', properties: { a: { type: 'string' } } },
        ],
      },
      {
        type: 'object',
        properties: { a: { 'x-kubernetes-preserve-unknown-fields': true } },
        'x-kubernetes-preserve-unknown-fields': true,
      },
    ],
    'schemas of allOf that name no field': [
      {
        allOf: [
          { type: 'object', minProperties: 1 },
          { type: 'object', maxProperties: 2 },
        ],
      },
      {
        ...{ type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        allOf: [{ minProperties: 1 }, { maxProperties: 2 }],
      },
    ],
    'an object without any field': [
      { type: 'object', additionalProperties: false },
      { type: 'object', properties: {} },
    ],
    'a default that is null': [
      { type: ['string', 'null'], default: null },
      { type: 'string', nullable: true },
    ],
    'the same default in each alternative': [
      { anyOf: [typed('a', { n: byDefault(1) }), typed('b', { n: byDefault(1) })] },
      {
        type: 'object',
        properties: { type: { type: 'string' }, n: { type: 'integer', default: 1 } },
        anyOf: [
          { required: ['type'], properties: { type: { enum: ['a'] } } },
          { required: ['type'], properties: { type: { enum: ['b'] } } },
        ],
      },
    ],
    'fields without a type': [
      { required: ['a'], properties: { a: { type: 'string' } } },
      { type: 'object', required: ['a'], properties: { a: { type: 'string' } } },
    ],
    base64: [
      { type: 'string', contentEncoding: 'base64' },
      { type: 'string', format: 'byte' },
    ],
    'a format with a pattern that Go does not have': [
      { type: 'string', format: 'email', pattern: '^(?!a)' },
      { type: 'string', format: 'email' },
    ],
  };
  for (const [what, [json, schema]] of Object.entries(converted)) {
    it(`convert ${what}`, () => {
      expect(s.fromJsonSchema(json)).to.deep.equal(schema);
    });
  }

  const refused: Record<string, readonly [json: object | boolean, message: RegExp]> = {
    'a tuple': [
      { type: 'object', properties: { a: { type: 'array', prefixItems: [{ type: 'string' }] } } },
      /at properties\.a: prefixItems has no counterpart/,
    ],
    recursion: [
      { type: 'object', properties: { a: { $ref: '#' } } },
      /at properties\.a\.properties\.a: # contains itself/,
    ],
    'a missing reference': [{ $ref: '#/$defs/None' }, /#\/\$defs\/None refers to nothing/],
    'two types': [{ type: ['string', 'object'] }, /a value has one type, got string and object/],
    'alternatives of two types': [
      { anyOf: [{ type: 'string' }, { type: 'boolean' }] },
      /alternatives have the types string and boolean/,
    ],
    'no value': [false, /accepts no value/],
    'null alone': [{ anyOf: [{ type: 'null' }] }, /accepts null only: leave the field out/],
    'maps of different values': [
      {
        anyOf: [
          { type: 'object', additionalProperties: { type: 'string' } },
          { type: 'object', additionalProperties: { type: 'integer' } },
        ],
      },
      /alternatives differ in additionalProperties: the values of a map have one schema/,
    ],
    'different defaults of alternatives': [
      { anyOf: [typed('a', { n: byDefault(1) }), typed('b', { n: byDefault(2) })] },
      /alternatives at n differ in the default: a field has one default/,
    ],
    'a default of one alternative only': [
      { anyOf: [typed('a', { n: byDefault(1) }), typed('b', { n: { type: 'integer' } })] },
      /alternatives at n differ in the default: a field has one default/,
    ],
    'a pattern that Go does not have': [
      { type: 'string', pattern: '(?=a)' },
      /pattern is not a regular expression of Go/,
    ],
    'a schema of not that accepts every value': [
      { type: 'object', properties: { a: { type: 'string', not: { title: 'A' } } } },
      /at properties\.a\.not: restricts no values/,
    ],
    'properties beside a map': [
      { type: 'object', properties: { a: true }, additionalProperties: { type: 'string' } },
      /has properties and additionalProperties/,
    ],
  };
  for (const [what, [json, message]] of Object.entries(refused)) {
    it(`refuse ${what}`, () => {
      expect(() => s.fromJsonSchema(json))
        .to.throw(message)
        .with.property('code', 'InvalidDefinition');
    });
  }
});

const nullable = ['owner', 'tier'];

/** Drops null members, except of nullable fields, as the API server does. */
function withoutDroppedNulls(value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(
    ([name, one]) => one !== null || nullable.includes(name),
  );
  return mapValues(Object.fromEntries(members), withoutNulls);
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  return isJsonObject(value) ? mapValues(omitBy(value, isNull), withoutNulls) : value;
}
