import { expect } from 'chai';
import { atomOf } from '../../../lib/apiserver/structured-merge/atom.js';
import { reconcileWithSchema } from '../../../lib/apiserver/structured-merge/updater.js';
import { fieldManagerApply } from '../../../lib/apiserver/structured-merge/index.js';
import { FieldSet } from '../../../lib/object/field-set.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import type { Schema } from '../../../lib/object/schema.js';

const text: Schema = { type: 'string' };
const map: Schema = { type: 'object', additionalProperties: text };
const list: Schema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: { type: 'object', properties: { name: text } },
};

function schema(atomic: boolean): Schema {
  return {
    type: 'object',
    properties: {
      apiVersion: text,
      kind: text,
      metadata: { type: 'object' },
      map: atomic ? { ...map, 'x-kubernetes-map-type': 'atomic' } : map,
      list: atomic ? { ...list, 'x-kubernetes-list-type': 'atomic' } : list,
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
}

const set = FieldSet.fromFieldsV1({
  'f:free': { 'f:a': { 'f:b': {} } },
  'f:list': { 'k:{"name":"x"}': { '.': {}, 'f:name': {} } },
  'f:map': { 'f:a': {}, 'f:b': {} },
});

describe('reconcileWithSchema', () => {
  it('makes the owners of single fields own the whole value when the schema has made the value atomic', () => {
    const reconciled = reconcileWithSchema(set, atomOf(schema(true)));
    expect(String(reconciled)).to.equal('.list\n.map\n.free.a.b');
  });

  it('returns the same set if no value has become atomic', () => {
    expect(reconcileWithSchema(set, atomOf(schema(false)))).to.equal(set);
  });

  it('is called by the next write', () => {
    const body = (a: string): UnstructuredObject => ({
      apiVersion: 'v1',
      kind: 'Thing',
      metadata: { name: 'x' },
      map: { a },
    });
    const apply = (live: UnstructuredObject | undefined, a: string, atomic: boolean) =>
      fieldManagerApply(live, body(a), {
        apiVersion: 'v1',
        schema: schema(atomic),
        manager: a,
        now: 0,
      });
    const live = apply(undefined, 'one', false);
    expect(() => apply(live, 'two', true)).to.throw('conflict with "one": .map');
  });
});
