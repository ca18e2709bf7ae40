import { expect } from 'chai';
import { z } from 'zod';
import { defineResource, s } from '../../../lib/crd/index.js';

const item = s.object({ name: s.string(), weight: s.optional(s.number()) });
const spec = s.object({
  size: s.string({ enum: ['small', 'large'] }),
  replicas: s.defaulted(s.integer({ minimum: 0 }), 1),
  owner: s.optional(s.nullable(s.string())),
  tags: s.optional(s.map(s.string({ maxLength: 3 }))),
  port: s.optional(s.intOrString()),
  items: s.optional(s.array(item, { listType: 'map', listMapKeys: ['name'] })),
});
const shop = defineResource({
  ...{ group: 'example.com', kind: 'Shop' },
  versions: [{ name: 'v1', schema: s.object({ spec }) }],
});

function shopOf(value: object): object {
  const type = { apiVersion: 'example.com/v1', kind: 'Shop', metadata: { name: 'a' } };
  return { ...type, spec: value };
}

describe('the Standard Schema interface of a kind', () => {
  it('returns the object as the API server stores it', async () => {
    const result = await shop['~standard'].validate(shopOf({ size: 'small', unknown: 1 }));
    expect(result).to.deep.equal({ value: shopOf({ size: 'small', replicas: 1 }) });
  });

  it('names the path of each issue', async () => {
    const given = shopOf({ size: 'small', items: [{ name: 'a', weight: 'heavy' }] });
    const { issues = [] } = await shop['~standard'].validate(given);
    expect(issues.map(({ path }) => path)).to.deep.equal([['spec', 'items', 0, 'weight']]);
  });

  it('does not split a name with dots in a path', async () => {
    const given = shopOf({
      size: 'small',
      tags: { 'example.com/team': 'toolong', 'example.com': 7 },
    });
    const { issues = [] } = await shop['~standard'].validate(given);
    expect(issues.map(({ path }) => path)).to.deep.equal([
      ['spec', 'tags', 'example.com/team'],
      ['spec', 'tags', 'example.com'],
    ]);
  });

  it('accepts null in its JSON Schema for a nullable field with anyOf or oneOf', () => {
    const one = s.nullable(s.object({}, { oneOf: [{ required: ['a'] }, { required: ['b'] }] }));
    const size = s.nullable(s.string({ enum: ['small'] }));
    const Box = defineResource({
      ...{ group: 'example.com', kind: 'Box', plural: 'boxes' },
      versions: [
        { name: 'v1', schema: s.object({ spec: s.object({ size, one: s.optional(one) }) }) },
      ],
    });
    const read = z.fromJSONSchema(Box['~standard'].jsonSchema.input({ target: 'draft-2020-12' }));
    const boxOf = (value: object) => ({ ...shopOf(value), kind: 'Box' });
    expect(read.safeParse(boxOf({ size: null, one: null })).success).to.equal(true);
    expect(read.safeParse(boxOf({ size: 'huge' })).success).to.equal(false);
  });

  it('refuses values that are not objects of the kind', async () => {
    for (const value of [null, 7, { kind: 'Shop' }, { apiVersion: 'v1', kind: 'Pod' }]) {
      const { issues = [] } = await shop['~standard'].validate(value);
      expect(issues).to.have.length(1);
    }
  });

  it('converts each keyword to JSON Schema', () => {
    const schema = s.object({
      spec: s.object({
        low: s.number({ minimum: 1, exclusiveMinimum: true, maximum: 5 }),
        high: s.nullable(s.integer({ minimum: 1, maximum: 5, exclusiveMaximum: true })),
        port: s.nullable(s.intOrString({ maximum: 9 })),
        any: s.unknown(),
        not: s.string({ not: { enum: ['a'] } }),
        all: s.string({ allOf: [{ minLength: 1 }], anyOf: [{ pattern: 'a' }] }),
        list: s.array(s.nullable(s.string())),
        map: s.map(s.boolean()),
      }),
    });
    const Box = defineResource({
      ...{ group: 'example.com', kind: 'Box', plural: 'boxes' },
      versions: [{ name: 'v1', schema }],
    });
    const { version, vendor, jsonSchema } = Box['~standard'];
    expect([version, vendor]).to.deep.equal([1, 'operator-builder']);
    const specOf = (json: Record<string, unknown>) =>
      (json as { properties: { spec: { properties: object } } }).properties.spec.properties;
    for (const target of ['draft-07', 'draft-2020-12'] as const) {
      expect(specOf(jsonSchema.output({ target }))).to.deep.equal({
        low: { type: 'number', exclusiveMinimum: 1, maximum: 5 },
        high: { type: ['integer', 'null'], minimum: 1, exclusiveMaximum: 5 },
        port: {
          type: ['integer', 'string', 'null'],
          maximum: 9,
          'x-kubernetes-int-or-string': true,
        },
        any: { 'x-kubernetes-preserve-unknown-fields': true },
        not: { type: 'string', not: { enum: ['a'] } },
        all: { type: 'string', allOf: [{ minLength: 1 }], anyOf: [{ pattern: 'a' }] },
        list: { type: 'array', items: { type: ['string', 'null'] } },
        map: { type: 'object', additionalProperties: { type: 'boolean' } },
      });
    }
    const plain = jsonSchema.input({ target: 'openapi-3.0' });
    expect(plain).to.deep.equal(Box.schema());
    expect(plain).not.to.equal(Box.schema());
  });

  it('has a JSON Schema that other libraries read', () => {
    const json = shop['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
    const read = z.fromJSONSchema(json);
    expect(read.safeParse(shopOf({ size: 'small', port: 'http', owner: null })).success).to.equal(
      true,
    );
    expect(read.safeParse(shopOf({ size: 'small', owner: 7 })).success).to.equal(false);
    expect(read.safeParse(shopOf({ size: 'small', replicas: -1 })).success).to.equal(false);
    expect(() => shop['~standard'].jsonSchema.input({ target: 'draft-04' })).to.throw(
      /got draft-04/,
    );
  });
});
