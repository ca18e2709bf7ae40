import { expect } from 'chai';
import { FieldSet } from '../../lib/object/field-set.js';
import { pathToString } from '../../lib/object/field-path.js';
import type {
  FieldsV1,
  KubernetesObject,
  UnstructuredObject,
} from '../../lib/object/kubernetes-object.js';
import { uncoveredPaths } from '../../lib/object/uncovered-paths.js';

function desired(fields: Record<string, unknown>): UnstructuredObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'x', namespace: 'y' }, ...fields };
}

function uncovered(
  fieldsV1: FieldsV1,
  fields: Record<string, unknown>,
  live?: KubernetesObject,
): string[] {
  const set = FieldSet.fromFieldsV1(fieldsV1);
  return uncoveredPaths(set, desired(fields), { live }).map(pathToString);
}

describe('uncoveredPaths, the desired fields that a manager does not own', () => {
  it('is empty when the managedFields entry owns every desired field, whatever its value', () => {
    const entry = { 'f:spec': { 'f:a': {}, 'f:deep': { 'f:b': {} } } };
    expect(uncovered(entry, { spec: { a: 1, deep: { b: '1000m' } } })).to.deep.equal([]);
    expect(uncovered(entry, { spec: { a: 2 } })).to.deep.equal([]);
  });

  it('leaves out name and namespace, for which the API server records no owners', () => {
    const metadata = { name: 'x', namespace: 'y', uid: 'u', labels: { a: 'b' } };
    expect(uncovered({}, { metadata: { name: 'x' } })).to.deep.equal([]);
    expect(uncovered({}, { metadata })).to.deep.equal(['metadata']);
    const entry = { 'f:metadata': { 'f:labels': { 'f:a': {} } } };
    expect(uncovered(entry, { metadata })).to.deep.equal([]);
  });

  it('leaves out members of metadata that the server sets', () => {
    const entry = { 'f:metadata': { 'f:labels': { 'f:a': {} } } };
    const identity = { name: 'x', namespace: 'y', uid: 'u', resourceVersion: '1', generation: 1 };
    const recorded = {
      creationTimestamp: '2026-01-01T00:00:00Z',
      selfLink: '/x',
      managedFields: [{}],
    };
    const metadata = { ...identity, ...recorded, labels: { a: 'b' } };
    expect(uncovered(entry, { metadata })).to.deep.equal([]);
    const more = { ...metadata, finalizers: ['a/b'], generateName: 'x-' };
    expect(uncovered(entry, { metadata: more })).to.deep.equal([
      ...['metadata.finalizers', 'metadata.generateName'],
    ]);
  });

  it('contains the outermost field that is not owned', () => {
    const entry = { 'f:spec': { 'f:a': {} } };
    const fields = { spec: { a: 1, b: { c: 1 }, 'd.e': 1 }, status: { x: 1 } };
    expect(uncovered(entry, fields)).to.deep.equal(['spec.b', 'spec["d.e"]', 'status']);
  });

  it('finds list entries by their keys, and contains the fields of each entry that are not owned', () => {
    const entry = {
      'f:c': {
        'k:{"name":"web"}': { '.': {}, 'f:name': {} },
        'k:{"name":"side"}': { '.': {}, 'f:name': {}, 'f:image': {} },
      },
    };
    const c = [
      { name: 'side', image: 's' },
      { name: 'web', image: 'w' },
      { name: 'new', image: 'n' },
    ];
    expect(uncovered(entry, { c })).to.deep.equal(['c[name=web].image', 'c[name=new]']);
    expect(uncovered(entry, { c: ['web', null] })).to.deep.equal(['c[=web]', 'c[=null]']);
  });

  it('treats a list key that is omitted in the desired entry as its default', () => {
    const port = (protocol: string) => `k:{"port":53,"protocol":"${protocol}"}`;
    const all = { '.': {}, 'f:port': {} };
    const entry = { 'f:p': { [port('TCP')]: all, [port('UDP')]: { ...all, 'f:protocol': {} } } };
    const p = [{ port: 53 }, { port: 53, protocol: 'UDP' }];
    expect(uncovered(entry, { p })).to.deep.equal([]);
    expect(uncovered(entry, { p: [...p, { port: 80 }] })).to.deep.equal(['p[port=80]']);
    const half = { 'f:p': { [port('UDP')]: { ...all, 'f:protocol': {} } } };
    expect(uncovered(half, { p })).to.deep.equal(['p[port=53]']);
  });

  it('finds the items of sets by their value', () => {
    const entry = { 'f:tags': { 'v:"a"': {}, 'v:1': {} } };
    expect(uncovered(entry, { tags: ['a', 1] })).to.deep.equal([]);
    expect(uncovered(entry, { tags: ['b', 1] })).to.deep.equal(['tags[=b]']);
    expect(uncovered(entry, { tags: ['a', { b: 1 }] })).to.deep.equal(['tags[1]']);
  });

  it('treats a field whose entry has no members as atomic', () => {
    const entry = { 'f:list': {}, 'f:map': {} };
    expect(uncovered(entry, { list: [{ a: 1 }], map: { a: { b: 1 } } })).to.deep.equal([]);
  });

  it('requires ownership of empty maps and nulls, but not of empty lists', () => {
    expect(uncovered({ 'f:a': {}, 'f:b': {} }, { a: {}, b: null, c: [] })).to.deep.equal([]);
    expect(uncovered({ 'f:a': { 'f:x': {} } }, { a: {}, b: null })).to.deep.equal(['a', 'b']);
    expect(uncovered({}, { a: undefined, b: { c: [], d: { e: [] } } })).to.deep.equal([]);
  });

  describe('if the live object is given', () => {
    const entry = { 'f:free': { '.': {}, 'f:k': {} } };
    const live = (k: unknown, others: FieldsV1 = {}) => ({
      ...desired({ free: { k } }),
      metadata: { managedFields: [{ fieldsV1: entry }, { fieldsV1: others }] },
    });
    const fields = { free: { k: { a: '1', b: '' } } };

    it('contains the members of a map that other managers emptied or filled', () => {
      expect(uncovered(entry, fields)).to.deep.equal([]);
      expect(uncovered(entry, fields, live({}))).to.deep.equal(['free.k.a']);
      const others = { 'f:free': { 'f:k': { 'f:a': {} } } };
      expect(uncovered(entry, fields, live({ a: '2' }, others))).to.deep.equal(['free.k.a']);
    });

    it('contains members that other managers removed, but not empty values, which Go omits in JSON', () => {
      const values = {
        text: '',
        zero: 0,
        no: false,
        map: {},
        list: [],
        nothing: null,
        gone: undefined,
      };
      const set = { a: 'x', b: 1, c: true, d: { e: 1 }, f: [1] };
      expect(uncovered(entry, { free: { k: { ...values, ...set } } }, live({}))).to.deep.equal(
        ['a', 'b', 'c', 'd', 'f'].map((name) => `free.k.${name}`),
      );
    });

    it('leaves out atomic maps, whose values the server may change to its own notation', () => {
      expect(uncovered(entry, fields, live({ a: '01', defaulted: 'x' }))).to.deep.equal([]);
    });
  });
});
