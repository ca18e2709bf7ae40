import { expect } from 'chai';
import fc from 'fast-check';
import { hashObject } from '../../lib/hash/index.js';

describe('hashObject', () => {
  // A change of one of these hashes would roll every pod of every operator, so they never change.
  const golden: readonly [unknown, string][] = [
    [{}, 'c70b72c3bd6bc3d9a68f810ae10739e5c3c428416bffc3d483027adbd0d0759d'],
    [[], '94cf07bed90ed0c227d5ae8ffb2ea1fe67c236dc45e7a4c9d946542c9fcdd11e'],
    ['text', '7f8e652363d7d7af6095851cfee60f7ea62dd98019d170f24a0fc08705065f3b'],
    [
      { data: { P_ADDR: '0.0.0.0:8000' } },
      'c5901b638651562cdb80a60e5037e5adc69cbac4dddd5aee73990a4296c533e2',
    ],
    [
      { b: [1, 2.5, -3, true, null], a: { c: 'ü' } },
      '35c67b454c4acf56427a0f2c94141b82ae9ac5a9512c769363b72c5f8828a003',
    ],
  ];
  for (const [value, hash] of golden) {
    it(`hashes ${JSON.stringify(value)} as in every release`, () => {
      expect(hashObject(value)).to.equal(hash);
    });
  }

  it('ignores the order of members, and treats undefined members as absent', () => {
    expect(hashObject({ a: 1, b: { c: 2, d: undefined } })).to.equal(
      hashObject({ b: { c: 2 }, a: 1 }),
    );
  });

  it('treats undefined items as null, as JSON does', () => {
    expect(hashObject([undefined, 1])).to.equal(hashObject([null, 1]));
  });

  it('returns different hashes for another order of items, for null instead of absent, and for another type', () => {
    const values = [[1, 2], [2, 1], { a: null }, {}, { a: 1 }, { a: '1' }, [], '', null, false, 0];
    expect(new Set(values.map(hashObject)).size).to.equal(values.length);
  });

  it('accepts an object that is referenced twice', () => {
    const labels = { app: 'web' };
    expect(hashObject({ selector: labels, labels })).to.equal(
      hashObject({ selector: { app: 'web' }, labels: { app: 'web' } }),
    );
  });

  it('returns the same hash after a JSON round trip, for any value', () => {
    const property = fc.property(fc.jsonValue(), (value) => {
      expect(hashObject(JSON.parse(JSON.stringify(value)))).to.equal(hashObject(value));
    });
    fc.assert(property);
  });

  it('returns different hashes for different values', () => {
    const property = fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const same = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
      expect(hashObject(one) === hashObject(other)).to.equal(same);
    });
    fc.assert(property);
  });

  it('includes a member named __proto__', () => {
    const data = JSON.parse('{"__proto__":"a"}') as unknown;
    expect(hashObject(data)).not.to.equal(hashObject({}));
  });

  for (const value of [NaN, Infinity, 1n, () => 1, Symbol('a')]) {
    it(`rejects ${String(value)}`, () => {
      expect(() => hashObject({ value }))
        .to.throw("can't be hashed")
        .with.property('code', 'InvalidValue');
    });
  }
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return { members: entries.sort(([a], [b]) => (a < b ? -1 : 1)) };
}
