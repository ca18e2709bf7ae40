import { expect } from 'chai';
import { FieldErrors } from '../../../lib/crd/validation/field-errors.js';
import { validateResource } from '../../../lib/crd/validation/validate-resource.js';

type Json = Readonly<Record<string, unknown>>;

/** Returns the causes of an update of `spec` or `status` from `old`. */
function causesOf(schema: Json, [old, value]: readonly [unknown, unknown], more: object = {}) {
  const errors = new FieldErrors();
  const whole = { type: 'object', properties: { a: schema, status: schema } } as const;
  const check = { schema: whole, errors, old: { metadata: {}, ...(old as object) }, ...more };
  validateResource({ metadata: {}, ...(value as object) }, check);
  return errors.causes.map(({ field, message }) => `${field ?? ''}: ${message ?? ''}`);
}

const updated = (schema: Json, old: unknown, value: unknown) =>
  causesOf(schema, [{ a: old }, { a: value }]);

const short = { type: 'string', maxLength: 1 };
const tooLong = (field: string) => `${field}: Too long: may not be more than 1 bytes`;
const object = { type: 'object', properties: { b: short, c: { type: 'integer' } } };
const keyed = {
  ...{ type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
  items: { type: 'object', required: ['k'], properties: { k: { type: 'string' }, b: short } },
};

describe('An update of a custom resource', () => {
  it('is accepted if it leaves invalid parts unchanged, but refused if it changes them', () => {
    expect(updated(short, 'long', 'long')).to.deep.equal([]);
    expect(updated(short, 'long', 'other')).to.deep.equal([tooLong('a')]);
    expect(updated(object, { b: 'long', c: 1 }, { b: 'long', c: 2 })).to.deep.equal([]);
    expect(updated(object, { c: 1 }, { b: 'long', c: 1 })).to.deep.equal([tooLong('a.b')]);
    expect(updated(object, undefined, { b: 'long' })).to.deep.equal([tooLong('a.b')]);
  });

  it('is refused if it leaves invalid items in a changed list whose items have no keys', () => {
    const list = { type: 'array', items: short };
    expect(updated(list, ['long'], ['long'])).to.deep.equal([]);
    expect(updated(list, ['long'], ['long', 'x'])).to.deep.equal([tooLong('a[0]')]);
    expect(updated(list, ['x', 'long'], ['long', 'x'])).to.deep.equal([tooLong('a[0]')]);
    const entries = [
      { k: 'x', b: 'long' },
      { k: 'y', b: 'z' },
    ];
    expect(updated(keyed, entries, entries.toReversed())).to.deep.equal([]);
    expect(updated(keyed, entries, [...entries, { k: 'z', b: 'long' }])).to.deep.equal([
      tooLong('a[2].b'),
    ]);
    expect(updated(keyed, entries, [{ k: 'y', b: 'long' }])).to.deep.equal([tooLong('a[0].b')]);
  });

  it('is refused if it replaces an invalid value by one of another type', () => {
    const any = { anyOf: [{ maxItems: 0 }, { maxProperties: 0 }] };
    const either = { 'x-kubernetes-preserve-unknown-fields': true, not: any };
    const refused = ['<nil>: Invalid value: "": "a" must not validate the schema (not)'];
    for (const [old, value] of [
      [{}, []],
      [[], {}],
      [[], null],
      [{}, null],
    ]) {
      expect(updated(either, old, old)).to.deep.equal([]);
      expect(updated(either, old, value)).to.deep.equal(value === null ? [] : refused);
    }
  });

  it('is accepted if it adds repeated items to a set that already has repeated items', () => {
    const set = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' };
    expect(updated(set, ['x'], ['x', 'x'])).to.deep.equal(['a[1]: Duplicate value: "x"']);
    expect(updated(set, ['x', 'x'], ['x', 'x', 'y', 'y'])).to.deep.equal([]);
  });

  it('is checked only in the status if it is an update of the status, which can be null if it was absent', () => {
    const status = (old: Json, value: Json) => causesOf(object, [old, value], { statusOnly: true });
    expect(status({}, { a: { b: 'long' }, status: { b: 'long' } })).to.deep.equal([
      tooLong('status.b'),
    ]);
    const long = { status: { b: 'long' } };
    expect(status(long, long)).to.deep.equal([]);
    expect(status({}, { status: 5 })).to.deep.equal([
      'status: Invalid value: "integer":  in body must be of type object: "integer"',
    ]);
    const nothing = 'status: Invalid value: "null":  in body must be of type object: "null"';
    expect(status({}, { status: null })).to.deep.equal([]);
    expect(status({ status: null }, { status: null })).to.deep.equal([]);
    expect(status(long, { status: null })).to.deep.equal([nothing]);
    expect(status(long, {})).to.deep.equal([]);
  });
});
