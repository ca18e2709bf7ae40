import { expect } from 'chai';
import { deepFreeze } from '../../lib/object/deep-freeze.js';

describe('deepFreeze', () => {
  it('makes every write to the value throw', () => {
    const value = deepFreeze({ list: [{ a: 1 }], map: { b: { c: 2 } } });
    expect(() => value.list.push({ a: 2 })).to.throw(TypeError);
    expect(() => (value.list[0]!.a = 2)).to.throw(TypeError);
    expect(() => (value.map.b.c = 3)).to.throw(TypeError);
  });

  it('freezes values under an own __proto__ member', () => {
    const value = deepFreeze(JSON.parse('{"__proto__": {"a": 1}}') as Record<string, object>);
    expect(Object.isFrozen(value['__proto__'])).to.equal(true);
    expect(Object.isFrozen(Object.prototype)).to.equal(false);
  });

  it('returns scalars unchanged', () => {
    expect([1, 'a', null, undefined].map(deepFreeze)).to.deep.equal([1, 'a', null, undefined]);
  });
});
