import { expect } from 'chai';
import { atomOf, fieldAtom, zeroObject } from '../../../lib/apiserver/structured-merge/atom.js';
import type { Atom } from '../../../lib/apiserver/structured-merge/atom.js';
import { validateValue } from '../../../lib/apiserver/structured-merge/validate-value.js';
import { definition } from '../../../lib/apiserver/kinds/documents.js';
import type { Schema } from '../../../lib/object/schema.js';

const text: Schema = { type: 'string' };
const fits = (value: unknown, atom: Atom) =>
  validateValue(value, atom, { allowDuplicates: false }).length === 0;

describe('atomOf', () => {
  it('is computed once per schema', () => {
    const schema: Schema = { type: 'object', properties: { a: text } };
    expect(atomOf(schema)).to.equal(atomOf(schema));
  });

  it('treats lists as atomic and maps as granular by default', () => {
    expect(atomOf({ type: 'array', items: text }).list?.atomic).to.equal(true);
    expect(atomOf({ type: 'object', additionalProperties: text }).map?.atomic).to.equal(false);
    expect(atomOf(undefined).map?.atomic).to.equal(false);
    expect(atomOf(undefined).list?.atomic).to.equal(true);
  });

  it('uses the patch strategy of a list that has no list type', () => {
    const list = (more: Schema) => atomOf({ type: 'array', items: text, ...more }).list;
    const merged = { 'x-kubernetes-patch-strategy': 'merge,retainKeys' };
    expect(list(merged)).to.include({ atomic: false }).with.property('keys').that.is.empty;
    const keyed = list({ ...merged, 'x-kubernetes-patch-merge-key': 'name' });
    expect(keyed).to.have.property('keys').that.deep.equals(['name']);
    const kept = list({ 'x-kubernetes-patch-strategy': 'retainKeys' });
    expect(kept).to.have.property('atomic', true);
    const atomic = list({ ...merged, 'x-kubernetes-list-type': 'atomic' });
    expect(atomic).to.have.property('atomic', true);
  });

  it('resolves an allOf with one entry, whose type the field itself can override', () => {
    const type: Schema = { type: 'object', properties: { a: text } };
    expect(atomOf({ allOf: [type], default: {} })).to.equal(atomOf(type));
    const atomic = atomOf({ allOf: [type], 'x-kubernetes-map-type': 'atomic' });
    expect(atomic.map).to.have.property('atomic', true);
    expect(atomic.map?.fields.has('a')).to.equal(true);
    const scalar = atomOf({ allOf: [text], 'x-kubernetes-map-type': 'atomic' });
    expect(scalar).to.equal(atomOf(text));
  });

  it('accepts unknown fields only below x-kubernetes-preserve-unknown-fields', () => {
    const inner: Schema = { type: 'object', properties: { a: text } };
    const keeps = { 'x-kubernetes-preserve-unknown-fields': true };
    const outer: Schema = { type: 'object', properties: { inner }, ...keeps };
    expect(fits({ inner: { a: 'x', b: 1 }, c: 1 }, atomOf(outer))).to.equal(true);
    expect(fits({ a: 'x', b: 1 }, atomOf(inner))).to.equal(false);
    expect(fits({ a: 5 }, atomOf(outer))).to.equal(true);
    expect(fits({ inner: { a: 5 } }, atomOf(outer))).to.equal(false);
  });

  it('uses additionalProperties if given', () => {
    const base: Schema = { type: 'object' };
    expect(fits({ any: [1] }, atomOf(base))).to.equal(true);
    expect(fits({ any: [1] }, atomOf({ ...base, additionalProperties: true }))).to.equal(true);
    expect(fits({ any: 1 }, atomOf({ ...base, additionalProperties: false }))).to.equal(false);
    expect(fits({ any: 1 }, atomOf({ ...base, additionalProperties: text }))).to.equal(false);
  });

  it('supports recursive types', () => {
    const schema: Schema = { type: 'object' };
    schema.properties = { self: schema };
    const atom = atomOf(schema);
    expect(fieldAtom(atom.map!, 'self')).to.equal(atom);
    expect(fits({ self: { self: {} } }, atom)).to.equal(true);
  });

  it('supports the types of built-in kinds', () => {
    const pod = atomOf(definition('io.k8s.api.core.v1.PodSpec'));
    const container = { name: 'a', resources: { limits: { cpu: 1, memory: '1Gi' } } };
    const probe = { httpGet: { port: 'http' }, periodSeconds: 1 };
    expect(fits({ containers: [{ ...container, livenessProbe: probe }] }, pod)).to.equal(true);
    expect(pod.map?.fields.get('containers')?.atom.list?.keys).to.deep.equal(['name']);
    const meta = atomOf(definition('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'));
    expect(fits({ creationTimestamp: null, generation: 1 }, meta)).to.equal(true);
    expect(meta.map?.fields.get('finalizers')?.atom.list).to.include({ atomic: false });
  });
});

describe('validateValue', () => {
  const list = (keys?: string[]): Schema => ({
    type: 'array',
    'x-kubernetes-list-type': keys === undefined ? 'set' : 'map',
    ...(keys === undefined ? {} : { 'x-kubernetes-list-map-keys': keys }),
    items: keys === undefined ? text : { type: 'object', properties: { a: text, b: text } },
  });

  for (const [value, schema, message] of [
    [[null], list(['a']), 'element 0: associative list with keys may not have a null element'],
    [
      [{}],
      list(['a', 'b']),
      'element 0: associative list with keys has an element that omits all key fields ' +
        '["a" "b"] (and doesn\'t have default values for any key fields)',
    ],
    [[['x']], list(), 'element 0: not supported: associative list with lists as elements'],
    [
      [null],
      list(),
      "element 0: associative list without keys has an element that's an explicit null",
    ],
    ['x', { format: 'int-or-string' }, undefined],
    [[{ a: 'x' }, { a: 'x', b: 'y' }, { b: 'y' }], list(['a', 'b']), undefined],
  ] as [unknown, Schema, string | undefined][]) {
    it(`returns for ${JSON.stringify(value)}: ${message ?? 'no error'}`, () => {
      const [problem] = validateValue(value, atomOf(schema), { allowDuplicates: false });
      expect(problem?.message).to.equal(message);
    });
  }

  it('accepts entries with the same key in lists of the live object', () => {
    const atom = atomOf(list(['a']));
    const twice = [{ a: 'x' }, { a: 'x' }];
    expect(validateValue(twice, atom, { allowDuplicates: true })).to.deep.equal([]);
    expect(validateValue(twice, atom, { allowDuplicates: false })).to.have.length(1);
  });
});

describe('zeroObject', () => {
  it('contains null for required lists, and empty structs for fields that are not pointers', () => {
    const struct: Schema = { type: 'object', properties: { inner: text } };
    const schema: Schema = {
      type: 'object',
      required: ['list', 'name', 'pointer'],
      properties: {
        spec: { ...struct, default: {} },
        referred: {
          allOf: [
            { ...struct, required: ['inner'], properties: { inner: { ...text, default: '' } } },
          ],
          type: 'object',
          default: {},
        },
        list: { type: 'array', items: text },
        pointer: struct,
        name: { ...text, default: '' },
        optional: struct,
        text,
      },
    };
    const zero = { spec: {}, referred: { inner: '' }, list: null, pointer: null, name: '' };
    expect(zeroObject(schema)).to.deep.equal(zero);
    expect(zeroObject(schema)).to.equal(zeroObject(schema));
    expect(zeroObject(undefined)).to.deep.equal({});
  });
});
