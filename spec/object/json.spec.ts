import { expect } from 'chai';
import {
  assignMembers,
  copyJson,
  isJsonObject,
  memberOf,
  setMember,
  withMember,
  withoutMember,
} from '../../lib/object/json.js';

const hostile = (): Record<string, unknown> =>
  JSON.parse('{"__proto__": 1, "a": 2}') as Record<string, unknown>;

describe('members of JSON objects', () => {
  it('are read only if they are own members', () => {
    expect(memberOf({}, 'constructor')).to.equal(undefined);
    expect(memberOf({}, '__proto__')).to.equal(undefined);
    expect(memberOf(hostile(), '__proto__')).to.equal(1);
  });

  it('are set as own members, even if a name is __proto__', () => {
    const object: Record<string, unknown> = {};
    setMember(object, '__proto__', { polluted: true });
    expect(object).not.to.have.property('polluted');
    expect(Object.keys(object)).to.deep.equal(['__proto__']);
    setMember(object, '__proto__', 2);
    expect(JSON.stringify(object)).to.equal('{"__proto__":2}');
  });

  it('are assigned as own members, except the excluded ones', () => {
    const object = assignMembers({ b: 3 }, { ...hostile(), c: 4 }, ['c']);
    expect(Object.entries(object)).to.have.deep.members([
      ['b', 3],
      ['__proto__', 1],
      ['a', 2],
    ]);
  });

  it('are set and removed in a copy', () => {
    const before = Object.freeze(hostile());
    expect(JSON.stringify(withMember(before, 'b', 3))).to.equal('{"__proto__":1,"a":2,"b":3}');
    expect(JSON.stringify(withoutMember(before, 'a'))).to.equal('{"__proto__":1}');
    expect(JSON.stringify(withoutMember(before, '__proto__'))).to.equal('{"a":2}');
  });
});

describe('copyJson, which copies a JSON value', () => {
  it('shares nothing with the original, and keeps every member', () => {
    const value = { a: [1, { b: null }], ...withMember({}, 'c', hostile()), d: undefined };
    const copy = copyJson(value);
    expect(copy).to.deep.equal(value);
    expect([copy.a === value.a, copy.a[1] === value.a[1]]).to.deep.equal([false, false]);
    expect(JSON.stringify(copyJson(hostile()))).to.equal('{"__proto__":1,"a":2}');
    expect([copyJson(null), copyJson('x')]).to.deep.equal([null, 'x']);
  });

  it('copies values that nest deeper than the call stack', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    let levels = 0;
    for (let at = copyJson(deep) as unknown[]; at.length > 0; levels++) at = at[0] as unknown[];
    expect(levels).to.equal(49_999);
  });
});

describe('isJsonObject', () => {
  it('is false for lists, null and scalars', () => {
    expect([{}, { a: 1 }].map(isJsonObject)).to.deep.equal([true, true]);
    for (const value of [[], null, undefined, 'a', 1, true]) {
      expect(isJsonObject(value)).to.equal(false);
    }
  });
});
