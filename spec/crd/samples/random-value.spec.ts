import { expect } from 'chai';
import { defineResource, s } from '../../../lib/crd/index.js';
import { randomValue } from '../../../lib/crd/internal.js';
import type { Schema } from '../../../lib/object/index.js';
import { seededRandom } from '../../../lib/system/index.js';

const draws = 400;

/** Returns many random values of a schema. */
function drawn(schema: Schema): unknown[] {
  const random = seededRandom(1);
  return Array.from({ length: draws }, () => randomValue(schema, random));
}

/** Returns the different values that occur, as sorted JSON. */
function different(schema: Schema): string[] {
  return [...new Set(drawn(schema).map((value) => JSON.stringify(value)))].sort();
}

/** Returns the lengths of lists and texts, or the numbers of fields that occur, in order. */
function sizes(schema: Schema): number[] {
  const sizeOf = (value: unknown): number =>
    typeof value === 'string' ? Array.from(value).length : Object.keys(value as object).length;
  return [...new Set(drawn(schema).map(sizeOf))].sort((one, other) => one - other);
}

/** Returns the lowest and the highest number that occur. */
function range(schema: Schema): number[] {
  const numbers = drawn(schema) as number[];
  return [Math.min(...numbers), Math.max(...numbers)];
}

const word = s.string({ enum: ['a', 'b'] });

describe('randomValue', () => {
  const valid: Record<string, Schema> = {
    'strings with a pattern': s.string({ pattern: '^[a-z]{2,4}(-[0-9]+)?$', maxLength: 6 }),
    'a pattern that only few strings match': s.string({ pattern: '^v1(alpha|beta)[1-9]$' }),
    formats: s.object({
      ...{ time: s.string({ format: 'date-time' }), address: s.string({ format: 'ipv6' }) },
      ...{ mac: s.string({ format: 'mac' }), id: s.string({ format: 'uuid' }) },
    }),
    'exclusive limits': s.object({
      low: s.integer({ minimum: 2, exclusiveMinimum: true, maximum: 5 }),
      high: s.integer({ minimum: 2, maximum: 5, exclusiveMaximum: true }),
      both: s.number({ minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true }),
    }),
    'a multiple': s.integer({ multipleOf: 5, minimum: 3, maximum: 31 }),
    'a limit far from zero': s.object({
      low: s.integer({ minimum: 1000 }),
      high: s.integer({ maximum: -1000 }),
    }),
    sets: s.array(word, { listType: 'set', maxItems: 4 }),
    'sets with few values': s.array(word, { listType: 'set', minItems: 2 }),
    'list maps': s.array(s.object({ name: word, port: s.defaulted(s.integer(), 80) }), {
      ...{ listType: 'map', listMapKeys: ['name', 'port'] },
      minItems: 1,
    }),
    maps: s.map(s.integer({ minimum: 1 }), { minProperties: 1, maxProperties: 2 }),
    'optional fields of which some must be present': s.object(
      { a: s.optional(s.string()), b: s.optional(s.string()), c: s.optional(s.string()) },
      { minProperties: 2 },
    ),
    null: s.nullable(s.string({ maxLength: 2 })),
    'an integer or a string': s.intOrString({ pattern: '^[0-9]+%$' }),
    'a whole object': s.embeddedResource(),
    alternatives: s.object(
      { a: s.optional(s.string()), b: s.optional(s.string()) },
      { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    ),
    'any value': s.unknown(),
    'lists of lists': s.array(s.array(s.boolean(), { minItems: 1 }), { maxItems: 2 }),
  };
  for (const [what, schema] of Object.entries(valid)) {
    it(`is always valid: ${what}`, () => {
      const Thing = defineResource({
        ...{ group: 'example.com', kind: 'Thing' },
        versions: [{ name: 'v1', schema: s.object({ spec: s.typed<unknown>(schema) }) }],
      });
      for (const spec of drawn(schema)) {
        const object = { ...{ apiVersion: 'example.com/v1', kind: 'Thing' }, spec };
        const causes = Thing.validate({ ...object, metadata: { name: 'a' } });
        expect(causes, JSON.stringify(spec)).to.deep.equal([]);
      }
    });
  }

  it('can return both limits of a number, and values between them', () => {
    expect(different({ type: 'integer', minimum: -1, maximum: 2 })).to.have.members([
      '-1',
      '0',
      '1',
      '2',
    ]);
    expect(different({ type: 'number', minimum: 0, maximum: 1 })).to.have.members([
      '0',
      '0.5',
      '1',
    ]);
    expect(different({ type: 'integer', multipleOf: 4, minimum: 1, maximum: 9 })).to.have.members([
      '4',
      '8',
    ]);
    const open = { minimum: 0, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: true };
    expect(different({ type: 'integer', ...open })).to.have.members(['1', '2']);
  });

  it('returns numbers around zero, or near the limit if there is only one', () => {
    expect(range({ type: 'integer' })).to.deep.equal([-5, 100]);
    expect(range({ type: 'number' })).to.deep.equal([-5, 100]);
    expect(range({ type: 'integer', minimum: 500 })).to.deep.equal([500, 600]);
    expect(range({ type: 'integer', maximum: -10 })).to.deep.equal([-15, -10]);
  });

  it('returns the minimum if minimum and maximum exclude each other', () => {
    const limits = { minimum: 5, exclusiveMinimum: true, maximum: 5 } as const;
    expect(different({ type: 'integer', ...limits })).to.deep.equal(['6']);
  });

  it('returns the typical text of a string format with one digit changed', () => {
    const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    for (const [format, textOf] of [
      ['ipv4', (digit: number) => `10.0.0.${digit}`],
      ['cidr', (digit: number) => `10.0.0.${digit}/24`],
      ['uri', (digit: number) => `https://example${digit}.com`],
      ['byte', (digit: number) => base64(`sample${digit}`)],
    ] as const) {
      expect(different({ type: 'string', format })).to.have.members(
        digits.map((digit) => JSON.stringify(textOf(digit))),
      );
    }
  });

  it('returns short and long lists, maps and strings', () => {
    expect(sizes(s.array(s.boolean()))).to.deep.equal([0, 1, 2, 3]);
    expect(sizes(s.array(s.boolean(), { minItems: 2 }))).to.deep.equal([2, 3]);
    expect(sizes(s.array(s.boolean(), { minItems: 1, maxItems: 2 }))).to.deep.equal([1, 2]);
    expect(sizes(s.array(s.boolean(), { minItems: 1, maxItems: 9 }))).to.deep.equal([1, 2, 3, 4]);
    expect(sizes(s.map(s.boolean()))).to.deep.equal([0, 1, 2, 3]);
    expect(sizes(s.map(s.boolean(), { minProperties: 2 }))).to.deep.equal([2, 3]);
    expect(sizes(s.map(s.boolean(), { maxProperties: 1 }))).to.deep.equal([0, 1]);
    expect(sizes(s.string({ minLength: 11 }))).to.deep.equal([11, 12]);
    expect(sizes(s.string({ maxLength: 2 }))).to.deep.equal([0, 1, 2]);
    expect(sizes(s.string({ minLength: 20, maxLength: 21 }))).to.deep.equal([20, 21]);
  });

  it('can return any text that a pattern allows, with each alternative of the pattern', () => {
    const any = drawn(s.string({ pattern: '^.*$', maxLength: 5 })) as string[];
    expect(any.join('')).to.include('é').and.include('漢').and.include('z');
    expect(different(s.string({ pattern: '^v1(alpha|beta)[12]$' }))).to.have.members([
      ...['"v1alpha1"', '"v1alpha2"', '"v1beta1"', '"v1beta2"'],
    ]);
    expect(different(s.string({ pattern: '^a+$', minLength: 3, maxLength: 3 }))).to.deep.equal([
      '"aaa"',
    ]);
  });

  it('can return each constant of an enum, each type of value, and a value for each of anyOf', () => {
    expect(different(word)).to.have.members(['"a"', '"b"']);
    expect(different(s.boolean())).to.have.members(['false', 'true']);
    expect(different(s.nullable(word))).to.have.members(['"a"', '"b"', 'null']);
    const port = drawn(s.intOrString()).map((value) => typeof value);
    expect(new Set(port)).to.have.keys('number', 'string');
    const kinds = drawn({ 'x-kubernetes-preserve-unknown-fields': true }).map((value) =>
      Array.isArray(value) ? 'array' : typeof value,
    );
    expect(new Set(kinds)).to.have.keys('string', 'number', 'boolean', 'array', 'object');
    const either: Schema = {
      oneOf: [
        { properties: { a: { type: 'boolean' } } },
        { properties: { b: { type: 'boolean' } } },
      ],
      ...{ type: 'object', minProperties: 1 },
    };
    const names = drawn(either).flatMap((value) => Object.keys(value as object));
    expect(new Set(names)).to.have.keys('a', 'b');
  });

  it('always returns required fields, and sometimes optional fields and fields with a default', () => {
    const schema = s.object({
      needed: s.boolean(),
      maybe: s.optional(s.boolean()),
      count: s.defaulted(s.integer({ minimum: 1000 }), 7),
    });
    const values = drawn(schema) as { needed?: boolean; maybe?: boolean; count?: number }[];
    expect(values.every(({ needed }) => needed !== undefined)).to.equal(true);
    expect(new Set(values.map(({ maybe }) => maybe))).to.have.keys([undefined, true, false]);
    const counts = values.map(({ count }) => count);
    expect(counts).to.include(7).and.include(undefined);
    expect(counts.filter((count) => count === 7).length).to.be.lessThan(draws / 2);
  });

  it('returns an embedded object with a kind, a name, and other fields that match its schema', () => {
    const schema: Schema = {
      ...{ type: 'object', 'x-kubernetes-embedded-resource': true, required: ['size'] },
      properties: { kind: { type: 'string' }, size: { type: 'boolean' } },
    };
    const resource = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'sample' } };
    for (const size of [true, false]) expect(drawn(schema)).to.deep.include({ ...resource, size });
  });

  it('stops at a limited depth in a schema that contains itself', () => {
    const properties: Record<string, Schema> = {};
    const tree: Schema = { type: 'object', required: ['child'], properties };
    properties['child'] = tree;
    const depthOf = (value: unknown): number => {
      const { child } = value as { child?: unknown };
      return child === undefined ? 0 : 1 + depthOf(child);
    };
    expect(depthOf(randomValue(tree, seededRandom(1)))).to.be.within(20, 50);
  });

  it('returns the same values for the same random numbers', () => {
    const schema = s.map(s.array(s.string()));
    expect(drawn(schema)).to.deep.equal(drawn(schema));
  });
});
