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
    const noDefault = { ...text, default: null };
    expect(defaulted({ a: null }, object({ a: noDefault }))).to.deep.equal({});
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

  it('sets the default of a member that is undefined, as of a missing member', () => {
    expect(defaulted({ a: undefined }, object({ a: filled }))).to.deep.equal({ a: 'x' });
  });
});

describe('prune', () => {
  it('removes members that the schema does not declare, but keeps unknown fields where the schema of a list preserves them', () => {
    const values = { a: { b: 1, c: { d: 1 } }, t: 'x', l: [{ q: 1 }] };
    const map = object({ m: { type: 'object', additionalProperties: true } });
    expect(prune({ m: values }, map)).to.deep.equal({
      value: { m: { a: {}, t: 'x', l: [{}] } },
      unknownFields: ['m.a.b', 'm.a.c', 'm.l[0].q'],
    });
    const list: Schema = {
      ...object({}),
      type: 'array',
      items: object({ a: object({ x: text }) }),
    };
    const preserved = object({ l: { ...list, 'x-kubernetes-preserve-unknown-fields': true } });
    const { value } = prune({ l: [{ b: { c: 1 }, a: { x: 'x', y: 1 } }] }, preserved);
    expect(value).to.deep.equal({ l: [{ b: { c: 1 }, a: { x: 'x' } }] });
  });

  it('keeps the whole metadata of an embedded object, even if the schema declares only a part of it', () => {
    const whole: Schema = { ...object({ metadata: object({ name: text }) }) };
    const schema = object({ o: { ...whole, 'x-kubernetes-embedded-resource': true } });
    const value = { o: { metadata: { name: 'a', labels: { a: 'b' } } } };
    expect(prune(value, schema)).to.deep.equal({ value, unknownFields: [] });
  });

  it('treats undefined as JSON does: absent in an object, null in a list', () => {
    const schema = object({ a: text, l: { type: 'array', items: text } });
    const { value, unknownFields } = prune({ a: undefined, b: undefined, l: [undefined] }, schema);
    expect([value, unknownFields]).to.deep.equal([{ l: [null] }, []]);
    expect(Object.keys(value as object)).to.deep.equal(['l']);
  });
});
