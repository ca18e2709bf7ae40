import { expect } from 'chai';
import { minimalValue } from '../../../lib/crd/samples/minimal-value.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import type { TypedSchema } from '../../../lib/crd/index.js';
import type { Schema } from '../../../lib/object/index.js';

/** Returns the content generated for a schema of `spec`, and the errors of its validation. */
function madeFor(spec: TypedSchema<unknown>): { readonly spec: unknown; readonly causes: object } {
  const Thing = defineResource({
    group: 'example.com',
    kind: 'Thing',
    versions: [{ name: 'v1', schema: s.object({ spec }) }],
  });
  const content = minimalValue(Thing.schema()) as { spec: unknown };
  const object = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } };
  return { spec: content.spec, causes: Thing.validate({ ...object, ...content }) };
}

interface Nested {
  readonly child?: Nested;
}

describe('minimalValue', () => {
  it('contains only required fields and fields with a default', () => {
    const { spec } = madeFor(
      s.object({
        engine: s.string({ enum: ['fast', 'cheap'] }),
        replicas: s.defaulted(s.integer(), 3),
        note: s.optional(s.string()),
        nested: s.object({ on: s.boolean() }),
        tags: s.map(s.string()),
        hosts: s.array(s.string()),
      }),
    );
    expect(spec).to.deep.equal({
      engine: 'fast',
      replicas: 3,
      nested: { on: false },
      tags: {},
      hosts: [],
    });
  });

  for (const [what, schema] of [
    ['a minimum', s.integer({ minimum: 5 })],
    ['an exclusive minimum', s.integer({ minimum: 5, exclusiveMinimum: true })],
    ['a negative maximum', s.number({ maximum: -2 })],
    ['a multiple', s.integer({ minimum: 4, multipleOf: 5 })],
    ['an exact length', s.string({ minLength: 12, maxLength: 12 })],
    ['a short string', s.string({ maxLength: 2 })],
    ['a date-time', s.string({ format: 'date-time' })],
    ['a list', s.array(s.string({ minLength: 9 }), { minItems: 2, listType: 'set' })],
    ['a list of enums', s.array(s.string({ enum: ['a', 'b'] }), { minItems: 2, listType: 'set' })],
    [
      'a list with keys',
      s.array(s.object({ name: s.string() }), {
        minItems: 2,
        listType: 'map',
        listMapKeys: ['name'],
      }),
    ],
    ['a map', s.map(s.integer(), { minProperties: 2 })],
    ['a DNS name', s.string({ pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', minLength: 20 })],
    ['a version', s.string({ pattern: String.raw`^v?\d+\.\d+\.\d+(-[a-z]+)?$` })],
    ['alternatives in a pattern', s.string({ pattern: '^(?:https?|oci)://[^/]+/.{3,}$' })],
    [
      'a pattern and both limits of the length',
      s.string({ pattern: '^[b-d]+$', minLength: 3, maxLength: 3 }),
    ],
    ['a pattern and the least length', s.string({ pattern: '^[b-d]*$', minLength: 4 })],
    ['a pattern and the greatest length', s.string({ pattern: '^[a-z]{2,9}$', maxLength: 3 })],
    ['a quantity', s.string({ pattern: '^[0-9]+(Ki|Mi|Gi)$' })],
    ['a cron schedule', s.string({ pattern: String.raw`^(\S+\s){4}\S+$` })],
    ['a character class with a bracket', s.string({ pattern: String.raw`^[\]x]{2}\.[^a-z]$` })],
  ] as const) {
    it(`satisfies ${what}`, () => {
      expect(madeFor(schema).causes).to.deep.equal([]);
    });
  }

  const named = s.object({ name: s.string() });
  const byPort = s.object({ port: s.integer(), name: s.string() });
  const three: Schema = {
    properties: { a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'integer' } },
  };
  const values: readonly (readonly [title: string, schema: Schema, value: unknown])[] = [
    ['an integer', { type: 'integer' }, 1],
    ['a minimum', { type: 'integer', minimum: 5 }, 5],
    ['a maximum of zero', { type: 'integer', maximum: 0 }, 0],
    ['a fraction', { type: 'number', multipleOf: 0.5 }, 0.5],
    ['an excluded multiple', s.integer({ minimum: 5, exclusiveMinimum: true, multipleOf: 5 }), 10],
    ['an excluded minimum', s.integer({ minimum: 4, exclusiveMinimum: true, multipleOf: 5 }), 5],
    ['a constant', { enum: [3, 4] }, 3],
    ['an empty default', { type: 'string', default: '' }, ''],
    [
      'a pattern with counts and a length',
      s.string({ pattern: '^b{3}c{2,4}$', minLength: 6 }),
      'bbbccc',
    ],
    [
      'a pattern with a count and a length',
      s.string({ pattern: '^b{3}c*$', minLength: 5 }),
      'bbbcc',
    ],
    ['a pattern with a least count', s.string({ pattern: '^b{2,}$', minLength: 4 }), 'bbbb'],
    ['a long text', s.string({ minLength: 9 }), 'samplexxx'],
    ['a short text', s.string({ maxLength: 2 }), 'sa'],
    ['equal items', s.array(s.string(), { minItems: 2 }), ['sample', 'sample']],
    ['a set', s.array(s.string(), { minItems: 2, listType: 'set' }), ['sample', 'sample1']],
    ['a set of numbers', s.array(s.integer(), { minItems: 2, listType: 'set' }), [1, 2]],
    [
      'unique items',
      { type: 'array', items: { type: 'string' }, uniqueItems: true, minItems: 3 },
      ['sample', 'sample1', 'sample2'],
    ],
    ['fewer constants than items', s.array(s.string({ enum: ['a'] }), { minItems: 2 }), ['a', 'a']],
    [
      'entries with a key',
      s.array(named, { minItems: 2, listType: 'map', listMapKeys: ['name'] }),
      [{ name: 'sample' }, { name: 'sample1' }],
    ],
    [
      'entries with a number as their key',
      s.array(byPort, { minItems: 2, listType: 'map', listMapKeys: ['port'] }),
      [
        { port: 1, name: 'sample' },
        { port: 2, name: 'sample' },
      ],
    ],
    ['items without a schema', { type: 'array', minItems: 1 }, [{}]],
    ['a map', s.map(s.integer(), { minProperties: 2 }), { sample: 1, sample0: 1 }],
    ['an open object', { additionalProperties: true, minProperties: 1 }, { sample: {} }],
    ['the first optional fields', { ...three, minProperties: 1 }, { a: 'sample' }],
    [
      'an optional field beside the required one',
      { ...three, required: ['c'], minProperties: 2 },
      { c: 1, a: 'sample' },
    ],
  ];
  for (const [title, schema, value] of values) {
    it(`is the smallest valid value for ${title}`, () => {
      expect(minimalValue(schema)).to.deep.equal(value);
    });
  }

  it('is a typical text for each string format', () => {
    const texts = {
      byte: 'c2FtcGxl',
      cidr: '10.0.0.0/24',
      date: '2026-01-01',
      'date-time': '2026-01-01T00:00:00Z',
      datetime: '2026-01-01T00:00:00Z',
      duration: '1h',
      email: 'sample@example.com',
      hostname: 'sample.example.com',
      ipv4: '10.0.0.1',
      ipv6: 'fd00::1',
      mac: '00:00:5e:00:53:01',
      uri: 'https://example.com',
      uuid: '00000000-0000-4000-8000-000000000000',
      other: 'sample',
    };
    const made = Object.keys(texts).map((format) => minimalValue({ type: 'string', format }));
    expect(made).to.deep.equal(Object.values(texts));
  });

  it('is the simplest text that a pattern allows', () => {
    const texts = {
      '^v?\\d+\\.\\d+(-[a-z]+)?$': '0.0',
      '^(?:https?|oci)://[^/]+/.{3,}$': 'http://a/aaa',
      '^(?<x>b|c)+$': 'b',
      '^(b|c){2,}$': 'bb',
      '^b{3}c{2,4}$': 'bbbcc',
      '^b*?c+?d??$': 'c',
      '^\\D\\W\\S\\s\\w\\d\\t\\n\\.\\bx$': 'a-a a0\t\n.x',
      '^[\\]x]{2}\\.[^a-z]$': ']].A',
      '^[^a0A !]$': '"',
      '^[^ -}]$': '~',
      'b$|c': 'b',
      '^.x$': 'ax',
      // JavaScript cannot parse the first pattern, and no text matches the second.
      'x(': 'sample',
      '^(?=b)c$': 'sample',
    };
    const made = Object.keys(texts).map((pattern) => minimalValue({ type: 'string', pattern }));
    expect(made).to.deep.equal(Object.values(texts));
  });

  it('satisfies all schemas of allOf, and the first of anyOf and of oneOf', () => {
    const value = minimalValue({
      type: 'object',
      required: ['own'],
      properties: { own: { type: 'string' } },
      allOf: [{ required: ['a'], properties: { a: { type: 'boolean' } } }],
      anyOf: [
        { required: ['b'], properties: { b: { type: 'integer' } } },
        { required: ['left'], properties: { left: { type: 'integer' } } },
      ],
      oneOf: [{ properties: { own: { minLength: 8 } } }, { properties: { own: { maxLength: 2 } } }],
    });
    expect(value).to.deep.equal({ own: 'samplexx', a: false, b: 1 });
  });

  it('contains a whole object where the schema requires one', () => {
    const schema = { type: 'object', 'x-kubernetes-embedded-resource': true } as const;
    expect(minimalValue(schema)).to.deep.equal({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'sample' },
    });
    expect(minimalValue({ 'x-kubernetes-int-or-string': true })).to.equal(1);
  });

  it('stops at a limited depth in a schema that contains itself', () => {
    const properties: Record<string, Schema> = {};
    const tree: Schema = { type: 'object', required: ['child'], properties };
    properties['child'] = tree;
    let depth = 0;
    let value = minimalValue(tree) as Nested;
    for (; value.child !== undefined; depth++) value = value.child;
    expect(value).to.deep.equal({});
    expect(depth).to.equal(21);
  });
});
