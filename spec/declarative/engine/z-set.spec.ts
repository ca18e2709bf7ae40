import { expect } from 'chai';
import fc from 'fast-check';
import { ZSet, netDeltas } from '../../../lib/declarative/engine/z-set.js';

const delta = fc.record({
  document: fc.record({ a: fc.nat(2), b: fc.constantFrom('x', 'y') }),
  weight: fc.constantFrom(-2, -1, 1, 2),
});
const zSet = fc.array(delta, { maxLength: 8 }).map((deltas) => new ZSet(deltas));

/** Formats each document with its weight, in a fixed order. */
function weights(set: ZSet): string[] {
  return [...set.entries()].map(({ key, weight }) => `${weight} ${key}`).sort();
}

function sumOf(...changes: readonly ZSet[]): ZSet {
  const sum = new ZSet();
  for (const change of changes) sum.integrate(change.entries());
  return sum;
}

describe('ZSet', () => {
  it('counts equal documents, in whatever order their members are', () => {
    const set = new ZSet([
      { document: { a: 1, b: { c: 2, d: 3 } }, weight: 1 },
      { document: { b: { d: 3, c: 2 }, a: 1 }, weight: 1 },
    ]);
    expect(weights(set)).to.deep.equal(['2 {"a":1,"b":{"c":2,"d":3}}']);
  });

  it('holds no document whose count is 0', () => {
    const set = new ZSet([{ document: { a: 1 }, weight: 1 }]);
    expect(set.add({ document: { a: 1 }, weight: -1 })).to.equal(undefined);
    expect([...set.entries()]).to.deep.equal([]);
  });

  it('reaches the same sum for any order of changes', () => {
    const property = fc.property(zSet, zSet, (a, b) => {
      expect(weights(sumOf(a, b))).to.deep.equal(weights(sumOf(b, a)));
    });
    fc.assert(property);
  });

  it('is empty after the same documents are added with negative counts', () => {
    const property = fc.property(zSet, (a) => {
      const negated = [...a.entries()].map((entry) => ({ ...entry, weight: -entry.weight }));
      expect(sumOf(a, new ZSet(negated)).size).to.equal(0);
    });
    fc.assert(property);
  });

  it('does not modify the changes that are added to it', () => {
    const property = fc.property(fc.array(zSet), (changes) => {
      const before = changes.map(weights);
      sumOf(...changes);
      expect(changes.map(weights)).to.deep.equal(before);
    });
    fc.assert(property);
  });

  it('drops changes that cancel each other, and puts deletes first', () => {
    const net = netDeltas([
      { document: { a: 1 }, weight: 1 },
      { document: { a: 2 }, weight: 1 },
      { document: { a: 3 }, weight: -1 },
      { document: { a: 2 }, weight: -1 },
    ]);
    const texts = net.map(({ key, weight }) => `${weight} ${key}`);
    expect(texts).to.deep.equal(['-1 {"a":3}', '1 {"a":1}']);
  });
});
