import { expect } from 'chai';
import fc from 'fast-check';
import { tries } from '../../sample.js';
import { dataErrorOf, evaluate, problemsOf } from './evaluate.js';

const document = { a: 7, b: 2, zero: 0, text: '3', none: null, list: [1, 2.5, '3'], huge: 1e308 };

describe('Arithmetic operators', () => {
  for (const [source, result] of [
    [{ '@add': ['$.a', '$.b', 1] }, 10],
    [{ '@add': '$.list' }, 6.5],
    [{ '@add': [] }, 0],
    [{ '@add': ['$.a'] }, 7],
    [{ '@sum': ['$.list'] }, 6.5],
    [{ '@sub': ['$.a', '$.b'] }, 5],
    [{ '@mul': ['$.a', '$.text'] }, 21],
    [{ '@mul': [] }, 1],
    [{ '@div': ['$.a', '$.b'] }, 3.5],
    [{ '@div': [4, '$.b'] }, 2],
    [{ '@mod': ['$.a', '$.b'] }, 1],
    [{ '@mod': [-7, '$.b'] }, -1],
    [{ '@mod': [5.5, '$.b'] }, 1.5],
    [{ '@abs': { '@sub': ['$.b', '$.a'] } }, 5],
    [{ '@abs': ['$.a'] }, 7],
    [{ '@ceil': { '@div': ['$.a', '$.b'] } }, 4],
    [{ '@floor': { '@div': ['$.a', '$.b'] } }, 3],
    [{ '@floor': '-2.1' }, -3],
  ] as const) {
    it(`evaluate ${JSON.stringify(source)} to ${result}`, () => {
      expect(evaluate(source, document)).to.equal(result);
    });
  }

  it('give 0, never -0', () => {
    const results = [
      { '@mul': ['$.zero', -1] },
      { '@ceil': { '@div': [-1, '$.b'] } },
      { '@mod': [-4, '$.b'] },
      { '@div': ['$.zero', -1] },
      { '@float': '-0' },
      { '@int': '-0' },
    ].map((source) => Object.is(evaluate(source, document), 0));
    expect(results).to.deep.equal([true, true, true, true, true, true]);
  });

  for (const [source, message] of [
    [{ '@div': ['$.a', '$.zero'] }, '@div: division by zero'],
    [{ '@mod': ['$.a', '$.zero'] }, '@mod: division by zero'],
    [{ '@add': ['$.a', '$.none'] }, '@add: want a number, got null'],
    [{ '@sub': ['$.a', '$.list'] }, '@sub: want a number, got [1,2.5,"3"]'],
    [{ '@mul': ['$.huge', 10] }, '@mul: the result is not a finite number, got [1e+308,10]'],
    [{ '@abs': '$.missing' }, '@abs: want a number, got null'],
  ] as const) {
    it(`fail on ${JSON.stringify(source)}`, () => {
      expect(dataErrorOf(source, document).message).to.equal(message);
    });
  }

  it('accept only strings that are number literals', () => {
    const texts = [
      '1',
      '-1.5',
      '+2',
      '.5',
      '1.',
      '1e3',
      '',
      ' 1',
      '0x10',
      'NaN',
      'Infinity',
      '1e999',
    ];
    const numbers = texts.map((text) => {
      try {
        return evaluate({ '@float': '$.text' }, { text });
      } catch {
        return 'none';
      }
    });
    expect(numbers).to.deep.equal([1, -1.5, 2, 0.5, 1, 1000, ...Array<string>(6).fill('none')]);
  });

  it('evaluate constants when an expression is loaded, and refuse constants that fail', () => {
    expect(problemsOf({ x: { '@div': [1, { '@sub': [1, 1] }] } })).to.deep.equal([
      'x["@div"]: @div: division by zero',
    ]);
    expect(problemsOf({ '@add': ['x', '$.a', true] })).to.deep.equal([
      '["@add"][0]: @add: want a number, got "x"',
      '["@add"][2]: @add: want a number, got true',
    ]);
  });

  it('give the same results as JavaScript', () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e100, max: 1e100 });
    const property = fc.property(finite, finite, (a, b) => {
      expect(evaluate({ '@add': ['$.a', '$.b'] }, { a, b })).to.equal(a + b + 0);
      expect(evaluate({ '@sub': ['$.a', '$.b'] }, { a, b })).to.equal(a - b + 0);
      expect(evaluate({ '@mul': ['$.a', '$.b'] }, { a, b })).to.equal(a * b + 0);
    });
    fc.assert(property, { numRuns: tries(100) });
  });
});
