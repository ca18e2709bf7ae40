import { expect } from 'chai';
import { stageLines } from '../../../lib/declarative/graph/drawing.js';

describe('stageLines', () => {
  for (const [what, name, argument, lines] of [
    ['a condition', '@select', { '@gt': ['$.a', 1] }, ['@gt($.a, 1)']],
    ['an equality', '@select', { '@eq': ['$.a', { b: [null, 'c'] }] }, ['$.a = {b: [null, c]}']],
    [
      'one line per condition of @and',
      '@join',
      { '@and': [{ '@eq': ['$.A.x', '$.B.x'] }, { '@and': [true, { '@not': '$.A.off' }] }] },
      ['$.A.x = $.B.x', '@not($.A.off)'],
    ],
    ['no condition for one that is always true', '@join', true, []],
    ['false for a condition that is never true', '@select', false, ['false']],
    ['the projected members', '@project', { metadata: {}, '$.a.b': 1 }, ['metadata, $.a.b']],
    [
      'the members of each map of a projection',
      '@project',
      [{ '$.': '$' }, { a: 1, b: 1 }, { c: 2 }],
      ['$.', 'a, b', 'c'],
    ],
    ['the operator that gives a map', '@project', { '@merge': ['$.a'] }, ['@merge($.a)']],
    ['the path of the list', '@unwind', '$.spec.ports', ['$.spec.ports']],
    ['key and path of @gather', '@mux', ['$.id', '$.port'], ['by $.id', '$.port']],
  ] as const) {
    it(`shows ${what}: ${JSON.stringify(argument)}`, () => {
      expect(stageLines({ name, argument })).to.deep.equal([name, ...lines]);
    });
  }

  it('shows at most five lines, and cuts out the middle of a long line', () => {
    const long = { '@eq': [`$.${'a'.repeat(100)}`, '$.b'] };
    const lines = stageLines({ name: '@select', argument: { '@and': Array(5).fill(long) } });
    expect(lines).to.have.length(5);
    expect(lines.at(-1)).to.equal('…');
    expect(lines[1])
      .to.have.length(72)
      .and.match(/^\$\.a+ … a+ = \$\.b$/);
  });
});
