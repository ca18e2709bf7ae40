import { expect } from 'chai';
import fc from 'fast-check';
import { tries } from '../../sample.js';
import { dataErrorOf, evaluate, problemsOf } from './evaluate.js';

const json = fc.jsonValue({ maxDepth: 3 });

describe('Comparison operators', () => {
  for (const [left, right] of [
    [{ a: [1, { b: null }] }, { a: [1, { b: null }] }],
    [-0, 0],
    ['a', 'a'],
    [[], []],
  ]) {
    it(`with @eq, ${JSON.stringify(left)} equals ${JSON.stringify(right)}`, () => {
      expect(evaluate({ '@eq': [left, right] })).to.equal(true);
      expect(evaluate({ '@ne': [left, right] })).to.equal(false);
    });
  }

  for (const [left, right] of [
    [1, '1'],
    [1, true],
    [0, false],
    ['', '$.missing'],
    ['$.missing', '$.missing'],
    ['$.missing', false],
    [{}, []],
    [{ a: 1 }, { a: 1, b: null }],
    [
      [1, 2],
      [2, 1],
    ],
  ]) {
    it(`with @eq, ${JSON.stringify(left)} does not equal ${JSON.stringify(right)}`, () => {
      expect(evaluate({ '@eq': [left, right] })).to.equal(false);
      expect(evaluate({ '@ne': [left, right] })).to.equal(true);
    });
  }

  it('compare the two items of a list that another operator returns', () => {
    const pair = { '@filter': [{ '@gt': ['$$', 1] }, '$.a'] };
    expect(evaluate({ '@eq': pair }, { a: [1, 2, 2] })).to.equal(true);
    expect(evaluate({ '@eq': pair }, { a: [1, 2, 3] })).to.equal(false);
    expect(dataErrorOf({ '@lt': { '@map': ['$$', '$.a'] } }, { a: [1] }).message).to.equal(
      '@lt: want a list of 2, got [1]',
    );
  });

  it('compare strings in documents as data, not as paths', () => {
    const document = { a: { x: '$.b' }, b: { x: '$.b' }, c: '$.a' };
    expect(evaluate({ '@eq': ['$.a', '$.b'] }, document)).to.equal(true);
    expect(evaluate({ '@eq': ['$.a', '$.c'] }, document)).to.equal(false);
  });

  it('treat equality as an equivalence relation on all values except null', () => {
    const property = fc.property(json, json, json, (a, b, c) => {
      const equal = (left: string, right: string): unknown =>
        evaluate({ '@eq': [`$.${left}`, `$.${right}`] }, { a, b, c });
      expect(equal('a', 'a')).to.equal(a !== null);
      expect(equal('a', 'b')).to.equal(equal('b', 'a'));
      if (equal('a', 'b') === true && equal('b', 'c') === true) {
        expect(equal('a', 'c')).to.equal(true);
      }
      const copy = JSON.parse(JSON.stringify(a)) as unknown;
      expect(evaluate({ '@eq': ['$.a', '$.copy'] }, { a, copy })).to.equal(a !== null);
    });
    fc.assert(property, { numRuns: tries(200) });
  });

  it('refuse a null literal in @eq and @ne when they are loaded', () => {
    expect(problemsOf({ '@eq': ['$.a', null] })).to.deep.equal([
      '["@eq"][1]: @eq: comparison with null has a constant result; use @isnil (@isnil)',
    ]);
    expect(problemsOf({ '@ne': [null, '$.a'] })[0]).to.match(
      /^\["@ne"\]\[0\]: @ne: comparison with null/,
    );
  });

  for (const [lower, higher] of [
    [1, 2],
    [-0.5, 0],
    ['9', '10'],
    [9, '10'],
    ['a', 'b'],
    ['2026-01-31T23:59:59Z', '2026-02-01T00:00:00Z'],
    ['18446744073709551614', '18446744073709551615'],
    ['-18446744073709551615', 3],
  ]) {
    it(`${JSON.stringify(lower)} is less than ${JSON.stringify(higher)}`, () => {
      const answers = ['@lt', '@lte', '@gt', '@gte'].map((name) =>
        evaluate({ [name]: ['$.lower', '$.higher'] }, { lower, higher }),
      );
      expect(answers).to.deep.equal([true, true, false, false]);
    });
  }

  it('treat equal values as less than or equal and greater than or equal, but not as less or greater', () => {
    for (const [one, other] of [
      [1, 1],
      ['1.0', 1],
      ['a', 'a'],
    ]) {
      const answers = ['@lt', '@lte', '@gt', '@gte'].map((name) =>
        evaluate({ [name]: ['$.one', '$.other'] }, { one, other }),
      );
      expect(answers).to.deep.equal([false, true, false, true]);
    }
  });

  it('agree on the order of numbers and strings: the result of @min is @lte each value', () => {
    const value = fc.oneof(fc.integer(), fc.double({ noNaN: true }).map(String), fc.string());
    const property = fc.property(fc.array(value, { minLength: 2, maxLength: 6 }), (values) => {
      const lowest = (list: readonly unknown[]): unknown => {
        try {
          return evaluate({ '@min': '$.list' }, { list });
        } catch {
          return 'no order';
        }
      };
      const found = lowest(values);
      if (found === 'no order') return;
      for (const other of values) {
        expect(evaluate({ '@lte': ['$.found', '$.other'] }, { found, other })).to.equal(true);
      }
    });
    fc.assert(property, { numRuns: tries(200) });
  });

  it('fail for values that have no order, and name both values', () => {
    const document = { a: null, b: true, c: 'x', d: 1, e: [1] };
    for (const pair of [
      ['$.a', '$.d'],
      ['$.b', '$.d'],
      ['$.c', '$.d'],
      ['$.e', '$.e'],
    ]) {
      expect(dataErrorOf({ '@lt': pair }, document).operation).to.equal('@lt');
    }
    expect(dataErrorOf({ '@gte': ['$.c', '$.d'] }, document).message).to.equal(
      '@gte: want two numbers or two strings, got ["x",1]',
    );
  });

  it('refuse literals that have no order when they are loaded', () => {
    expect(problemsOf({ '@lt': [true, '$.a'] })).to.deep.equal([
      '["@lt"][0]: @lt: want a number or a string, got true',
    ]);
    expect(problemsOf({ '@lt': ['x', 1] })).to.deep.equal([
      '["@lt"]: @lt: want two numbers or two strings, got ["x",1]',
    ]);
  });

  it('accept an expression that evaluates to a list of both operands', () => {
    expect(evaluate({ '@eq': '$.pair' }, { pair: [1, 1] })).to.equal(true);
    expect(dataErrorOf({ '@eq': '$.pair' }, { pair: [1] }).message).to.equal(
      '@eq: want a list of 2, got [1]',
    );
    expect(dataErrorOf({ '@eq': '$.pair' }, { pair: 1 }).message).to.equal(
      '@eq: want a list, got 1',
    );
  });
});
