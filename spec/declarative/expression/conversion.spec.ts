import { expect } from 'chai';
import { dataErrorOf, evaluate, problemsOf } from './evaluate.js';

const document = { t: 'true', n: 12, f: 1.5, s: '12', list: [[1], 2], map: { a: 1 }, none: null };

describe('Conversion operators', () => {
  for (const [source, result] of [
    [{ '@bool': '$.t' }, true],
    [{ '@bool': { '@eq': [1, 2] } }, false],
    [{ '@int': '$.s' }, 12],
    [{ '@int': 3.0 }, 3],
    [{ '@int': '1e3' }, 1000],
    [{ '@float': '$.f' }, 1.5],
    [{ '@float': '$.s' }, 12],
    [{ '@string': '$.n' }, '12'],
    [{ '@string': '$.f' }, '1.5'],
    [{ '@string': { '@bool': true } }, 'true'],
    [{ '@string': '$.t' }, 'true'],
    [{ '@list': '$.list' }, [[1], 2]],
    [{ '@list': [[1, 2], ['$.n']] }, [[1, 2], [12]]],
    [{ '@dict': '$.map' }, { a: 1 }],
    [{ '@dict': { '$.x.y': '$.n' } }, { x: { y: 12 } }],
  ] as const) {
    it(`evaluate ${JSON.stringify(source)} to ${JSON.stringify(result)}`, () => {
      expect(evaluate(source, document)).to.deep.equal(result);
    });
  }

  const integer = 'want a whole number up to 9007199254740991';
  for (const [source, message] of [
    [{ '@bool': '$.n' }, '@bool: want true, false, or one of them as a string, got 12'],
    [{ '@bool': '$.none' }, '@bool: want true, false, or one of them as a string, got null'],
    [{ '@int': '$.f' }, `@int: ${integer}, got 1.5`],
    [{ '@int': { '@concat': ['9007199254740993'] } }, `@int: ${integer}, got "9007199254740993"`],
    [{ '@float': '$.t' }, '@float: want a number, got "true"'],
    [{ '@string': '$.map' }, '@string: want a string, a number or a boolean, got {"a":1}'],
    [{ '@list': '$.map' }, '@list: want a list, got {"a":1}'],
    [{ '@dict': '$.list' }, '@dict: want a map, got [[1],2]'],
  ] as const) {
    it(`fail on ${JSON.stringify(source)}`, () => {
      const known = problemsOf(source);
      const found = known.length > 0 ? known[0]!.replace(/^\S+: /, '') : undefined;
      expect(found ?? dataErrorOf(source, document).message).to.equal(message);
    });
  }

  it('refuse invalid literals when they are loaded', () => {
    expect(
      [{ '@bool': 'yes' }, { '@int': 'x' }, { '@list': 1 }, { '@dict': [1] }].flatMap(problemsOf),
    ).to.deep.equal([
      '["@bool"]: @bool: want true, false, or one of them as a string, got "yes"',
      `["@int"]: @int: ${integer}, got "x"`,
      '["@list"]: @list: want a list, got 1',
      '["@dict"]: @dict: want a map, got [1]',
    ]);
  });
});
