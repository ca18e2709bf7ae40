import { expect } from 'chai';
import { FieldErrors } from '../../../lib/crd/validation/field-errors.js';
import { hasFormat } from '../../../lib/crd/validation/schema-formats.js';
import { validateSchema } from '../../../lib/crd/validation/validate-schema.js';
import type { Schema } from '../../../lib/object/schema.js';

/** Returns the messages about a value, which equal those of the real server (v1.36). */
function said(value: unknown, schema: Schema): string[] {
  const errors = new FieldErrors();
  validateSchema(value, { schema, path: 'a', errors });
  return errors.causes.map(({ message = '' }) => message);
}

describe('validateSchema', () => {
  it('treats undefined as absent', () => {
    const schema: Schema = { type: 'object', properties: { b: { type: 'string' } } };
    expect(said({ b: undefined }, schema)).to.deep.equal([]);
    expect(said({ b: undefined }, { ...schema, required: ['b'] })).to.deep.equal([
      'Required value',
    ]);
    expect(said({ b: undefined }, { ...schema, maxProperties: 0 })).to.deep.equal([]);
  });

  it('refuses null with an enum, even if nullable', () => {
    const schema: Schema = { type: 'string', nullable: true, enum: ['a', null] };
    expect(said(null, schema)).to.deep.equal([
      'Unsupported value: null: supported values: "a", "null"',
    ]);
    expect(said(null, { type: 'string', nullable: true })).to.deep.equal([]);
  });

  it('accepts a list in place of a string with a format, as the API server does', () => {
    expect(said([{}], { type: 'string', format: 'byte' })).to.deep.equal([]);
    expect(said([], { type: 'string', format: 'unknown' })).to.have.length(1);
  });

  it('names the format, not the type, for a number, a boolean or an object', () => {
    const schema: Schema = { type: 'string', format: 'date' };
    expect(said(5, schema)).to.deep.equal([
      'Invalid value: "int64": a in body must be of type date: "int64"',
    ]);
    expect(said(true, { type: 'integer', format: 'int32' })).to.deep.equal([
      'Invalid value: "": a in body must be of type int32: ""',
    ]);
  });

  it('checks the keyword oneOf for a value of the wrong type, but not for null', () => {
    const schema: Schema = { type: 'object', oneOf: [{ required: ['b'] }, { required: ['c'] }] };
    expect(said(5, schema)).to.deep.equal([
      'Invalid value: "integer": a in body must be of type object: "integer"',
      'Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ]);
    expect(said(null, schema)).to.have.length(1);
    expect(said(null, { not: { required: ['b'] } })).to.deep.equal([]);
  });

  it('refuses each property that is not declared if additionalProperties is false', () => {
    expect(said({ b: 1, c: {} }, { type: 'object', additionalProperties: false })).to.deep.equal([
      'Invalid value: "b": a.b in body is a forbidden property',
      'Invalid value: "c": a.c in body is a forbidden property',
    ]);
  });

  it('reports the errors of the schema in anyOf that matches best', () => {
    const b: Schema = { required: ['b'], properties: { b: { minimum: 5 } } };
    expect(said({ b: 1 }, { type: 'object', anyOf: [{ required: ['c'] }, b] }).at(-1)).to.equal(
      'Invalid value: 1: a.b in body should be greater than or equal to 5',
    );
  });

  it('reports that no schema of allOf accepts a value', () => {
    expect(said('x', { allOf: [{ pattern: '^a' }, { maxLength: 0 }] })[0]).to.equal(
      'Invalid value: "": "a" must validate all the schemas (allOf). None validated',
    );
  });

  it('checks the limits of a fraction in place of an integer or a string', () => {
    expect(said(1.5, { 'x-kubernetes-int-or-string': true, maximum: 1 })).to.deep.equal([
      'Invalid value: "number": a in body must be of type integer,string: "number"',
      'Invalid value: 1.5: a in body should be less than or equal to 1',
    ]);
  });

  it('refuses integers outside int64', () => {
    expect(said(1e18, { type: 'integer' })).to.deep.equal([]);
    for (const value of [1e19, 2 ** 63, -(2 ** 63), 1e300]) {
      expect(said(value, { type: 'integer' })).to.deep.equal([
        'Invalid value: "": Checked value must be of type integer (default format) in a',
        'Invalid value: "number": a in body must be of type integer: "number"',
      ]);
    }
    expect(said(1.5, { type: 'integer', format: 'int64' })).to.deep.equal([
      'Invalid value: "": Checked value must be of type integer with format int64 in a',
      'Invalid value: "float64": a in body must be of type int64: "float64"',
    ]);
  });

  it('refuses floats outside the range of their format', () => {
    expect(said(1e300, { type: 'number' })).to.deep.equal([]);
    expect(said(3.4028235e38, { type: 'number', format: 'float' })).to.deep.equal([]);
    expect(said(-1e39, { type: 'number', format: 'float' })).to.deep.equal([
      'Invalid value: "": Checked value must be of type number with format float in a',
    ]);
  });

  it('tolerates floating-point errors in multipleOf with a fraction', () => {
    const tenths: Schema = { type: 'number', multipleOf: 0.1 };
    for (const value of [0.3, 0.7, 1.1, 0.30000000001]) {
      expect(said(value, tenths)).to.deep.equal([]);
    }
    expect(said(0.35, tenths)).to.deep.equal([
      'Invalid value: 0.35: a in body should be a multiple of 0.1',
    ]);
    expect(said(1e20, tenths)).to.deep.equal([
      'Invalid value: 1e+20: a in body should be a multiple of 0.1',
    ]);
  });

  it('cuts off the fraction of a limit for an integer value, as the API server does', () => {
    expect(said(2, { type: 'number', maximum: 1.5 })).to.deep.equal([
      'Invalid value: 2: a in body should be less than or equal to 1',
    ]);
    expect(said(6, { type: 'number', multipleOf: 2.5 })).to.deep.equal([]);
    expect(said(1, { type: 'number', multipleOf: 0.1 })).to.deep.equal([
      'Invalid value: 0: factor MultipleOf declared for a must be positive: 0',
    ]);
  });

  it('refuses every integer if a limit does not fit the integer type', () => {
    const limit = (what: string): string =>
      `Invalid value: "": ${what} value must be of type integer (default format) in a`;
    expect(said(3, { type: 'integer', minimum: 1.5 })).to.deep.equal([limit('Minimum boundary')]);
    expect(said(3, { type: 'integer', maximum: 1e20 })).to.deep.equal([limit('Maximum boundary')]);
    expect(said(3, { type: 'integer', multipleOf: 1.5 })).to.deep.equal([limit('MultipleOf')]);
    expect(said(1, { type: 'integer', minimum: 1.5 })).to.deep.equal([
      limit('Minimum boundary'),
      'Invalid value: 1: a in body should be greater than or equal to 1.5',
    ]);
    expect(said(3, { type: 'integer', format: 'int32', maximum: 2 ** 31 })).to.deep.equal([
      'Invalid value: "": Maximum boundary value must be of type integer with format int32 in a',
    ]);
    expect(said(3, { type: 'number', minimum: 1.5 })).to.deep.equal([]);
  });

  it('applies formats to strings and lists, even in schemas of anyOf without a type', () => {
    const day: Schema = { anyOf: [{ format: 'date' }] };
    expect(said(5, { type: 'integer', ...day })[0]).to.equal(
      'Invalid value: "": "a" must validate at least one schema (anyOf)',
    );
    expect(said([5], { type: 'array', ...day })).to.deep.equal([]);
    expect(said([5], { type: 'object', format: 'date' })).to.deep.equal([
      'Invalid value: "array": a in body must be of type object: "array"',
    ]);
  });

  describe('given the stored value, which is not valid', () => {
    const changed = (value: unknown, old: unknown, schema: Schema): string[] => {
      const errors = new FieldErrors();
      validateSchema(value, { schema, path: 'a', errors, old });
      return errors.causes.map(({ field = '' }) => field);
    };
    const text: Schema = { type: 'string', maxLength: 1 };
    const item: Schema = { type: 'object', properties: { name: text, b: text }, required: ['c'] };

    it('accepts the value if it is unchanged, or if only items of a list of type map change places', () => {
      const list: Schema = { type: 'array', items: item, 'x-kubernetes-list-type': 'map' };
      const map = { ...list, 'x-kubernetes-list-map-keys': ['name'], maxItems: 1 };
      const [one, other] = [{ name: 'x', b: 'long' }, { name: 'y' }];
      expect(changed([other, one], [one, other], map)).to.deep.equal([]);
      expect(
        changed([other, one], [one, other], { ...list, ...{ 'x-kubernetes-list-type': 'atomic' } }),
      ).to.include('a[0].c');
    });

    it('refuses the unchanged value if it has a field that the schema only preserves, as the API server does', () => {
      const open: Schema = { ...item, 'x-kubernetes-preserve-unknown-fields': true };
      expect(changed({ b: 'x' }, { b: 'x' }, open)).to.deep.equal([]);
      expect(changed({ b: 'long', d: 1 }, { b: 'long', d: 1 }, open)).to.deep.equal(['a.c']);
    });

    it('refuses the unchanged value if an embedded object in it lacks apiVersion or kind', () => {
      const template = { ...item, 'x-kubernetes-embedded-resource': true };
      const list: Schema = { type: 'array', items: template };
      const value = [{ name: 'x' }];
      expect(changed(value, value, list)).to.deep.equal(['a[0].apiVersion', 'a[0].kind']);
    });
  });

  it('finds duplicates in a list of type set in any order of their fields', () => {
    const items: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const set: Schema = { type: 'array', items, 'x-kubernetes-list-type': 'set' };
    const values = [
      { x: 1, y: 2 },
      { y: 2, x: 1 },
    ];
    expect(said(values, set)).to.deep.equal(['Duplicate value: {"x":1,"y":2}']);
  });
});

/** Texts per format that the real server accepts and refuses. */
const seen: Readonly<Record<string, readonly [readonly string[], readonly string[]]>> = {
  hostname: [
    ['a', 'a.b.com', 'EXAMPLE.com', 'exämple.com', 'x'.repeat(63)],
    ['a.', 'a_b', '-a', '1.2.3.4', 'x'.repeat(64), ''],
  ],
  ipv4: [
    ['1.2.3.4', '01.2.3.4', '::1.2.3.4'],
    ['256.1.1.1', '1.2.3', '::1'],
  ],
  ipv6: [
    ['::', '::1', '1:2:3:4:5:6:7::', '::ffff:1.2.3.4'],
    [':::', '1::2::3', '1:2:3:4:5:6:7', '12345::', ':1', '1.2.3.4::', '::ffff:01.2.3.4'],
  ],
  cidr: [
    ['1.2.3.4/8', '010.1.1.1/8', '::/0', '10.0.0.0/08'],
    ['1.2.3.4/33', '::/129', '1:2/3', '1.2.3.4', '1.2.3.4/'],
  ],
  mac: [
    ['00:00:5e:00:53:01', '00-00-5e-00-53-01', '02:00:5e:10:00:00:00:01', '0000.5e00.5301'],
    ['00:00-5e:00:53:01', '00:00:5e:00:53', ''],
  ],
  datetime: [
    ['2024-01-01T23:59:59Z', '2024-01-01t00:00:00z'],
    [
      '2024-01-01T24:00:00Z',
      '2024-01-01T25:00:00Z',
      '2024-01-01T23:59:60Z',
      '2024-02-30T00:00:00Z',
    ],
  ],
  byte: [
    ['YQ==', 'YWJj'],
    ['', 'YQ', 'a', '-_8='],
  ],
  duration: [
    ['1h', '1.s', '.5s', '3 days', '1w'],
    ['', '1', 'x', '9'.repeat(100_000), `1${' '.repeat(100_000)}`],
  ],
};

describe('hasFormat', () => {
  for (const [format, [taken, refused]] of Object.entries(seen)) {
    it(`accepts and refuses the same strings as a real API server for ${format}`, () => {
      expect(taken.filter((text) => !hasFormat(text, format))).to.deep.equal([]);
      expect(refused.filter((text) => hasFormat(text, format))).to.deep.equal([]);
    });
  }
});
