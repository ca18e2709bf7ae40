import { expect } from 'chai';
import { dataErrorOf, evaluate, problemsOf } from './evaluate.js';

const document = {
  namespace: 'web',
  numbers: [1, 2, 3, 4, 5],
  nested: [[1, 2], [3]],
  pods: [{ name: 'a', namespace: 'web', ready: true }, { name: 'b' }, 12],
  map: { b: 1, a: { x: 2 }, constructor: 3 },
  text: 'frontend',
  empty: [],
};

describe('Operators on lists and maps', () => {
  for (const [title, source, result] of [
    ['@map: the item is $$', { '@map': ['$$', '$.nested'] }, document.nested],
    ['@map: $$. is the item as well', { '@map': [{ '@add': ['$$.', 10] }, [1, 2]] }, [11, 12]],
    ['@map builds maps', { '@map': [{ port: '$$' }, [80]] }, [{ port: 80 }]],
    ['@map: a missing value is null', { '@map': ['$$.name', '$.pods'] }, ['a', 'b', null]],
    ['@map: $ remains the document', { '@map': ['$.namespace', [1, 2]] }, ['web', 'web']],
    [
      '@map in @map: $$ is the nearest',
      { '@map': [{ '@map': [{ '@mul': ['$$', 2] }, '$$'] }, '$.nested'] },
      [[2, 4], [6]],
    ],
    [
      '@filter by the document',
      { '@filter': [{ '@eq': ['$.namespace', '$$.namespace'] }, '$.pods'] },
      [document.pods[0]],
    ],
    [
      '@filter of a list in an operator',
      { '@len': { '@filter': [{ '@gt': ['$$', 3] }, '$.numbers'] } },
      2,
    ],
    ['@any', { '@any': [{ '@gt': ['$$', 4] }, '$.numbers'] }, true],
    ['@any stops at the first match', { '@any': [{ '@gt': ['$$', 0] }, [1, 'x']] }, true],
    ['@any of an empty list', { '@any': [true, '$.empty'] }, false],
    ['@all', { '@all': [{ '@gt': ['$$', 0] }, '$.numbers'] }, true],
    ['@all with one exception', { '@all': [{ '@gt': ['$$', 1] }, '$.numbers'] }, false],
    ['@all of an empty list', { '@all': [false, '$.empty'] }, true],
    ['@none', { '@none': [{ '@gt': ['$$', 9] }, '$.numbers'] }, true],
    ['@none with one exception', { '@none': [{ '@gt': ['$$', 4] }, '$.numbers'] }, false],
    ['@in compares deeply', { '@in': [[3], '$.nested'] }, true],
    ['@in without a match', { '@in': ['1', '$.numbers'] }, false],
    ['@in matches null', { '@in': ['$.missing', [1, null]] }, true],
    ['@contains in a list', { '@contains': ['$.numbers', 3] }, true],
    ['@contains in a string', { '@contains': ['$.text', 'end'] }, true],
    ['@contains without a match', { '@contains': ['$.text', 'END'] }, false],
    ['@len of a getter', { '@len': '$.numbers' }, 5],
    ['@len of a getter in a list', { '@len': ['$.numbers'] }, 5],
    ['@len of literals', { '@len': [1, '$.text', null] }, 3],
    ['@len of one item', { '@len': ['$.text'] }, 1],
    ['@len of an empty list', { '@len': [] }, 0],
    ['@first', { '@first': '$.numbers' }, 1],
    ['@first of an empty list', { '@first': '$.empty' }, null],
    ['@last', { '@last': '$.nested' }, [3]],
    ['@last of an empty list', { '@last': [] }, null],
    ['@min', { '@min': ['$.numbers'] }, 1],
    ['@min of strings', { '@min': ['b', '$.text'] }, 'b'],
    ['@max', { '@max': [3, '$.numbers[4]'] }, 5],
    ['@max of numeric strings', { '@max': ['9', '10'] }, '10'],
    ['@max of an empty list', { '@max': '$.empty' }, null],
    ['@keys', { '@keys': '$.map' }, ['a', 'b', 'constructor']],
    ['@values', { '@values': '$.map' }, [{ x: 2 }, 1, 3]],
    ['@range', { '@range': { '@len': '$.nested' } }, [1, 2]],
    ['@range of 0', { '@range': 0 }, []],
    ['@len of the longest @range', { '@len': { '@range': 65_536 } }, 65_536],
    ['@range of one number in a list', { '@range': ['$.numbers[1]'] }, [1, 2]],
    ['@range from one number up to another', { '@range': [3, '$.numbers[4]'] }, [3, 4]],
    ['@range from below 0', { '@range': [-1, 1] }, [-1, 0]],
    ['@range between equal numbers', { '@range': [5, 5] }, []],
    ['@range to a lower number', { '@range': [10, 5] }, []],
    ['@set at one index of a list', { '@set': ['$.numbers', '$[1]', 9] }, [1, 9, 3, 4, 5]],
    [
      '@set by a filter, with a value of the document',
      { '@set': ['$.pods', "$[?(@.name == 'b')].namespace", '$.namespace'] },
      [document.pods[0], { name: 'b', namespace: 'web' }, 12],
    ],
    [
      '@set in each element',
      { '@map': [{ '@set': ['$$', '$[0]', { '@len': '$$' }] }, '$.nested'] },
      [[2, 2], [1]],
    ],
    ['@set in a missing value', { '@set': ['$.missing', '$.a.b', 1] }, { a: { b: 1 } }],
    [
      '@set: a filter selects within the value',
      { '@set': ['$.map', '$[?(@ == $.b)]', 0] },
      { b: 0, a: { x: 2 }, constructor: 3 },
    ],
  ] as const) {
    it(title, () => expect(evaluate(source, document)).to.deep.equal(result));
  }

  for (const [source, message] of [
    [{ '@map': ['$$', '$.text'] }, '@map: want a list, got "frontend"'],
    [{ '@filter': ['$$', '$.missing'] }, '@filter: want a list, got null'],
    [{ '@filter': ['$$', '$.numbers'] }, '@filter: want true or false, got 1'],
    [{ '@in': [1, '$.map.b'] }, '@in: want a list, got 1'],
    [{ '@contains': ['$.text', '$.map.b'] }, '@contains: want a string, got 1'],
    [{ '@contains': ['$.map.b', 1] }, '@contains: want a list or a string, got 1'],
    [{ '@len': '$.text' }, '@len: want a list, got "frontend"'],
    [{ '@min': '$.nested' }, '@min: want a number or a string, got [1,2]'],
    [{ '@keys': '$.numbers' }, '@keys: want a map, got [1,2,3,4,5]'],
    [{ '@values': '$.missing' }, '@values: want a map, got null'],
    [
      { '@range': { '@mul': ['$.numbers[4]', 100_000] } },
      '@range: want a whole number from 0 to 65536, got 500000',
    ],
    [
      { '@range': [0, { '@mul': ['$.numbers[4]', 100_000] }] },
      '@range: gives 65536 numbers at most, got [0,500000]',
    ],
    [{ '@set': ['$.text', '$.a', 1] }, '@set: want a map to set "a" in, got "frontend"'],
  ] as const) {
    it(`fail on ${JSON.stringify(source)}`, () => {
      expect(dataErrorOf(source, document).message).to.equal(message);
    });
  }

  it('refuse invalid literals when they are loaded', () => {
    const problems = [
      { '@map': ['$$', 3] },
      { '@filter': [3, '$.a'] },
      { '@len': 3 },
      { '@keys': [1, 2] },
      { '@range': -1 },
      { '@min': [1, { a: '$.b' }] },
      { '@set': '$.a' },
      { '@set': ['$.a', '$.b'] },
      { '@set': ['$.a', 7, 1] },
      { '@set': ['$.a', 'b', 1] },
      { '@set': ['$.a', '$$.b', 1] },
      { '@set': ['$.a', '$..b', 1] },
      { '@set': ['$.a', '$.b[', 1] },
      { '@set': [{ '@len': 3 }, '$.b', { '@eq': [1] }] },
    ].flatMap(problemsOf);
    expect(problems).to.deep.equal([
      '["@map"][1]: @map: want a list, got 3',
      '["@filter"][0]: @filter: want true or false, got 3',
      '["@len"]: @len: want a list, got 3',
      '["@keys"]: @keys: want 1 operand, got 2',
      '["@range"]: @range: want a whole number from 0 to 65536, got -1',
      '["@min"][1]: @min: want a number or a string, got a map',
      '["@set"]: @set: want 3 operands, got 1',
      '["@set"]: @set: want 3 operands, got 2',
      '["@set"][1]: @set: want a JSONPath within the value, for example "$.port"',
      '["@set"][1]: @set: want a JSONPath within the value, for example "$.port"',
      '["@set"][1]: invalid setter "$$.b": within the value it begins with $',
      '["@set"][1]: invalid setter "$..b": .. cannot be used to set a value',
      `["@set"][1]: invalid JSONPath "$.b[": character 5: want 'a name', an index, *, a slice or ?filter`,
      '["@set"][0]["@len"]: @len: want a list, got 3',
      '["@set"][2]["@eq"]: @eq: want 2 operands, got 1',
    ]);
  });

  it('refuse $$ outside an element expression, even in the list operand of a list operator', () => {
    expect(problemsOf({ '@len': '$$.a' })).to.deep.equal([
      '["@len"]: $$.a: $$ is available only in @map, @filter, @any, @all and @none ($.a)',
    ]);
    expect(problemsOf({ '@map': ['$$', '$$.a'] })).to.have.lengthOf(1);
    expect(problemsOf({ '@map': [{ '@map': ['$$', '$$.a'] }, '$.a'] })).to.deep.equal([]);
  });
});
