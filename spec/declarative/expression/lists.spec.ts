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

describe('Lists and maps', () => {
  for (const [title, source, result] of [
    ['@map: the item is $$', { '@map': ['$$', '$.nested'] }, document.nested],
    ['@map: $$. is the item, too', { '@map': [{ '@add': ['$$.', 10] }, [1, 2]] }, [11, 12]],
    ['@map makes maps', { '@map': [{ port: '$$' }, [80]] }, [{ port: 80 }]],
    ['@map: what is missing is null', { '@map': ['$$.name', '$.pods'] }, ['a', 'b', null]],
    ['@map: $ stays the document', { '@map': ['$.namespace', [1, 2]] }, ['web', 'web']],
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
    ['@any looks no further', { '@any': [{ '@gt': ['$$', 0] }, [1, 'x']] }, true],
    ['@any of nothing', { '@any': [true, '$.empty'] }, false],
    ['@all', { '@all': [{ '@gt': ['$$', 0] }, '$.numbers'] }, true],
    ['@all, but one', { '@all': [{ '@gt': ['$$', 1] }, '$.numbers'] }, false],
    ['@all of nothing', { '@all': [false, '$.empty'] }, true],
    ['@none', { '@none': [{ '@gt': ['$$', 9] }, '$.numbers'] }, true],
    ['@none, but one', { '@none': [{ '@gt': ['$$', 4] }, '$.numbers'] }, false],
    ['@in, deep', { '@in': [[3], '$.nested'] }, true],
    ['@in, not there', { '@in': ['1', '$.numbers'] }, false],
    ['@in: null', { '@in': ['$.missing', [1, null]] }, true],
    ['@contains in a list', { '@contains': ['$.numbers', 3] }, true],
    ['@contains in a string', { '@contains': ['$.text', 'end'] }, true],
    ['@contains, not there', { '@contains': ['$.text', 'END'] }, false],
    ['@len of a getter', { '@len': '$.numbers' }, 5],
    ['@len of a getter in a list', { '@len': ['$.numbers'] }, 5],
    ['@len of what is written out', { '@len': [1, '$.text', null] }, 3],
    ['@len of one item', { '@len': ['$.text'] }, 1],
    ['@len of nothing', { '@len': [] }, 0],
    ['@first', { '@first': '$.numbers' }, 1],
    ['@first of nothing', { '@first': '$.empty' }, null],
    ['@last', { '@last': '$.nested' }, [3]],
    ['@last of nothing', { '@last': [] }, null],
    ['@min', { '@min': ['$.numbers'] }, 1],
    ['@min of strings', { '@min': ['b', '$.text'] }, 'b'],
    ['@max', { '@max': [3, '$.numbers[4]'] }, 5],
    ['@max of strings that are numbers', { '@max': ['9', '10'] }, '10'],
    ['@max of nothing', { '@max': '$.empty' }, null],
    ['@keys', { '@keys': '$.map' }, ['a', 'b', 'constructor']],
    ['@values', { '@values': '$.map' }, [{ x: 2 }, 1, 3]],
    ['@range', { '@range': { '@len': '$.nested' } }, [1, 2]],
    ['@range of 0', { '@range': 0 }, []],
    ['@range of one number in a list', { '@range': ['$.numbers[1]'] }, [1, 2]],
    ['@range from one number up to another', { '@range': [3, '$.numbers[4]'] }, [3, 4]],
    ['@range from below 0', { '@range': [-1, 1] }, [-1, 0]],
    ['@range between equal numbers', { '@range': [5, 5] }, []],
    ['@range to a lower number', { '@range': [10, 5] }, []],
    ['@set in one of a list', { '@set': ['$.numbers', '$[1]', 9] }, [1, 9, 3, 4, 5]],
    [
      '@set by a filter, a value of the document',
      { '@set': ['$.pods', "$[?(@.name == 'b')].namespace", '$.namespace'] },
      [document.pods[0], { name: 'b', namespace: 'web' }, 12],
    ],
    [
      '@set in each element',
      { '@map': [{ '@set': ['$$', '$[0]', { '@len': '$$' }] }, '$.nested'] },
      [[2, 2], [1]],
    ],
    ['@set where nothing is', { '@set': ['$.missing', '$.a.b', 1] }, { a: { b: 1 } }],
    [
      '@set: a filter selects within the value',
      { '@set': ['$.map', '$[?(@ == $.b)]', 0] },
      { b: 0, a: { x: 2 }, constructor: 3 },
    ],
  ] as const) {
    it(title, () => expect(evaluate(source, document)).to.deep.equal(result));
  }

  for (const [source, message] of [
    [{ '@map': ['$$', '$.text'] }, '@map: wants a list, got "frontend"'],
    [{ '@filter': ['$$', '$.missing'] }, '@filter: wants a list, got null'],
    [{ '@filter': ['$$', '$.numbers'] }, '@filter: wants true or false, got 1'],
    [{ '@in': [1, '$.map.b'] }, '@in: wants a list, got 1'],
    [{ '@contains': ['$.text', '$.map.b'] }, '@contains: wants a string, got 1'],
    [{ '@contains': ['$.map.b', 1] }, '@contains: wants a list or a string, got 1'],
    [{ '@len': '$.text' }, '@len: wants a list, got "frontend"'],
    [{ '@min': '$.nested' }, '@min: wants a number or a string, got [1,2]'],
    [{ '@keys': '$.numbers' }, '@keys: wants a map, got [1,2,3,4,5]'],
    [{ '@values': '$.missing' }, '@values: wants a map, got null'],
    [
      { '@range': { '@mul': ['$.numbers[4]', 100_000] } },
      '@range: wants a whole number from 0 to 65536, got 500000',
    ],
    [
      { '@range': [0, { '@mul': ['$.numbers[4]', 100_000] }] },
      '@range: gives 65536 numbers at most, got [0,500000]',
    ],
    [{ '@set': ['$.text', '$.a', 1] }, '@set: wants a map to set "a" in, got "frontend"'],
  ] as const) {
    it(`${JSON.stringify(source)} is an error`, () => {
      expect(dataErrorOf(source, document).message).to.equal(message);
    });
  }

  it('literals that do not fit are refused at load', () => {
    const problems = [
      { '@map': ['$$', 3] },
      { '@filter': [3, '$.a'] },
      { '@len': 3 },
      { '@keys': [1, 2] },
      { '@range': -1 },
      { '@min': [1, { a: '$.b' }] },
    ].flatMap(problemsOf);
    expect(problems).to.deep.equal([
      '["@map"][1]: @map: wants a list, got 3',
      '["@filter"][0]: @filter: wants true or false, got 3',
      '["@len"]: @len: wants a list, got 3',
      '["@keys"]: @keys wants 1 operand, not 2',
      '["@range"]: @range: wants a whole number from 0 to 65536, got -1',
      '["@min"][1]: @min: wants a number or a string, not a map',
    ]);
  });

  it('$$ is refused where there is no element, in the list of a list operator, too', () => {
    expect(problemsOf({ '@len': '$$.a' })).to.deep.equal([
      '["@len"]: $$.a: there is an element, $$, only in @map, @filter, @any, @all and @none ($.a)',
    ]);
    expect(problemsOf({ '@map': ['$$', '$$.a'] })).to.have.lengthOf(1);
    expect(problemsOf({ '@map': [{ '@map': ['$$', '$$.a'] }, '$.a'] })).to.deep.equal([]);
  });
});
