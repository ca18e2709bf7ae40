import { inspect } from 'node:util';
import { expect } from 'chai';
import { deepEqual } from '../../lib/object/deep-equal.js';
import { deepFreeze } from '../../lib/object/deep-freeze.js';
import { assignMembers } from '../../lib/object/json.js';
import { LazyList, holdList, plainBytes } from '../../lib/object/known-list.js';

const items = Array.from({ length: 100 }, (_, n) => ({ n }));

describe('a list that an object holds and that is created when it is read', () => {
  let made = 0;
  const holder = (digest = 'same'): { readonly list?: readonly unknown[] } => {
    const list = new LazyList({ digest, bytes: 900 }, () => {
      made++;
      return [...items];
    });
    const object: { name: string; list?: readonly unknown[] } = { name: 'x' };
    holdList(object, 'list', list);
    return object;
  };
  beforeEach(() => (made = 0));

  it('looks like an ordinary member of the object, and is created only once', () => {
    const object = holder();
    expect(object.list).to.be.frozen.and.deep.equal(items);
    expect(JSON.parse(JSON.stringify(object))).to.deep.equal({ name: 'x', list: items });
    expect(structuredClone(object)).to.deep.equal({ name: 'x', list: items });
    expect({ ...object }).to.deep.equal({ name: 'x', list: items });
    expect(Object.keys(object)).to.deep.equal(['name', 'list']);
    expect(made).to.equal(1);
  });

  it('is copied, frozen, measured and compared without being created', () => {
    const object = deepFreeze(assignMembers({}, holder(), []));
    expect(deepEqual({ a: object }, { a: holder() })).to.equal(true);
    expect(deepEqual(object, holder('other'))).to.equal(false);
    expect(plainBytes(object, 10)).to.be.within(900, 950);
    expect(made).to.equal(0);
  });

  it('is compared by its digest after it has been read', () => {
    const [one, same, other] = [holder(), holder(), holder('other')].map(({ list }) => list);
    expect(deepEqual(one, same)).to.equal(true);
    expect(deepEqual(one, other)).to.equal(false);
    expect(plainBytes(one, 1)).to.equal(900);
  });

  it('equals a plain list', () => {
    expect(deepEqual(holder(), { name: 'x', list: items })).to.equal(true);
    expect(deepEqual({ name: 'x', list: items.slice(1) }, holder())).to.equal(false);
  });
});

describe('plainBytes, the estimated size of a JSON value', () => {
  for (const value of ['text', 'ä', '', true, false, [], {}, [1, 'a'], { a: { b: ['x', true] } }]) {
    it(`is close to the size of ${JSON.stringify(value)}`, () => {
      const size = Buffer.byteLength(JSON.stringify(value));
      expect(plainBytes(value, 5)).to.be.within(size, size + 8);
    });
  }

  it('grows with each member and item', () => {
    expect(plainBytes('text', 0)).to.equal(6);
    expect(plainBytes([null, null], 1)).to.equal(12);
    expect(plainBytes({ ab: true }, 1)).to.equal(2 + 6 + 5);
    expect(plainBytes([true, 7], 1)).to.equal(2 + 5 + 8);
  });

  for (const value of [NaN, undefined, null, { a: null }, [undefined], () => 1, { a: [{}] }]) {
    it(`is NaN, which means unknown, for ${inspect(value)}`, () => {
      expect(plainBytes(value, 2)).to.be.NaN;
    });
  }
});
