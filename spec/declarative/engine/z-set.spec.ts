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

describe('ZSet', () => {
  it('counts duplicates, independent of the order of members', () => {
    const set = new ZSet([
      { document: { a: 1, b: { c: 2, d: 3 } }, weight: 1 },
      { document: { b: { d: 3, c: 2 }, a: 1 }, weight: 1 },
    ]);
    expect(set.size).to.equal(1);
    expect(set.weightOf({ a: 1, b: { c: 2, d: 3 } })).to.equal(2);
  });

  it('has no entry of weight 0', () => {
    const set = new ZSet([{ document: { a: 1 }, weight: 1 }]);
    expect(set.add({ document: { a: 1 }, weight: -1 })).to.equal(undefined);
    expect([...set.entries()]).to.deep.equal([]);
  });

  it('adds commutatively and associatively', () => {
    const property = fc.property(zSet, zSet, zSet, (a, b, c) => {
      expect(weights(a.plus(b))).to.deep.equal(weights(b.plus(a)));
      expect(weights(a.plus(b).plus(c))).to.deep.equal(weights(a.plus(b.plus(c))));
    });
    fc.assert(property);
  });

  it('cancels with its negation, and subtracts', () => {
    const property = fc.property(zSet, zSet, (a, b) => {
      expect(a.plus(a.negated()).size).to.equal(0);
      expect(weights(b.plus(a.minus(b)))).to.deep.equal(weights(a));
      expect(weights(a.plus(new ZSet()))).to.deep.equal(weights(a));
      expect(weights(a.negated().negated())).to.deep.equal(weights(a));
    });
    fc.assert(property);
  });

  it('reduces each document to weight 1 with distinct, idempotently', () => {
    const property = fc.property(zSet, (a) => {
      const once = [...a.entries()].filter(({ weight }) => weight > 0);
      expect(weights(a.distinct())).to.deep.equal(once.map(({ key }) => `1 ${key}`).sort());
      expect(weights(a.distinct().distinct())).to.deep.equal(weights(a.distinct()));
    });
    fc.assert(property);
  });

  it('integrates changes to their sum without changing them', () => {
    const property = fc.property(fc.array(zSet), (changes) => {
      const before = changes.map(weights);
      const integral = new ZSet();
      for (const change of changes) integral.integrate(change.entries());
      const sum = changes.reduce((total, change) => total.plus(change), new ZSet());
      expect(weights(integral)).to.deep.equal(weights(sum));
      expect(changes.map(weights)).to.deep.equal(before);
    });
    fc.assert(property);
  });

  it('nets changes: drops what cancels out and puts deletes first', () => {
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
