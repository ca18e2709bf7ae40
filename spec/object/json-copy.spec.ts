import { expect } from 'chai';
import { jsonCopy } from '../../lib/object/json.js';

describe('jsonCopy', () => {
  it('drops undefined members, and serializes a Date or URL', () => {
    const time = new Date(Date.UTC(2026, 0, 2));
    const given = { a: { b: undefined, c: [1, null] }, time, url: new URL('http://web.example/') };
    expect(jsonCopy<object>(given, 'it')).to.deep.equal({
      ...{ a: { c: [1, null] }, time: '2026-01-02T00:00:00.000Z', url: 'http://web.example/' },
    });
  });

  it('copies an object wherever it is referenced, and copies the members of a class instance', () => {
    const shared = { a: 1 };
    const model = new (class Model {
      readonly name = 'web';
    })();
    expect(jsonCopy<object>({ one: shared, two: shared, model }, 'it')).to.deep.equal({
      ...{ one: shared, two: shared, model: { name: 'web' } },
    });
  });

  const circle: { spec: { self?: object } } = { spec: {} };
  circle.spec.self = circle;
  const hole: number[] = [];
  hole[1] = 1;
  const cases: readonly [string, object, RegExp][] = [
    ['NaN', { spec: { replicas: NaN } }, /^Pod web: spec\.replicas has no JSON form, got NaN;/],
    ['Infinity', { a: [{ b: -Infinity }] }, /a\[0\]\.b has no JSON form, got -Infinity/],
    [
      'a Map',
      { data: new Map([['a', 'b']]) },
      /data has no JSON form, got Map; .*Object\.fromEntries/,
    ],
    ['a Set', { 'a b': new Set() }, /\["a b"\] has no JSON form, got Set/],
    ['a BigInt', { a: 1n }, /a has no JSON form, got a BigInt/],
    ['a cycle', circle, /spec\.self has no JSON form, got an object that contains itself/],
    ['a function', { a: () => 1 }, /a has no JSON form, got a function/],
    ['a symbol', { a: Symbol('s') }, /a has no JSON form, got a symbol/],
    ['an undefined item', { a: [1, undefined] }, /a\[1\] has no JSON form, got undefined/],
    ['a hole in a list', { a: hole }, /a\[0\] has no JSON form, got undefined/],
    ['bytes', { a: Buffer.from('x') }, /a has no JSON form, got Buffer; .*base64/],
    ['an invalid Date', { a: new Date(NaN) }, /a has no JSON form, got an invalid Date/],
    ['a Promise', { a: Promise.resolve(1) }, /a has no JSON form, got Promise/],
  ];
  for (const [title, value, message] of cases) {
    it(`rejects ${title} and names the path`, () => {
      expect(() => jsonCopy(value, 'Pod web'))
        .to.throw(message)
        .with.property('code', 'InvalidValue');
    });
  }
});
