import { expect } from 'chai';
import { defaultFields } from '../../../lib/crd/validation/default-fields.js';
import { prune } from '../../../lib/crd/validation/prune.js';
import type { Schema } from '../../../lib/object/schema.js';

const text: Schema = { type: 'string' };
const filled: Schema = { type: 'string', default: 'x' };

function object(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', properties };
}

function mapOf(values: Schema): Schema {
  return object({ m: { type: 'object', additionalProperties: values } });
}

function defaulted(value: unknown, schema: Schema): unknown {
  defaultFields(value, schema);
  return value;
}

describe('defaultFields', () => {
  it('drops a null that nothing allows, from a map as from an object', () => {
    expect(defaulted({ a: null }, object({ a: text }))).to.deep.equal({});
    expect(defaulted({ m: { a: null } }, mapOf(text))).to.deep.equal({ m: {} });
  });

  it('puts the default in the place of a null, in maps and lists too', () => {
    expect(defaulted({ a: null }, object({ a: filled }))).to.deep.equal({ a: 'x' });
    expect(defaulted({ m: { a: null } }, mapOf(filled))).to.deep.equal({ m: { a: 'x' } });
    const list = object({ l: { type: 'array', items: filled } });
    expect(defaulted({ l: [null] }, list)).to.deep.equal({ l: ['x'] });
  });

  it('keeps a null that is allowed', () => {
    const nullable = { ...filled, nullable: true };
    expect(defaulted({ m: { a: null } }, mapOf(nullable))).to.deep.equal({ m: { a: null } });
    expect(defaulted({ a: null }, object({ a: nullable }))).to.deep.equal({ a: null });
  });

  it('fills in where a member is undefined, as where it is missing', () => {
    expect(defaulted({ a: undefined }, object({ a: filled }))).to.deep.equal({ a: 'x' });
  });
});

describe('prune', () => {
  it('takes undefined for what it is in JSON: nothing in an object, null in a list', () => {
    const schema = object({ a: text, l: { type: 'array', items: text } });
    const { value, unknownFields } = prune({ a: undefined, b: undefined, l: [undefined] }, schema);
    expect([value, unknownFields]).to.deep.equal([{ l: [null] }, []]);
    expect(Object.keys(value as object)).to.deep.equal(['l']);
  });
});
