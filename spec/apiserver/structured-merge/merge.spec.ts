import { expect } from 'chai';
import { atomOf } from '../../../lib/apiserver/structured-merge/atom.js';
import { compare } from '../../../lib/apiserver/structured-merge/compare.js';
import { merge } from '../../../lib/apiserver/structured-merge/merge.js';
import { removeItems } from '../../../lib/apiserver/structured-merge/prune.js';
import { fieldPath } from '../../../lib/object/field-path.js';
import { FieldSet } from '../../../lib/object/field-set.js';
import { thingSchema } from './arbitrary-thing.js';

const { spec } = thingSchema.properties!;
const atom = atomOf(spec);
const entries = (...names: string[]) => names.map((name) => ({ name }));

describe('merge', () => {
  // Live list, applied list, result; lists written as strings.
  for (const [live, applied, merged] of [
    ['abc', 'b', 'abc'],
    ['abc', 'ba', 'bca'],
    ['abc', 'cd', 'abcd'],
    ['abc', 'dc', 'abdc'],
    ['abc', 'cba', 'cba'],
    ['abcd', 'dxb', 'acdxb'],
    ['ab', 'xay', 'xaby'],
    ['', 'ba', 'ba'],
    ['ab', '', 'ab'],
  ] as const) {
    it(`merges ${applied} into ${live} as ${merged}`, () => {
      const of = (text: string) => ({ entries: entries(...text.split('')) });
      expect(merge(of(live), of(applied), atom)).to.deep.equal(of(merged));
      const tags = (text: string) => ({ tags: text.split('') });
      expect(merge(tags(live), tags(applied), atom)).to.deep.equal(tags(merged));
    });
  }

  it('keeps the live value of a field whose applied value is undefined', () => {
    const live = { entries: entries('a'), atomic: { a: 'x' } };
    expect(merge(live, { entries: undefined, atomic: { a: 'x' } }, atom)).to.equal(live);
    expect(merge(live, { entries: entries('b'), atomic: undefined }, atom)).to.deep.equal({
      ...{ entries: entries('a', 'b'), atomic: { a: 'x' } },
    });
  });

  it('merges list entries by key, and replaces atomic lists and maps', () => {
    const live = {
      entries: [{ name: 'a', value: 'x', sub: { a: 'x' } }],
      list: [{ a: 'x' }, { a: 'y' }],
      atomic: { a: 'x', b: 'y' },
    };
    const applied = {
      entries: [{ name: 'a', protocol: 'TCP', sub: { b: 'y' } }],
      list: [{ b: 'z' }],
      atomic: { a: 'z' },
    };
    expect(merge(live, applied, atom)).to.deep.equal({
      entries: [{ name: 'a', value: 'x', protocol: 'TCP', sub: { a: 'x', b: 'y' } }],
      list: [{ b: 'z' }],
      atomic: { a: 'z' },
    });
  });

  it('replaces all entries with the same key by one applied entry', () => {
    const live = {
      entries: [
        { name: 'a', value: '1' },
        { name: 'a', value: '2' },
      ],
    };
    const applied = { entries: [{ name: 'a', value: '3' }] };
    expect(merge(live, applied, atom)).to.deep.equal(applied);
    expect(merge(live, { entries: entries('b') }, atom)).to.deep.equal({
      entries: [...live.entries, { name: 'b' }],
    });
  });

  it('returns the live value itself if nothing changes', () => {
    const live = { entries: [{ name: 'a', value: 'x' }], list: [{ a: 'x' }], map: {} };
    expect(merge(live, structuredClone(live), atom)).to.equal(live);
    expect(merge(live, { entries: entries('a') }, atom)).to.equal(live);
  });
});

describe('compare', () => {
  const texts = (a: unknown, b: unknown) => {
    const { added, modified, removed } = compare(a, b, atom);
    return [added, modified, removed].map(String);
  };

  it('distinguishes added, modified and removed fields', () => {
    const old = { text: 'x', map: { k: 'v', l: 'w' }, tags: ['a', 'b'] };
    const next = { text: 'y', map: { k: 'v', m: 'w' }, tags: ['b', 'c'] };
    expect(texts(old, next)).to.deep.equal(['.map.m\n.tags[="c"]', '.text', '.map.l\n.tags[="a"]']);
  });

  it('reports a value that became a map as modified, and the fields of the map as added', () => {
    const [added, modified] = texts({ free: { a: 'x' } }, { free: { a: { b: 'y' } } });
    expect([added, modified]).to.deep.equal(['.free.a.b', '.free.a']);
  });

  it('compares entries with the same key as a whole', () => {
    const of = (...values: string[]) => ({
      entries: values.map((value) => ({ name: 'a', value })),
    });
    const path = '.entries[name="a",protocol="TCP"]';
    expect(texts(of('1', '2'), of('1', '3'))).to.deep.equal(['', path, '']);
    expect(texts(of('1', '2'), of('1', '2'))).to.deep.equal(['', '', '']);
    const [, , removed] = texts(of('1', '2'), of('1'));
    expect(removed).to.equal(path);
    const [added] = texts(of('1'), of('1', '2'));
    expect(added).to.equal(path);
  });

  it('reports the fields of an entry as added if the entry replaces several entries with the same key', () => {
    const old = { entries: [{ name: 'a' }, { name: 'a', value: '1' }] };
    const path = '.entries[name="a",protocol="TCP"]';
    const [added, , removed] = texts(old, { entries: [{ name: 'a', value: '2' }] });
    expect(added?.split('\n')).to.include(`${path}.value`);
    expect(removed).to.equal(path);
  });

  it('distinguishes an empty list, null and an absent list', () => {
    expect(texts({ tags: [] }, { tags: null })).to.deep.equal(['', '.tags', '']);
    expect(texts({}, { tags: [] })).to.deep.equal(['.tags', '', '']);
  });
});

describe('removeItems', () => {
  it('removes fields and list entries, and leaves null for lists and maps that become empty', () => {
    const value = {
      text: 'x',
      entries: [{ name: 'a' }, { name: 'b', value: 'x' }],
      map: { k: 'v' },
      tags: ['t'],
    };
    const items = FieldSet.of(
      fieldPath('text'),
      ['f:entries', 'k:{"name":"a","protocol":"TCP"}'],
      ['f:entries', 'k:{"name":"b","protocol":"TCP"}', 'f:value'],
      fieldPath('map', 'k'),
      ['f:tags', 'v:"t"'],
    );
    expect(removeItems(value, items, atom)).to.deep.equal({
      entries: [{ name: 'b' }],
      map: null,
      tags: null,
    });
  });

  it('returns the value itself if nothing is removed', () => {
    const value = { map: { k: 'v' }, tags: ['t'] };
    expect(removeItems(value, FieldSet.of(fieldPath('map', 'l')), atom)).to.equal(value);
    expect(removeItems(value, FieldSet.empty, atom)).to.equal(value);
  });
});
