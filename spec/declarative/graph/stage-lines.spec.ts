import { expect } from 'chai';
import { stageLines } from '../../../lib/declarative/graph/stage-lines.js';

describe('What a drawing says of a stage', () => {
  for (const [what, name, argument, lines] of [
    ['a condition', '@select', { '@gt': ['$.a', 1] }, ['@gt($.a, 1)']],
    ['an equality', '@select', { '@eq': ['$.a', { b: [null, 'c'] }] }, ['$.a = {b: [null, c]}']],
    [
      'the conditions of @and, each on its line',
      '@join',
      { '@and': [{ '@eq': ['$.A.x', '$.B.x'] }, { '@and': [true, { '@not': '$.A.off' }] }] },
      ['$.A.x = $.B.x', '@not($.A.off)'],
    ],
    ['nothing of one that always holds', '@join', true, []],
    ['that nothing is selected', '@select', false, ['false']],
    ['which members it projects', '@project', { metadata: {}, '$.a.b': 1 }, ['metadata, $.a.b']],
    [
      'those of each map',
      '@project',
      [{ '$.': '$' }, { a: 1, b: 1 }, { c: 2 }],
      ['$.', 'a, b', 'c'],
    ],
    ['an operator for a map', '@project', { '@merge': ['$.a'] }, ['@merge($.a)']],
    ['the path of lists', '@unwind', '$.spec.ports', ['$.spec.ports']],
    ['key and path of a gathering', '@mux', ['$.id', '$.port'], ['by $.id', '$.port']],
  ] as const) {
    it(`${what}: ${JSON.stringify(argument)}`, () => {
      expect(stageLines({ name, argument })).to.deep.equal([name, ...lines]);
    });
  }

  it('has five lines at most, and trims a long one in the middle', () => {
    const long = { '@eq': [`$.${'a'.repeat(100)}`, '$.b'] };
    const lines = stageLines({ name: '@select', argument: { '@and': Array(5).fill(long) } });
    expect(lines).to.have.length(5);
    expect(lines.at(-1)).to.equal('…');
    expect(lines[1])
      .to.have.length(72)
      .and.match(/^\$\.a+ … a+ = \$\.b$/);
  });
});
