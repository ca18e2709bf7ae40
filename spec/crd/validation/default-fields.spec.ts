import { expect } from 'chai';
import { defaultFields, prune } from '../../../lib/crd/validation/prune.js';
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
  it('removes a null that is not nullable, from objects and maps', () => {
    expect(defaulted({ a: null }, object({ a: text }))).to.deep.equal({});
    expect(defaulted({ m: { a: null } }, mapOf(text))).to.deep.equal({ m: {} });
  });

  it('replaces a null with the default, in objects, maps and lists', () => {
    expect(defaulted({ a: null }, object({ a: filled }))).to.deep.equal({ a: 'x' });
    expect(defaulted({ m: { a: null } }, mapOf(filled))).to.deep.equal({ m: { a: 'x' } });
    const list = object({ l: { type: 'array', items: filled } });
    expect(defaulted({ l: [null] }, list)).to.deep.equal({ l: ['x'] });
  });

  it('keeps a nullable null', () => {
    const nullable = { ...filled, nullable: true };
    expect(defaulted({ m: { a: null } }, mapOf(nullable))).to.deep.equal({ m: { a: null } });
    expect(defaulted({ a: null }, object({ a: nullable }))).to.deep.equal({ a: null });
  });

  it('sets the default of an undefined member, like that of a missing one', () => {
    expect(defaulted({ a: undefined }, object({ a: filled }))).to.deep.equal({ a: 'x' });
  });
});

describe('prune', () => {
  it('treats undefined as JSON does: absent in an object, null in a list', () => {
    const schema = object({ a: text, l: { type: 'array', items: text } });
    const { value, unknownFields } = prune({ a: undefined, b: undefined, l: [undefined] }, schema);
    expect([value, unknownFields]).to.deep.equal([{ l: [null] }, []]);
    expect(Object.keys(value as object)).to.deep.equal(['l']);
  });
});
