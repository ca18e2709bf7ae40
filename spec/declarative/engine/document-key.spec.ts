import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalText, documentKey } from '../../../lib/declarative/engine/z-set.js';
import { deepEqual } from '../../../lib/object/deep-equal.js';

const json = fc.jsonValue({ maxDepth: 3 });

describe('documentKey', () => {
  it('is the same for equal documents only', () => {
    const property = fc.property(json, json, (one, other) => {
      const same = documentKey({ one }) === documentKey({ one: other });
      expect(same).to.equal(deepEqual(plain(one), plain(other)));
    });
    fc.assert(property);
  });

  it('does not depend on the order of members', () => {
    const property = fc.property(json, (value) => {
      expect(documentKey({ value: turned(value) })).to.equal(documentKey({ value }));
    });
    fc.assert(property);
  });

  it('is short even for a large document', () => {
    const large = { list: Array.from({ length: 1_000 }, (_, number) => ({ number })) };
    expect(documentKey(large)).to.have.length.below(100);
    expect(documentKey(large)).not.to.equal(documentKey({ list: large.list.slice(1) }));
  });

  it('is the JSON itself up to 96 characters', () => {
    const most = { a: 'x'.repeat(96 - '{"a":""}'.length) };
    expect(documentKey(most)).to.equal(JSON.stringify(most));
    expect(documentKey({ a: `${most.a}x` })).to.match(/^#[\w+/]{43}=$/);
  });

  it('is computed from canonical JSON', () => {
    const property = fc.property(json, (value) => {
      expect(JSON.parse(canonicalText(value))).to.deep.equal(plain(value));
    });
    fc.assert(property);
  });

  it('omits undefined members, and treats __proto__ as an ordinary name', () => {
    expect(canonicalText({ b: undefined, a: [undefined] })).to.equal('{"a":[null]}');
    const document = JSON.parse('{"__proto__":{"a":1}}') as Record<string, unknown>;
    expect(canonicalText(document)).to.equal('{"__proto__":{"a":1}}');
    expect(documentKey(document)).not.to.equal(documentKey({}));
  });

  it('distinguishes NaN and Infinity, which JSON lacks', () => {
    expect(canonicalText([NaN, Infinity, true])).to.equal('[NaN,Infinity,true]');
  });
});

/** Converts to JSON and back: -0 becomes 0. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, turned(member)] as const);
  return Object.fromEntries(members.reverse());
}
